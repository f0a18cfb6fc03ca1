# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the module mirror_failover_info does with its options."""

from __future__ import annotations

import contextlib
import time
from dataclasses import asdict
from typing import Any

from .._client.connection import Connection
from .._client.session import Session
from .._mirror.look import at
from .._mirror.reading import flow_of
from .look import look_at
from .plan import lines, offsets_there, plan_of


def mirror_failover_info(module: Any) -> dict[str, Any]:
    """Look at both clusters and judge what a failover would cost; the module's result."""
    params = module.params
    flow = flow_of(params)
    here, there = f"source {flow.source}", f"target {flow.target}"
    with at(here):
        source = Connection.from_params(params["source_connection"])
    with at(there):
        target = Connection.from_params(params)
    with contextlib.ExitStack() as opened:
        with at(here):
            origin = opened.enter_context(Session(source))
        with at(there):
            copy = opened.enter_context(Session(target))
        look = look_at(flow, origin, copy, params["watch_seconds"], params["confirm_seconds"], time.sleep)
    plan = plan_of(flow, look)
    return {
        "changed": False,
        **asdict(plan),
        "to_copy": plan.to_copy,
        "offsets_there": offsets_there(flow, plan),
        "lines": lines(plan),
    }

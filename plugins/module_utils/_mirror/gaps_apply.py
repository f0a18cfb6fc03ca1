# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the module mirror_gaps does with its options."""

from __future__ import annotations

import contextlib
import time
from typing import Any

from .._client.connection import Connection
from .._client.session import Session
from .._state.api import write_state
from . import gaps
from .flows import Flow
from .gaps_look import keep, kept, looked, refuse_one_cluster, state_key
from .look import at
from .reading import flow_of

FORGOTTEN = "forgotten"


def mirror_gaps(module: Any) -> dict[str, Any]:
    """Look at a flow once, or forget its gaps; the module's result."""
    params = module.params
    flow = flow_of(params)
    here, there = f"source {flow.source}", f"target {flow.target}"
    with at(here):
        source = Connection.from_params(params["source_connection"])
    with at(there):
        target = Connection.from_params(params)
    with contextlib.ExitStack() as opened:
        with at(there):
            copy = opened.enter_context(Session(target))
        before = kept(flow, copy)
        if params["state"] == FORGOTTEN:
            return _forget(flow, copy, before, module.check_mode)
        with at(here):
            origin = opened.enter_context(Session(source))
        refuse_one_cluster(flow, origin, copy)
        known = looked(flow, origin, copy, before, params["confirm_seconds"], time.sleep)
        if not module.check_mode:
            keep(flow, copy, known, before)
        return {"changed": False, "flow": flow.pair, **_told(known), "since_look": bool(before.ids)}


def _forget(flow: Flow, copy: Session, before: gaps.Marks, is_check: bool) -> dict[str, Any]:
    """Say nothing more of the gaps that are known."""
    is_changed = bool(gaps.told(before))
    known = gaps.forgotten(before)
    if is_changed and not is_check:
        with at(f"target {flow.target}"):
            write_state(copy, state_key(flow), known.as_data())
    forgotten = [gap.line for gap in gaps.told(before)]
    return {"changed": is_changed, "flow": flow.pair, "forgotten": forgotten, **_told(known)}


def _told(known: gaps.Marks) -> dict[str, Any]:
    """The gaps as the module returns them."""
    told = gaps.told(known)
    return {
        "gaps": [gap.as_dict() for gap in told],
        "lines": [gap.line for gap in told],
        "records": sum(gap.records for gap in told if gap.certain),
    }

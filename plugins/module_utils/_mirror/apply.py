# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the module mirror_status does with its options."""

from __future__ import annotations

import time
from typing import Any

from .._client.connection import Connection
from . import status
from .look import at, heartbeat_age, look
from .reading import flow_of


def mirror_status(module: Any) -> dict[str, Any]:
    """Look at both ends of the mirror once; the module's result."""
    params = module.params
    flow, max_lag = flow_of(params), params["max_lag"]
    with at(f"source {flow.source}"):
        source = Connection.from_params(params["source_connection"])
    with at(f"target {flow.target}"):
        target = Connection.from_params(params)
    pulse = status.Pulse.of(params)
    if params["state"] == status.ALIVE:
        age = heartbeat_age(flow, target)
        return {"changed": False, **status.life(flow, age, pulse, time.time())}
    seen = look(flow, source, target, max_lag)
    return {"changed": False, **status.judged(flow, seen, max_lag, pulse, time.time())}

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the parameters of listener_check ask, apart from those who ask without parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from .._core.addresses import host_port
from .connection import Connection
from .identity import Owner
from .listener_options import ACCESS
from .listeners import MOST_CONNECTIONS, Target


def targets(params: Mapping[str, Any]) -> list[Target]:
    """Return the listeners in the parameters of the module, each with what it takes to ask it."""
    access = Connection((), **{name: params[name] for name in ACCESS if params.get(name) is not None})
    return [
        Target(
            listener["node"],
            listener["name"],
            replace(
                access,
                bootstrap_servers=(host_port(listener["host"], listener["port"]),),
                security_protocol=listener["protocol"],
            ),
            min(max(1, listener["connections"]), MOST_CONNECTIONS),
            _owner(listener),
        )
        for listener in params["listeners"]
    ]


def _owner(listener: Mapping[str, Any]) -> Owner | None:
    """Return who must answer, where the parameters say it."""
    if listener.get("node_id") is None:
        return None
    return Owner(listener["node_id"], listener.get("cluster_id") or "", listener.get("role") == "controller")

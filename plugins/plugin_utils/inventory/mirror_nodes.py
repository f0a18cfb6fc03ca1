# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows from the mirrors of an inventory, and how they reach the clusters they stand between.

A mirror is a node like every other (see model.py), with the role mirror and one port: the internal REST of Kafka
Connect, over which the workers of one target forward the tasks of their leader to each other (KIP-710). With the legacy
engine it listens nowhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._mirror.flows import LEGACY
from ...module_utils._mirror.reading import is_enabled
from .nodes import listener_for

ROLE = "mirror"
PURPOSE = "mirror_rest"


def runs_legacy(raw: Any, cluster: str) -> bool:
    """Return whether the mirrors next to a cluster run the legacy engine; of mirror_flows that may be out of order."""
    engines = [item.get("engine") for item in _carried(raw, cluster)]
    return bool(engines) and all(engine == LEGACY for engine in engines)


def has_flow(raw: Any, cluster: str) -> bool:
    """Return whether the mirrors next to a cluster carry a flow; of mirror_flows that may be out of order."""
    return bool(_carried(raw, cluster))


def _carried(raw: Any, cluster: str) -> list[Mapping[str, Any]]:
    flows = [item for item in raw if isinstance(item, Mapping)] if isinstance(raw, (list, tuple)) else []
    return [item for item in flows if item.get("target") == cluster and is_enabled(item)]


def mirror_reach(nodes: Iterable[Mapping[str, Any]], name: str = "") -> dict[str, Any]:
    """Return how a client reaches a cluster by the listener `name` (empty: the first for clients).

    Returns {bootstrap_servers, protocol}; ValueError when the brokers have no such listener.
    """
    servers, protocols = [], set()
    for node in nodes:
        if "broker" not in node["roles"]:
            continue
        listener = _named(node, name) if name else listener_for(node, "clients")
        servers.append(listener["socket"])
        protocols.add(listener["protocol"])
    if len(protocols) != 1:
        raise ValueError(f"the brokers speak different protocols on listener {name}: {', '.join(sorted(protocols))}")
    return {"bootstrap_servers": servers, "protocol": protocols.pop()}


def _named(node: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    for listener in node["listeners"]:
        if listener["name"] == name and listener["opens"]:
            return dict(listener)
    known = ", ".join(str(listener["name"]) for listener in node["listeners"] if listener["opens"])
    raise ValueError(f"{node['host']} opens no listener {name} (mirror_listener); it opens {known}")


def rest_url(node: Mapping[str, Any]) -> str:
    """Return where a mirror listens for its peers, as Kafka Connect writes it: https://host:port."""
    port = node["listeners"][0]
    scheme = "https" if port["protocol"] == "SSL" else "http"
    return f"{scheme}://{port['socket']}"

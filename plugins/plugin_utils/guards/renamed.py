# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a machine has a node of this inventory under another name.

All paths and services of a node follow from the name of its host. Under another name it has no data and no service: it
would be installed anew beside its old data, and a cluster whose hosts were all renamed would get a new cluster id.

Pure: what node_info found beside each node comes in. What belongs to a host of the inventory on the same machine was
taken out before (preflight/host.py). What another node has left (a removed broker, another cluster) is no trace of this
one. Only before the first start of the whole cluster any data of a cluster of its name is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Trace = Mapping[str, Any]

SERVICE, DATA = "service", "data"


@dataclass(frozen=True)
class Named:
    """One node under its present name, and what others have left on its machine.

    has_data -- whether it has data under this name, or did not answer; emptied -- a playbook for single nodes said that
    its disks are empty on purpose; beside -- the traces of node_info that are of no host of the inventory there.
    """

    host: str
    machine: str
    product: str
    node_id: int | None
    has_data: bool
    emptied: bool
    beside: Sequence[Trace]


@dataclass(frozen=True)
class Renamed:
    """What a node, or another one of its cluster, has left on the machine of a host under another name.

    is_same -- whether it is the node of this host, by its id; is_sure -- whether the traces name the cluster.
    """

    host: str
    old: str
    traces: tuple[Trace, ...]
    is_same: bool
    is_sure: bool

    @property
    def kinds(self) -> set[str]:
        """The kinds of the traces."""
        return {trace["kind"] for trace in self.traces}


def renamed(nodes: Sequence[Named], cluster: str, cluster_ids: Sequence[str] = ()) -> list[Renamed]:
    """Find the nodes of one cluster that are on their machines under another name.

    cluster_ids -- those that the inventory gives, or that are on the disks of its nodes.
    """
    is_first = not any(node.has_data for node in nodes)
    found: list[Renamed] = []
    taken: set[tuple[str, str]] = set()
    for is_same in (True, False) if is_first else (True,):
        for node in nodes:
            for old, traces in _by_name(node, cluster, cluster_ids).items():
                sure = any(_is_of(trace, cluster, cluster_ids) for trace in traces)
                if (node.machine, old) not in taken and _concerns(node, traces, is_same, sure):
                    taken.add((node.machine, old))
                    found.append(Renamed(node.host, old, tuple(traces), is_same, sure))
    return found


def _by_name(node: Named, cluster: str, cluster_ids: Sequence[str]) -> dict[str, list[Trace]]:
    """The traces of each name that may be of this product and cluster.

    One that says neither, as the note of an older release, says no more than those of the same name.
    """
    by_name: dict[str, list[Trace]] = {}
    for trace in node.beside:
        by_name.setdefault(trace["name"], []).append(trace)
    return {name: traces for name, traces in by_name.items() if not _is_other(node, traces, cluster, cluster_ids)}


def _is_other(node: Named, traces: Sequence[Trace], cluster: str, cluster_ids: Sequence[str]) -> bool:
    if any(trace["product"] not in (None, node.product) for trace in traces):
        return True
    named = [trace for trace in traces if _says_cluster(trace, cluster_ids)]
    return bool(named) and not any(_is_of(trace, cluster, cluster_ids) for trace in named)


def _says_cluster(trace: Trace, cluster_ids: Sequence[str]) -> bool:
    return trace["cluster"] is not None or bool(trace["cluster_id"] and cluster_ids)


def _is_of(trace: Trace, cluster: str, cluster_ids: Sequence[str]) -> bool:
    return trace["cluster"] == cluster or trace["cluster_id"] in cluster_ids


def _concerns(node: Named, traces: Sequence[Trace], is_same: bool, is_sure: bool) -> bool:
    """Return whether these traces keep this node from being installed, as its own or as another one's of its cluster.

    A node that has its data under its present name may have a copy of it beside; a second service of the same node
    would start with the machine.
    """
    ids = {str(trace["node_id"]) for trace in traces if trace["node_id"] is not None}
    counts = [trace for trace in traces if trace["kind"] == SERVICE or not (node.has_data or node.emptied)]
    if is_same:
        return bool(counts) and str(node.node_id) in ids
    return any(trace["kind"] != SERVICE for trace in counts) and (is_sure or not ids)


def places(traces: Sequence[Trace]) -> Iterator[str]:
    """Yield what was found where, in words."""
    words = {"note": "the note {path}", SERVICE: "the service file {path}", DATA: "data in {path}"}
    return (words[trace["kind"]].format(path=trace["path"]) for trace in traces)

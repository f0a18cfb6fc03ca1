# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which nodes of a cluster may be formatted, with which cluster id, and which must not be touched, and why.

Pure: what is on the disks comes in, a plan goes out. One refusal empties the plan: a cluster half of whose nodes were
formatted "because they could be" is how formatting destroys clusters. Two empty voters out of three are a majority:
formatted anew and started, they elect each other on an empty metadata log, and the intact third, with all topics,
dies when it joins them. So an empty disk proves nothing; what all nodes together say does. And after a power loss none
of the disks may be mounted: then files elsewhere (traces) say that there has been data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._migration.modes import LEFT_ALONE, MODES
from ..inventory.nodes import formats_itself
from . import format_refusals as refusals

BROKER, CONTROLLER = "broker", "controller"

Node = Mapping[str, Any]


def format_plan(
    nodes: Sequence[Node],
    cluster_id: str = "",
    registered: Iterable[int] | None = None,
    drawn: str = "",
    replacing: str = "",
    joining: Collection[str] = (),
    voters: Iterable[int] | None = None,
) -> dict[str, Any]:
    """Decide on all nodes of one cluster at once.

    nodes -- {host, node_id, roles, disks and traces (of node_info; disks is None when the host was not asked), running,
    mode (whose data may be on the disks, as disk_mode says; a node that is left alone has no part in the plan)}.
    cluster_id -- the inventory's, "" for none. registered -- ids of the brokers registered in the running cluster,
    None when it could not be asked, empty where no quorum has ever formed, so that there was nobody to ask. drawn -- a
    fresh random id, used when nothing else gives one. replacing -- the one host whose disks were replaced on purpose,
    "" for none. joining -- hosts of controllers that shall come, and vote later. voters -- ids of those that vote now,
    None when the quorum did not answer: only its answer tells one that comes from one that lost its disk.

    Returns {cluster_id, source: inventory|disks|drawn, first_installation, format: [hosts], format_dirs: {host:
    [directories]}, initial_controllers: {host: whether it is formatted with the list of initial voters}, refusals}.
    first_installation -- no node of the cluster has ever started.
    """
    nodes = [node for node in nodes if node.get("mode") != LEFT_ALONE]
    ids = registered if registered is None else {int(one) for one in registered}
    known = voters if voters is None else {int(one) for one in voters}
    coming = dict.fromkeys(joining, known)
    first = ids is None and not any(has_started(node) for node in nodes)
    chosen, source = _cluster_id(nodes, cluster_id, drawn)
    found = [one for node in nodes for one in refusals.of_disks(node, chosen if source != "drawn" else "", source)]
    found += refusals.of_copies(nodes) + refusals.of_ids(nodes)
    by_themselves = [node for node in nodes if formats_itself(node["roles"], node.get("mode", ""))]
    found += _refused_themselves(by_themselves, ids, replacing, {one["host"] for one in found})
    if by_themselves and len(by_themselves) == len(nodes):
        return _without_formatting(nodes, found, chosen if source != "drawn" else "")
    others = [node for node in nodes if node not in by_themselves]
    formats = {node["host"]: dirs for node in others for dirs in [_to_format(node)] if dirs}
    # A migration brings the controllers to brokers that have data, all of them in its first step.
    migrates = any(node.get("mode") in MODES for node in nodes)
    begins = migrates and not any(has_started(node) for node in nodes if CONTROLLER in node["roles"])
    if formats and not chosen:
        raise ValueError("no cluster id: the inventory has none, no disk carries one, and none was drawn")
    # A disk that has something on it is refused above, for that; whether it may be formatted is no question then.
    troubled = {one["host"] for one in found}
    for node in others:
        if node["host"] in troubled:
            continue
        if node["host"] in formats:
            comes = begins and source != "drawn" and CONTROLLER in node["roles"]
            found += _refused(
                node, nodes, first=first or comes, source=source, registered=ids, replacing=replacing, coming=coming
            )
        elif _is_bare(node) and not first:
            found += _refused_bare(node, nodes, ids, replacing, coming)
    allowed = {} if found else formats
    by_host = {node["host"]: node for node in nodes}
    return {
        "cluster_id": chosen,
        "source": source,
        "first_installation": first,
        "format": list(allowed),
        "format_dirs": allowed,
        # The quorum of a migration is a static one: its voters are in the properties of each node.
        "initial_controllers": {
            host: first and not migrates and _holds_voter(by_host[host], dirs) for host, dirs in allowed.items()
        },
        "refusals": found,
    }


def _without_formatting(nodes: Sequence[Node], found: list[dict[str, Any]], cluster_id: str) -> dict[str, Any]:
    """Return the plan in mode zookeeper, whose brokers format their directories themselves: it only refuses."""
    return {
        "cluster_id": cluster_id,
        "source": "disks" if cluster_id else "zookeeper",
        "first_installation": not any(has_started(node) for node in nodes),
        "format": [],
        "format_dirs": {},
        "initial_controllers": {},
        "refusals": found,
    }


def _refused_themselves(
    nodes: Sequence[Node], registered: set[int] | None, replacing: str, troubled: Collection[str]
) -> list[dict[str, Any]]:
    """Return why brokers are not started that format their directories themselves; troubled -- hosts refused before.

    A broker that others know, and that has no data any more, is not started by accident: with all of its partitions
    empty it could become the leader of those that have no other copy left. So where a broker has data, only the cluster
    can say that one without is new. While no broker has any data, nor a trace of some, the cluster never came up, and
    one whose first start fails is started again and again.
    """
    found: list[dict[str, Any]] = []
    empty = {node["host"]: dirs for node in nodes for dirs in [_to_format(node)] if dirs}
    begun = any(disk["meta_properties"] for node in nodes for disk in node["disks"] or [])
    # More than what a broker writes that dies in its first start.
    has_data = any(disk["meta_properties"] and disk["started"] for node in nodes for disk in node["disks"] or [])
    for node in nodes:
        lacks = node["host"] in empty or _is_bare(node)
        if not lacks or node["host"] in troubled or node["host"] == replacing:
            continue
        partly = any(disk["meta_properties"] for disk in node["disks"])
        if node["running"] and begun:
            found.append(refusals.running(node))
        elif partly and has_started(node):
            found.append(refusals.new_disk(node, empty[node["host"]]))
        elif registered:
            found += [refusals.registered(node)] if int(node["node_id"]) in registered else []
        elif node.get("traces"):
            found.append(refusals.unknown_registration(node) if begun else refusals.vanished(node, _paths(node)))
        elif has_data and registered is None and node["host"] in empty:
            found.append(refusals.unknown_registration(node))
    return found


def has_started(node: Node) -> bool:
    """Tell whether a process of this node has ever run on its disks."""
    disks = node["disks"] or []
    # A node that was not asked may have: what is not known is never taken for empty.
    # Files without meta.properties are somebody else's: refused on their own node, no sign that this cluster started.
    used = (disk["quorum_state"] or (disk["started"] and disk["meta_properties"]) for disk in disks)
    return node["disks"] is None or bool(node["running"]) or any(used)


def _cluster_id(nodes: Sequence[Node], given: str, drawn: str) -> tuple[str, str]:
    """Return (id, source): the inventory's, else the one that most disks carry, else the drawn one."""
    if given:
        return given, "inventory"
    on_disks = Counter(refusals.cluster_ids(nodes))
    if on_disks:
        return on_disks.most_common(1)[0][0], "disks"
    return drawn, "drawn"


def _to_format(node: Node) -> list[str]:
    """Directories of a node that are not formatted; a foreign one is among them, and refused elsewhere.

    A broker with ZooKeeper does not use a directory for the metadata log alone, and fills it itself in its first start
    with the migration flag (KafkaServer).
    """
    passes = formats_itself(node["roles"], node.get("mode", ""))
    listed = [disk for disk in node["disks"] or [] if disk.get("logs", True) or not passes]
    return [disk["path"] for disk in listed if disk["meta_properties"] is None]


def _is_bare(node: Node) -> bool:
    """Return whether a node is formatted and has never started: it has as little data as one with empty disks."""
    return bool(node["disks"]) and not _to_format(node) and not has_started(node)


def _paths(node: Node) -> list[str]:
    return [disk["path"] for disk in node["disks"] or []]


def _holds_voter(node: Node, dirs: Sequence[str]) -> bool:
    """Return whether these directories hold the metadata log of a voter: that one carries its directory id."""
    return CONTROLLER in node["roles"] and any(d["metadata"] and d["path"] in dirs for d in node["disks"])


def _refused(
    node: Node,
    nodes: Sequence[Node],
    *,
    first: bool,
    source: str,
    registered: set[int] | None,
    replacing: str,
    coming: Mapping[str, Collection[int] | None],
) -> list[dict[str, Any]]:
    """Refusals to format a node whose directories could be formatted by themselves."""
    if node["running"]:
        return [refusals.running(node)]
    partly = any(disk["meta_properties"] for disk in node["disks"])
    if partly and has_started(node):
        return [refusals.new_disk(node, _to_format(node))]
    if first:
        return [refusals.vanished(node, _to_format(node))] if node.get("traces") else []
    if source == "drawn":
        return [refusals.unknown_cluster(node)]
    if replacing and node["host"] == replacing:
        return _replacement(node, nodes)
    if node["host"] in coming:
        return _refused_joiner(node, nodes, registered, coming[node["host"]])
    if CONTROLLER in node["roles"]:
        return [refusals.voter(node, [other["host"] for other in nodes if has_started(other)])]
    if registered is None:
        return [refusals.unknown_registration(node)]
    return _refused_broker(node, registered)


def _refused_broker(node: Node, registered: set[int]) -> list[dict[str, Any]]:
    """Refusals of a broker without data: the cluster knows best whether it is new, and else what it left behind."""
    if registered:
        return [refusals.registered(node)] if int(node["node_id"]) in registered else []
    return [refusals.vanished(node, _paths(node))] if node.get("traces") else []


def _refused_joiner(
    node: Node, nodes: Sequence[Node], registered: set[int] | None, voters: Collection[int] | None
) -> list[dict[str, Any]]:
    """Refusals of a controller that is said to come: it must be no voter, and as a broker it may have had data.

    Whoever says so may be wrong, and the quorum knows it. One that is no voter elects nobody, so that traces of another
    life are no obstacle.
    """
    if voters is None:
        return [refusals.unknown_voter(node)]
    if int(node["node_id"]) in voters:
        return [refusals.voter(node, [other["host"] for other in nodes if has_started(other)])]
    if registered is None:
        return [refusals.unknown_registration(node)]
    return [refusals.registered(node)] if int(node["node_id"]) in registered else []


def _refused_bare(
    node: Node,
    nodes: Sequence[Node],
    registered: set[int] | None,
    replacing: str,
    coming: Mapping[str, Collection[int] | None],
) -> list[dict[str, Any]]:
    """Refusals to start a formatted node without data where its cluster has started.

    Nothing says that it had data: then its first installation was cut, and goes on.
    """
    if node["host"] == replacing:
        return _replacement(node, nodes)
    if node["host"] in coming:
        return _refused_joiner(node, nodes, registered, coming[node["host"]])
    if CONTROLLER in node["roles"]:
        lost = bool(node.get("traces")) or int(node["node_id"]) in (registered or ())
        return [refusals.voter(node, [other["host"] for other in nodes if has_started(other)])] if lost else []
    if registered is None:
        return [refusals.unknown_registration(node)] if node.get("traces") else []
    return _refused_broker(node, registered)


def _replacement(node: Node, nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """A replaced voter needs a majority of voters that still have the metadata; a broker needs nothing more."""
    if CONTROLLER not in node["roles"]:
        return []
    voters = [other for other in nodes if CONTROLLER in other["roles"]]
    intact = [other["host"] for other in voters if other is not node and not _to_format(other) and has_started(other)]
    return [] if len(intact) > len(voters) // 2 else [refusals.no_majority(node, intact, len(voters))]

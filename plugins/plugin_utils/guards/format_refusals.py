# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Why a node is not formatted: each refusal says where, what was found, what is allowed and the fix. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._migration.modes import BROKER, MODES, ZOOKEEPER

Node = Mapping[str, Any]

_UNTOUCHED = "Nothing was formatted or deleted on any node."


def refusal(node: Node, kind: str, where: str, found: str, allowed: str, fix: str) -> dict[str, Any]:
    """Return one refusal, as the filter format_plan returns it; `message` is the whole of it as one sentence."""
    message = f"{node['host']}: {where}: found {found}; allowed: {allowed}. {fix} {_UNTOUCHED}"
    return {
        "host": node["host"],
        "kind": kind,
        "where": where,
        "found": found,
        "allowed": allowed,
        "fix": fix,
        "message": message,
    }


def cluster_ids(nodes: Iterable[Node]) -> list[str]:
    """All cluster ids on the disks of these nodes, one per formatted disk."""
    return [
        disk["meta_properties"]["cluster.id"]
        for node in nodes
        for disk in node["disks"] or []
        if disk["meta_properties"] and disk["meta_properties"].get("cluster.id")
    ]


def of_disks(node: Node, cluster_id: str, source: str) -> list[dict[str, Any]]:
    """Refusals that each disk of a node gives by itself; cluster_id "" is not compared."""
    if node["disks"] is None:
        fix = "Make it reachable, and run again without --limit: what is on its disks decides for the others too."
        return [refusal(node, "not_asked", "disks", "no answer from this host", "a host that can be read", fix)]
    return [one for disk in node["disks"] for one in _of_disk(node, disk, cluster_id, source)]


def _of_disk(node: Node, disk: Mapping[str, Any], cluster_id: str, source: str) -> list[dict[str, Any]]:
    path, meta = disk["path"], disk["meta_properties"]
    if disk["error"]:
        fix = "Repair or mount it, check its owner and mode, then run again."
        return [refusal(node, "unreadable", path, disk["error"], "a directory that can be read, or none", fix)]
    if disk.get("lost_and_found") and disk["logs"] and "broker" in node["roles"]:
        return [_file_system_root(node, path)]
    if meta is None:
        return [] if disk["empty"] else [_not_empty(node, disk)]
    key = _id_key(node, meta)
    if key not in meta and key == "broker.id":
        found = f"data of a KRaft node (node.id {meta.get('node.id')})"
        fix = "No way leads back to ZooKeeper: set kafka_mode to a mode of KRaft, or name other directories."
        return [refusal(node, "kraft_data", path, found, "data of a broker of ZooKeeper mode", fix)]
    if key not in meta:
        found = f"data of a ZooKeeper mode broker (broker.id {meta.get('broker.id')})"
        fix = "It is never formatted: take it over with the migration to KRaft, or name another directory."
        return [refusal(node, "zookeeper_data", path, found, "data of a KRaft node", fix)]
    wrong = []
    if cluster_id and meta["cluster.id"] != cluster_id:
        wrong.append(_other_cluster(node, path, meta["cluster.id"], cluster_id, source))
    if str(meta[key]) != str(node["node_id"]):
        fix = (
            f"Set kafka_node_id of {node['host']} back to {meta[key]}: the id of a node never changes. If the "
            "disk belongs to another node, mount it there."
        )
        found = f"{key} {meta[key]} on the disk"
        wrong.append(refusal(node, "node_id", path, found, f"{key} {node['node_id']} (kafka_node_id)", fix))
    return wrong


def _id_key(node: Node, meta: Mapping[str, Any]) -> str:
    """Return the key of the node's id in its meta.properties.

    A broker that came from ZooKeeper keeps version 0 of the file, with broker.id (MetaPropertiesEnsemble of 3.9), for
    good: once it is one of KRaft it has a metadata log too. One that was replaced on the way has version 1.
    """
    mode, of_broker = node.get("mode"), BROKER in node["roles"]
    if mode == ZOOKEEPER:
        return "broker.id"
    if of_broker and "broker.id" in meta:
        has_log = any(disk["quorum_state"] for disk in node["disks"])
        return "broker.id" if mode in MODES or has_log else "node.id"
    return "node.id"


def _file_system_root(node: Node, path: str) -> dict[str, Any]:
    fix = (
        f"A broker takes lost+found for a partition and does not start. Name a directory below the mount in "
        f"kafka_log_dirs, as {path.rstrip('/')}/kafka, before the first installation; on a node that has data there, "
        "remove lost+found when it is empty (rmdir)."
    )
    return refusal(node, "file_system_root", path, "lost+found", "a directory below the root of the disk", fix)


def _not_empty(node: Node, disk: Mapping[str, Any]) -> dict[str, Any]:
    path, names = disk["path"], ", ".join(disk["entries"])
    if disk["cut_format"]:
        fix = f"No process ever used it, so nothing can be lost: look at it, empty it (rm -r {path}/*) and run again."
        return refusal(node, "cut_format", path, f"a format that was cut ({names})", "an empty directory", fix)
    # Kafka leaves .kafka_cleanshutdown, which `rm -r DIRECTORY/*` does not remove. It is no empty directory with it:
    # a broker with empty disks would register as one that stopped without a loss (KIP-966).
    fix = (
        f"If it is worth nothing, empty it yourself, hidden files too (ls -A {path} shows what is left); if it is the "
        "data of a node, its meta.properties is missing."
    )
    return refusal(node, "foreign_data", path, f"files without meta.properties ({names})", "an empty one", fix)


def _other_cluster(node: Node, path: str, found: str, wanted: str, source: str) -> dict[str, Any]:
    origin = "kafka_cluster_id of the inventory" if source == "inventory" else "most disks of this cluster"
    fix = (
        f"If this is the same cluster, set kafka_cluster_id to {found}; if the disk comes from another cluster, take "
        "it out or name another directory."
    )
    return refusal(node, "cluster_id", path, f"cluster id {found}", f"cluster id {wanted} ({origin})", fix)


def of_ids(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """Two hosts with one node id: formatted alike, the second would take the place of the first."""
    first: dict[str, Node] = {}
    found = []
    for node in nodes:
        twin = first.setdefault(str(node["node_id"]), node)
        if twin is not node:
            what, allowed = f"{node['node_id']}, which is {twin['host']}'s too", "an id of its own"
            fix = "Give one of the two another kafka_node_id."
            found.append(refusal(node, "duplicate_id", "kafka_node_id", what, allowed, fix))
    return found


def of_copies(nodes: Sequence[Node]) -> list[dict[str, Any]]:
    """One directory id on two disks: a copied disk, or two hosts that read the same directory."""
    first: dict[str, str] = {}
    found = []
    for node in nodes:
        for disk in node["disks"] or []:
            identity = (disk["meta_properties"] or {}).get("directory.id")
            place = f"{node['host']}:{disk['path']}"
            if identity and first.setdefault(identity, place) != place:
                what = f"directory.id {identity}, which is on {first[identity]} too"
                fix = "Give each node directories of its own; put a copied disk away."
                found.append(refusal(node, "copied_disk", disk["path"], what, "a directory.id of its own", fix))
    return found


def running(node: Node) -> dict[str, Any]:
    """The process runs on directories that are not formatted: they were emptied or replaced under it."""
    where = ", ".join(disk["path"] for disk in node["disks"] if disk["meta_properties"] is None)
    fix = "Mount them again, or run playbooks/replace_node.yml."
    return refusal(node, "running", where, "directories without data under a running process", "their data", fix)


def new_disk(node: Node, dirs: Sequence[str]) -> dict[str, Any]:
    """Some directories hold the data of this node, others are empty."""
    fix = (
        "Is a disk not mounted? An empty mount point looks just like a new disk: mount it. A disk that was replaced "
        "or added is formatted by playbooks/replace_node.yml, which checks that the other replicas are in sync."
    )
    found = "an empty directory beside others that hold data of this node"
    return refusal(node, "new_disk", ", ".join(dirs), found, "all of them formatted, or none", fix)


def vanished(node: Node, dirs: Sequence[str]) -> dict[str, Any]:
    """A node that has had data, as files elsewhere say, and has none now, nor has any other node of its cluster."""
    traces = ", ".join(node["traces"])
    found = f"empty or not mounted, although this node has had data (as {traces} shows)"
    fix = (
        "After a power loss disks are often not mounted: mount them, run again, and the node starts with its data. If "
        "the disk of one node is gone, bring the others back, then run playbooks/replace_node.yml. Only for a cluster "
        f"that is to begin anew, without any topic that it had: rm {traces.replace(', ', ' ')} on {node['host']}."
    )
    allowed = "the data of this node, or no trace of an earlier start"
    return refusal(node, "vanished", ", ".join(dirs), found, allowed, fix)


def unknown_cluster(node: Node) -> dict[str, Any]:
    """The cluster has started, but neither inventory nor disks say its id."""
    fix = "Set kafka_cluster_id to the id of the running cluster (it is in meta.properties of each of its nodes)."
    return refusal(node, "unknown_cluster", "cluster id", "none", "the id of the running cluster", fix)


def voter(node: Node, started: Sequence[str]) -> dict[str, Any]:
    """A voter without data in a cluster that has started."""
    fix = (
        "Is its disk not mounted? A voter that lost its disk comes back by playbooks/replace_node.yml, one at a time, "
        "while the others have a majority; formatted here, it could elect a leader without any topic. A controller "
        "that is new comes by playbooks/voters.yml."
    )
    allowed = f"no empty voter once a node of the cluster has started (started: {', '.join(started) or 'the cluster'})"
    return refusal(node, "empty_voter", _paths(node), "a controller without data", allowed, fix)


def registered(node: Node) -> dict[str, Any]:
    """A broker that the cluster knows, without its data."""
    fix = "Is its disk not mounted? A broker that lost its disk comes back by playbooks/replace_node.yml."
    found = f"no data, while the cluster knows broker {node['node_id']}"
    return refusal(node, "registered_broker", _paths(node), found, "the data of this broker", fix)


def unknown_registration(node: Node) -> dict[str, Any]:
    """A broker without data, and nobody to ask whether it is new."""
    fix = "Start the other nodes first, then run again: the cluster says whether this broker is new."
    found = "no data, and the cluster does not answer whether it knows this broker"
    return refusal(node, "unknown_broker", _paths(node), found, "a broker id that the cluster does not know", fix)


def unknown_voter(node: Node) -> dict[str, Any]:
    """A controller without data that is said to come, and no quorum that says whether it votes."""
    fix = "Start a majority of the controllers first, then run again: the quorum says whether this controller is new."
    found = "no data, and the quorum does not answer whether this controller votes"
    return refusal(node, "unknown_voter", _paths(node), found, "a controller that does not vote", fix)


def no_majority(node: Node, intact: Sequence[str], voters: int) -> dict[str, Any]:
    """The replacement of a voter that the others could not outvote."""
    found = f"{len(intact)} of {voters} voters with data besides it ({', '.join(intact) or 'none'})"
    allowed = f"at least {voters // 2 + 1}"
    fix = "Bring the disks of the other voters back first: without a majority of them the metadata is not safe."
    return refusal(node, "no_majority", _paths(node), found, allowed, fix)


def _paths(node: Node) -> str:
    return ", ".join(disk["path"] for disk in node["disks"])

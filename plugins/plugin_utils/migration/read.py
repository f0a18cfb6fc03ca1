# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What is known of a cluster between ZooKeeper and KRaft, from its inventory and from what tasks left on its hosts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._migration.hand_over import znodes_of
from ...module_utils._migration.model import ClusterLook, EnsembleLook, MetadataLog, NodeLook
from ...module_utils._migration.modes import BROKER, CONTROLLER
from ...module_utils._zookeeper.ensemble import SERVING, UNREACHABLE
from ..inventory.model import Node
from ..run.results import HostRun, Variables

#: What a module returned, or failed with.
Answer = Mapping[str, Any]

_NO_LEADER = "no server leads"


def chroot_of(host: str, nodes: Iterable[Node]) -> str:
    """Return the path in ZooKeeper of the cluster of a host, as zookeeper.connect of its brokers has it."""
    path = next(node for node in nodes if node.name == host).text("zookeeper_chroot").strip().strip("/")
    return f"/{path}"


def metadata_dirs(nodes: Iterable[Node]) -> dict[str, str]:
    """Return by its host the directory of each node of Kafka that holds its metadata log (render/paths.py)."""
    kafka = [node for node in nodes if not node.zookeeper and not node.only_mirrors]
    return {node.name: node.text("kafka_metadata_log_dir") or next(iter(node.log_dirs()), "") for node in kafka}


def ask_ensemble(ask: Callable[..., dict[str, Any]], chroot: str, rights: bool = False) -> dict[str, Any]:
    """Return what an ensemble says: its servers and, where one leads, the znodes of a cluster too.

    ask -- runs zookeeper_info with options; chroot -- of the cluster; rights -- whether it also tries what the login
    may change. A session is opened only where one can be had,
    since it is waited for.
    """
    words = ask()
    if words.get("leader_id") is None:
        return words
    answer = ask(chroot=chroot, **({"rights": True} if rights else {}))
    return {**words, "msg": answer.get("msg", "")} if answer.get("failed") else answer


def moving_partitions(asked: Answer) -> tuple[tuple[str, ...], str]:
    """Return the partitions that are being reassigned, and why that is not known; asked -- as cluster_info returns it,
    with sizes."""
    if "topics" not in asked:
        return (), _why(asked) or "no answer"
    moving = [
        f"{topic['name']}-{partition['partition']}"
        for topic in asked["topics"]
        for partition in topic["partitions"]
        if "adding_replicas" in partition
    ]
    return tuple(moving), ""


def cluster_look(
    host: str, nodes: Sequence[Node], answers: Variables, ensemble: Answer, fresh: Answer | None = None
) -> ClusterLook:
    """Return the look at the cluster of a host.

    nodes -- of the inventory; answers -- the variables of hosts, where results stand; ensemble -- what zookeeper_info
    returned, empty without servers; fresh -- what the host told last, in place of its result
    """
    own = next(node for node in nodes if node.name == host)
    members = [node for node in nodes if node.cluster == own.cluster]
    told = {node.name: HostRun(node.name, answers).migration_look for node in members}
    told.update({} if fresh is None else {host: fresh})
    servers = {node.id: told[node.name] for node in members if node.zookeeper}
    kafka = tuple(_node(node, told[node.name]) for node in members if not node.zookeeper)
    return ClusterLook(own.cluster, kafka, _ensemble(servers, ensemble))


def _node(node: Node, answer: Answer) -> NodeLook:
    """Return the look at one node of Kafka; answer -- of migration_info on its host."""
    roles = frozenset(role for role, has in ((BROKER, node.broker), (CONTROLLER, node.controller)) if has)
    # What has no id is for the preflight to say.
    number = -1 if node.id is None else node.id
    if "running" not in answer:
        return NodeLook(node.name, number, roles, silence=_why(answer) or "no answer", running=False)
    log = answer.get("log")
    return NodeLook(
        host=node.name,
        id=number,
        roles=roles,
        running=bool(answer["running"]),
        release=str(answer["release"]),
        started=answer["start_record"],
        log=None if log is None else _log(log),
        unread=str(answer["unread"]),
        record_unread=str(answer["record_unread"]),
        epoch=int(answer["epoch"]),
        kraft_dirs=_paths(answer.get("kraft_dirs")),
        dirs_unread=str(answer.get("dirs_unread", "")),
    )


def _paths(answer: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if answer is None else tuple(answer)


def _log(log: Answer) -> MetadataLog:
    brokers = {int(broker): bool(migrating) for broker, migrating in log["brokers"].items()}
    return MetadataLog(log["state"], brokers, log["epoch"], log["end"])


def _ensemble(servers: Mapping[int | None, Answer], answer: Answer) -> EnsembleLook:
    """Return the look at the ensemble; servers -- what migration_info said on the machine of each, by its id.

    Stopped for certain is a server that does not answer, and whose machine says that its process does not run. One
    whose start record may not be read cannot say so.
    """
    states = {server["id"]: server["state"] for server in answer.get("servers") or ()}
    stopped = [
        server
        for server, machine in servers.items()
        if states.get(server, UNREACHABLE) == UNREACHABLE
        and machine.get("running") is False
        and not machine["record_unread"]
    ]
    serving = [server for server in states if states[server] in SERVING]
    why = _unread(answer)
    znodes = None if why else znodes_of(answer["znodes"], _ids(answer["cluster"]["brokers"]))
    denied = tuple(answer.get("denied", ()))
    return EnsembleLook(len(servers), len(serving), len(stopped), znodes, why if servers else "", denied)


def _ids(brokers: Iterable[Answer]) -> frozenset[int]:
    return frozenset(broker["id"] for broker in brokers)


def _unread(answer: Answer) -> str:
    """Return why the znodes are not known; empty where all were read."""
    if "znodes" not in answer:
        return _why(answer) or _NO_LEADER
    reasons = [f"{path}: {reason}" for path, reason in answer["unread"].items()]
    return "; ".join(reasons)


def _why(answer: Answer) -> str:
    """Return why a task has no answer: the first sentence of its message, on one line."""
    sentence = " ".join(str(answer.get("msg") or "").split()).partition(". ")[0]
    return sentence.removeprefix("Task failed: ").removeprefix("Action failed: ").rstrip(".")

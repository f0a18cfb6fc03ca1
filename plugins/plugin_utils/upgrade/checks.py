# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What is checked before an upgrade changes anything: one pure rule for each subject, which sees all facts.

A rule returns what it found, so that a run names all reasons at once. Gates of the roll guard each restart besides;
what they wait for is a note where a run that was cut is finished, and on the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...module_utils._core.cves import numbers
from ...module_utils._core.names import capped
from ...module_utils._release.releases import like
from ..findings import NOTE, REFUSE, Finding, Level
from ..guards.registered import missing
from ..guards.versions import goes_back, too_new
from .clients import clients
from .model import BACK, FINALIZE, ClusterFacts, NodeFacts, Outcome, names
from .path import mode_of, upgrade_path

Findings = Iterator[Finding]

#: MiB that an unpacked release takes at most (4.3.1: 57 MB of jars), with room for its archive beside it.
RELEASE_MIB = 200
AGAIN = "wait until it is over, then run again"


def check_all(facts: ClusterFacts) -> list[Outcome]:
    """Apply every rule and return what each found, in the order of a plan."""
    return [rule(facts) for rule in RULES]


def machines(facts: ClusterFacts) -> Outcome:
    """Refuse nodes whose machine did not answer and nodes that nothing was ever installed on; note stopped ones."""

    def found() -> Findings:
        for node in facts.nodes:
            if node.silence:
                fix = "make its machine reachable; an upgrade needs every node"
                yield Finding(REFUSE, f"{node.host} does not answer ({node.silence})", fix)
        if new := [node for node in facts.nodes if not node.runs and not node.silence]:
            what = f"nothing was ever started on {names(new)}, so there is nothing to upgrade there"
            fix = "install it by playbook site or add_brokers first, with the release that the others run"
            yield Finding(REFUSE, what, fix)
        if stopped := [node for node in facts.nodes if node.runs and not node.running]:
            yield Finding(NOTE, f"{names(stopped)} is stopped, and starts with its new release before the others go")
        for node in facts.nodes:
            if node.refuses:
                what = f"{node.host} did not come back with its start files of {node.target} ({node.gave_up})"
                yield Finding(
                    NOTE,
                    f"{what}. The run refuses the same files before any node stops: correct the cause so that they "
                    "differ, or where it lay elsewhere and is gone add -e kafka_retry_generation=true",
                )

    return Outcome("Nodes", f"all {len(facts.nodes)} answer", tuple(found()))


def path(facts: ClusterFacts) -> Outcome:
    """Refuse a way between two releases that is not legal, or not the one that was asked for."""

    def found() -> Findings:
        if facts.action == FINALIZE:
            # A playbook is read before the inventory is, so only a variable of the run says which one is meant.
            fix = "take it out of the inventory, and give it by -e kafka_upgrade=finalize"
            yield Finding(REFUSE, "kafka_upgrade=finalize does not come from the command line", fix)
        for runs in facts.running:
            way = upgrade_path(runs, facts.target, mode_of(facts.mode), facts.known)
            on = names(node for node in facts.kafka if node.runs == runs)
            if not way.legal:
                yield Finding(REFUSE, f"{on} on {runs}: {way.why}", way.fix)
            else:
                yield from _direction(facts, "kafka_version", runs, facts.target, on)
                if way.direction == "up" and runs not in facts.known:
                    yield Finding(NOTE, f"{on} on {runs} cannot go back: this collection does not have that release")
        servers: dict[tuple[str, str], list[NodeFacts]] = {}
        for node in facts.nodes:
            if not node.is_kafka and node.runs:
                servers.setdefault((node.runs, node.target), []).append(node)
        for (runs, target), nodes in servers.items():
            yield from _direction(facts, "zookeeper_version", runs, target, names(nodes))

    return Outcome("Path", "legal" if facts.running else "not known, no node has ever run", tuple(found()))


def _direction(facts: ClusterFacts, variable: str, runs: str, target: str, on: str) -> Findings:
    """Refuse an older release without the word for it, and a newer one with it."""
    if numbers(target) < numbers(runs) and facts.action != BACK:
        fix = f"to go back, add -e kafka_upgrade=back; else set {variable} to {runs} or later"
        yield Finding(REFUSE, f"{variable} {target} is older than what {on} runs ({runs})", fix)
    elif numbers(target) > numbers(runs) and facts.action == BACK:
        what = f"kafka_upgrade=back, but {variable} {target} is newer than what {on} runs ({runs})"
        yield Finding(REFUSE, what, f"set {variable} to the release to go back to, such as {runs}")


def features(facts: ClusterFacts) -> Outcome:
    """Refuse finalised features that the target does not know, a way back for which nothing told them, and levels that
    nobody would raise."""

    def found() -> Findings:
        if facts.levels and facts.action != FINALIZE:
            given = capped(facts.levels, 5)
            what = f"kafka_upgrade_features names {given}, and kafka_upgrade=finalize was not given"
            fix = "leave kafka_upgrade_features out until all nodes have their release, then give both"
            yield Finding(REFUSE, what, fix)
        back = any(goes_back(node.runs, facts.target) for node in facts.kafka)
        finalised = (facts.info or {}).get("features")
        if back and finalised is None:
            what = f"the cluster could not be asked for its features ({facts.unasked or 'no answer'})"
            yield Finding(REFUSE, what, "start the cluster with the release that it runs, then go back")
        elif like(facts.target) and (new := too_new(finalised or {}, facts.target)):
            what = f"the cluster has finalised {', '.join(new)}, which Kafka {facts.target} does not know"
            yield Finding(REFUSE, what, "stay on a release that knows them; Kafka takes no change of metadata back")

    return Outcome("Features", _asked(facts, f"all known to {facts.target}"), tuple(found()))


def java(facts: ClusterFacts) -> Outcome:
    """Refuse nodes whose Java is older than the target needs."""
    known = like(facts.target)
    # Of a release that we do not have, the path is refused; each 4.x needs at least this (KIP-1013).
    least = known.java[0] if known else 17

    def found() -> Findings:
        by_java: dict[int, list[NodeFacts]] = {}
        for node in facts.kafka:
            if node.java is not None and node.java < least:
                by_java.setdefault(node.java, []).append(node)
        for version, nodes in sorted(by_java.items()):
            fix = f"install Java {least} there and point kafka_java_home at it"
            what = f"{names(nodes)} has Java {version}, and Kafka {facts.target} needs {least}"
            yield Finding(REFUSE, what, fix)
        if without := [
            node for node in facts.kafka if node.java is None and not node.silence and not node.installs_java
        ]:
            yield Finding(REFUSE, f"{names(without)} has no Java that works", f"install Java {least} or newer there")

    return Outcome("Java", f"{least} or newer on {len(facts.kafka)} nodes", tuple(found()))


def room(facts: ClusterFacts) -> Outcome:
    """Refuse machines without room for one more release."""

    def found() -> Findings:
        for node in facts.nodes:
            if node.installed or node.free_mib is None or node.free_mib >= RELEASE_MIB:
                continue
            what = f"{node.host} has {node.free_mib} MiB free for {node.install_dir}, and a release takes {RELEASE_MIB}"
            yield Finding(REFUSE, what, "remove releases that no node runs from its directory releases, or make room")

    return Outcome("Room", f"{RELEASE_MIB} MiB for the release on each machine", tuple(found()))


def properties(facts: ClusterFacts) -> Outcome:
    """Refuse properties of the inventory that the target does not read any more, or whose value it refuses."""

    def found() -> Findings:
        for (key, variable), (value, nodes) in _by_property(facts).items():
            for what, fix in facts.refused("broker", key, value, [node.runs for node in nodes], facts.target):
                yield Finding(REFUSE, f"{names(nodes)}: {what} ({variable})", fix)

    return Outcome("Properties", f"all known to {facts.target}", tuple(found()))


def overrides(facts: ClusterFacts) -> Outcome:
    """Refuse what topics and brokers set in the cluster itself and the target does not read any more, or refuses.

    Kafka judges all settings of a topic whenever one is changed, so a removed one locks the others.
    """

    def found() -> Findings:
        by_setting: dict[tuple[str, str, Any], list[str]] = {}
        for one in _list(facts, "overrides"):
            by_setting.setdefault((one["kind"], one["key"], one["value"]), []).append(one["name"] or "all by default")
        for (kind, key, value), of in by_setting.items():
            for what, fix in facts.refused(kind, key, value, facts.running, facts.target):
                where = "set in the cluster, see kafka-configs.sh"
                yield Finding(REFUSE, f"{kind} {capped(of, 3)}: {what} ({where})", fix)

    return Outcome("Set live", _asked(facts, f"all known to {facts.target}"), tuple(found()))


def replicas(facts: ClusterFacts) -> Outcome:
    """Refuse a cluster whose partitions are not in sync, but for those that wait for a stopped node."""
    level = _level(facts)
    down = [node for node in facts.kafka if not node.running]
    stopped = {node.node_id for node in down}

    def found() -> Findings:
        behind = [one for one in _list(facts, "under_replicated") if _out_of_sync(one) - stopped]
        if behind:
            what = f"{len(behind)} partitions are not in sync ({_partitions(behind)})"
            yield Finding(level, what, "wait until status.yml says that all are in sync" if level == REFUSE else "")
        offline = [one for one in _list(facts, "offline") if set(one["replicas"]) - stopped]
        if offline:
            what = f"{len(offline)} partitions have no leader ({_partitions(offline)})"
            yield Finding(level, what, "bring their brokers back" if level == REFUSE else "")

    waiting = [partition for partition in _list(facts, "under_replicated") if _out_of_sync(partition) & stopped]
    fine = f"{len(waiting)} partitions wait for {names(down)}, the others are in sync" if waiting else "all in sync"
    return Outcome("Replicas", _asked(facts, fine), tuple(found()))


def moves(facts: ClusterFacts) -> Outcome:
    """Refuse a cluster in which replicas are moving."""
    level = _level(facts)

    def found() -> Findings:
        moving = [
            {"topic": topic["name"], "partition": one["partition"]}
            for topic in _list(facts, "topics")
            for one in topic.get("partitions") or ()
            if one.get("adding_replicas") or one.get("removing_replicas")
        ]
        if moving:
            what = f"{len(moving)} partitions are being reassigned ({_partitions(moving)})"
            yield Finding(level, what, AGAIN if level == REFUSE else "")

    return Outcome("Moves", _asked(facts, "none under way"), tuple(found()))


def quorum(facts: ClusterFacts) -> Outcome:
    """Refuse a cluster that does not answer, or whose quorum lacks a leader or a voter of the inventory."""
    level = _level(facts)

    def found() -> Findings:
        if facts.info is None:
            if facts.action != BACK:
                what = f"the cluster does not answer ({facts.unasked or 'no answer'})"
                yield Finding(REFUSE, what, "start it with the release that it runs (playbook site), then run again")
            return
        said = facts.quorum()
        if said.get("error"):
            yield Finding(level, f"the quorum does not answer: {said['error']}", "see playbook status")
        elif said:
            voters = {one["id"] for one in said.get("voters") or ()}
            own = {node.node_id for node in facts.kafka if "controller" in node.roles and node.node_id is not None}
            if said.get("leader_id") is None:
                yield Finding(level, "the quorum has no leader", "see playbook status")
            if absent := sorted(own - voters):
                what = f"controllers of the inventory are no voters: {_ids(absent)}"
                yield Finding(level, what, "see docs/replace-node.md for a controller with a new disk")

    return Outcome("Quorum", _asked(facts, "whole"), tuple(found()))


def registrations(facts: ClusterFacts) -> Outcome:
    """Refuse registrations that the inventory lacks, which block features, and fenced brokers that run."""
    level = _level(facts)

    def found() -> Findings:
        nodes = [{"node_id": node.node_id, "roles": node.roles} for node in facts.kafka]
        for line in missing(nodes, facts.info or {}, facts.accepted):
            what, _separator, fix = line.partition(". fix: ")
            yield Finding(REFUSE, what, fix)
        by_id = {node.node_id: node for node in facts.kafka if "broker" in node.roles and node.running}
        if fenced := [by_id[one["id"]] for one in _list(facts, "nodes") if one["fenced"] and one["id"] in by_id]:
            fix = "look at its log and its network; playbook status names the reason" if level == REFUSE else ""
            yield Finding(level, f"{names(fenced)} runs, and the cluster has it fenced", fix)
        known = {node.node_id for node in facts.kafka} | facts.accepted
        if ghosts := sorted({one["id"] for one in facts.quorum().get("observers") or ()} - known):
            what = f"nodes that the inventory lacks follow the quorum: {_ids(ghosts)}"
            if facts.action == FINALIZE:
                yield Finding(REFUSE, what, "stop them, or accept their ids by kafka_accept_missing_nodes")
            else:
                yield Finding(NOTE, f"{what}; stop them before features are raised")

    return Outcome("Registered", _asked(facts, "nodes of the inventory alone"), tuple(found()))


def mirrors(facts: ClusterFacts) -> Outcome:
    """Note mirrors next to the cluster that run another release than it shall have."""

    def found() -> Findings:
        by_release: dict[str, list[str]] = {}
        for host, version in facts.mirrors.items():
            if version and version != facts.target:
                by_release.setdefault(version, []).append(host)
        for version, hosts in by_release.items():
            yield Finding(NOTE, f"mirror {capped(hosts, 5)} runs Kafka {version}; see by status.yml that it goes on")

    return Outcome("Mirrors", "none on another release", tuple(found()))


Rule = Callable[[ClusterFacts], Outcome]
RULES: tuple[Rule, ...] = (
    machines,
    path,
    features,
    java,
    room,
    properties,
    overrides,
    clients,
    quorum,
    registrations,
    replicas,
    moves,
    mirrors,
)


def _asked(facts: ClusterFacts, fine: str) -> str:
    """Return what a check says where it found nothing; of a cluster that did not answer, nothing is known."""
    return fine if facts.info is not None else "not known"


def _level(facts: ClusterFacts) -> Level:
    """Tell whether what gates wait for is refused now."""
    return NOTE if facts.gates_decide else REFUSE


def _list(facts: ClusterFacts, key: str) -> Iterable[Mapping[str, Any]]:
    return (facts.info or {}).get(key) or ()


def _by_property(facts: ClusterFacts) -> dict[tuple[str, str], tuple[Any, list[NodeFacts]]]:
    """Return each property of the inventory with its value and the nodes that have it."""
    found: dict[tuple[str, str], tuple[Any, list[NodeFacts]]] = {}
    for node in facts.kafka:
        for key, (value, variable) in node.properties.items():
            found.setdefault((key, variable), (value, []))[1].append(node)
    return found


def _out_of_sync(partition: Mapping[str, Any]) -> set[int]:
    return set(partition["replicas"]) - set(partition["isr"])


def _partitions(found: Iterable[Mapping[str, Any]]) -> str:
    return capped([f"{one['topic']}-{one['partition']}" for one in found], 3)


def _ids(found: Iterable[Any]) -> str:
    return ", ".join(map(str, found))

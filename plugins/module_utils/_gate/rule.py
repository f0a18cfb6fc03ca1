# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""May these nodes be stopped now? Decided on one snapshot, with sets, for one node or several at once.

The rule for brokers: a set S is safe when every partition p keeps |ISR_p minus S| >= min.insync.replicas (or all of
its replicas, where these are fewer). It extends
Strimzi's KafkaAvailability (strimzi/strimzi-kafka-operator, cluster-operator), which looks at one node only and lets
topics with replication factor <= min.insync.replicas through: here these need a named consent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._cluster.attribution import CATCHING_UP, FOLLOWER, LEADER, PAIR, STARTING, Attribution
from .._cluster.snapshot import InFlight, caught_up, ids_alive
from .._core.names import capped
from .sick import is_fenced, low_because_of, sick
from .stop import FIXES, QUORUM_UNKNOWN, Refusal, Stop, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from .._cluster.snapshot import Key, Partition, Quorum, Snapshot, Voter


def refusals(
    snapshot: Snapshot, stop: Stop, moving: Sequence[InFlight] = (), attributed: Sequence[Attribution] = ()
) -> list[Refusal]:
    """Return every reason why the nodes of C(stop) may not be stopped now; an empty list allows it."""
    if stop.corrected is not None and is_fenced(snapshot, stop.corrected):
        # It serves nothing, whatever becomes of the others.
        return [*_outdated_brokers(snapshot, stop), *_quorum(snapshot, stop), *_reassignments(stop, moving)]
    return [
        *_broken_partitions(snapshot, stop, attributed),
        *_missing_brokers(snapshot, stop),
        *_unreached_brokers(snapshot, stop),
        *_outdated_brokers(snapshot, stop),
        *_quorum(snapshot, stop),
        *_reassignments(stop, moving),
    ]


def judge(
    snapshot: Snapshot, moving: Sequence[InFlight], stop: Stop, attributed: Sequence[Attribution] = ()
) -> dict[str, Any]:
    """Return the judgement as the module returns it: allowed, refusals, notes, is_active_controller.

    C(attributed) says who is at fault for replicas of the snapshot that are not in sync.
    """
    reasons, ill = refusals(snapshot, stop, moving, attributed), sick(snapshot, attributed)
    return {
        "allowed": not reasons,
        "refusals": [refusal.as_dict() for refusal in reasons],
        "is_active_controller": holds_active_controller(snapshot, stop),
        "corrects": stop.corrected is not None and stop.corrected in ill,
        "serves_nothing": stop.corrected is not None and is_fenced(snapshot, stop.corrected),
        "sick": {str(broker): why for broker, why in sorted(ill.items())},
        "notes": warnings(snapshot, stop),
    }


def holds_active_controller(snapshot: Snapshot, stop: Stop) -> bool:
    """Tell whether the active controller is among the nodes: a roll leaves it for last."""
    leader = snapshot.quorum.leader_id if snapshot.quorum else snapshot.controller_id
    return leader in stop.nodes


def warnings(snapshot: Snapshot, stop: Stop) -> list[str]:
    """Return what does not forbid the stop but what a person should know."""
    notes = []
    # A controller that is no broker is known by the quorum alone; of one that did not answer nothing is known.
    quorum = snapshot.quorum
    members = set(quorum.members) if quorum else set()
    unknown = stop.nodes - {broker.id for broker in snapshot.brokers} - members
    if "broker" in stop.roles and unknown and not (quorum and quorum.error):
        notes.append(f"node {numbers(unknown)} is no registered broker: it serves nothing now, or the id is wrong")
    voters = {voter.id for voter in quorum.voters} if quorum else set()
    if voters & stop.nodes and len(voters) < 3:
        notes.append(f"{len(voters)} voter(s): the metadata quorum is lost while node {numbers(stop.nodes)} is down")
    return notes


def needed(partition: Partition) -> int:
    """Return how many in-sync replicas the partition needs for acks=all, and always one to be online."""
    return max(1, partition.needed)


def has_no_spare(partition: Partition) -> bool:
    """Tell whether the partition cannot lose any replica even when all are in sync (RF <= min.insync.replicas)."""
    return len(partition.replicas) <= needed(partition)


def _name(partition: Partition) -> str:
    return f"{partition.topic}-{partition.index}"


def _topic_by_topic(partitions: list[Partition], show: Callable[[Partition], str]) -> str:
    """Return one partition of each topic and how many more of it, so that a topic of many hides no other."""
    by_topic: dict[str, list[Partition]] = {}
    for partition in partitions:
        by_topic.setdefault(partition.topic, []).append(partition)
    rest = {topic: f" and {len(mine) - 1} more of {topic}" if len(mine) > 1 else "" for topic, mine in by_topic.items()}
    return capped([show(mine[0]) + rest[topic] for topic, mine in by_topic.items()])


def _broken_partitions(snapshot: Snapshot, stop: Stop, attributed: Sequence[Attribution]) -> Iterator[Refusal]:
    # A dead broker may stay listed as the last of an ISR, and with ZooKeeper in every ISR until its session ends (18
    # s), so only those count that are registered and, where they were asked, answered.
    alive = set(ids_alive(snapshot.brokers)) - set(snapshot.silent)
    touched = [partition for partition in snapshot.partitions if stop.nodes & set(partition.replicas)]
    spareless = [partition for partition in touched if has_no_spare(partition)]
    rest = [partition for partition in touched if not has_no_spare(partition)]
    offline = [partition for partition in rest if partition.leader is None]
    spared = low_because_of(snapshot, stop.corrected, attributed) if stop.corrected is not None else set()
    low = [
        partition
        for partition in rest
        if partition.leader is not None
        and (partition.topic, partition.index) not in spared
        and len((set(partition.isr) & alive) - stop.nodes) < needed(partition)
    ]
    yield from _spareless(spareless, stop)
    if offline:
        yield Refusal(
            kind="partition_offline",
            what=f"{len(offline)} partition(s) with a replica here have no leader",
            found=_topic_by_topic(offline, lambda p: f"{_name(p)} (ISR {numbers(p.isr)})"),
            allowed="a leader for every partition of the node",
        )
    explained = {key for attribution in attributed if attribution.kind in _EXPLAINING for key in attribution.missing}
    yield from _attributed([partition for partition in low if _key(partition) in explained], snapshot, stop, attributed)
    yield from _low([partition for partition in low if _key(partition) not in explained], alive, stop)


#: The kinds of attributions that say why a partition is low, each with the kind of its refusal.
_EXPLAINING = {
    LEADER: "broker_cut_off",
    FOLLOWER: "broker_not_copying",
    PAIR: "pair_not_copying",
    STARTING: "catching_up",
    CATCHING_UP: "catching_up",
}


def _attributed(
    partitions: list[Partition], snapshot: Snapshot, stop: Stop, attributed: Sequence[Attribution]
) -> Iterator[Refusal]:
    """Name who is at fault for partitions that are low, or who catches up: no broker is missing that could be started.

    Each partition counts for the gravest of its reasons.
    """
    left = {_key(partition): partition for partition in partitions}
    by_kind: dict[str, list[Attribution]] = {}
    for attribution in attributed:
        if attribution.kind in _EXPLAINING:
            by_kind.setdefault(_EXPLAINING[attribution.kind], []).append(attribution)
    for kind, reasons in by_kind.items():
        mine = [left.pop(key) for reason in reasons for key in reason.missing if key in left]
        if mine:
            keys = {_key(partition) for partition in mine}
            named = [reason for reason in reasons if keys & reason.missing.keys()]
            yield _refusal(kind, named, mine, snapshot)


def _refusal(kind: str, reasons: Sequence[Attribution], partitions: list[Partition], snapshot: Snapshot) -> Refusal:
    """Return the refusal for partitions that are low for these reasons, all of one kind."""
    which = _topic_by_topic(partitions, lambda p: f"{_name(p)} (ISR {numbers(p.isr)}, min {needed(p)})")
    followers = numbers({broker for reason in reasons for broker in reason.followers})
    causes = {broker for reason in reasons for broker in reason.leaders}
    why = {
        "broker_cut_off": f"because others cannot copy from broker {numbers(causes)}",
        "broker_not_copying": f"because broker {followers} does not copy",
        "pair_not_copying": f"because broker {followers} does not copy from broker {numbers(causes)}",
        "catching_up": f"while broker {followers} catches up",
    }[kind]
    allowed, fix = "every live follower in the ISR", ""
    if kind == "broker_cut_off":
        spared = {key for cause in causes for key in low_because_of(snapshot, cause, reasons)}
        restarts = {_key(partition) for partition in partitions} <= spared
        allowed += ", or other files for that broker, which is then restarted first" if restarts else ""
        fix = f"{FIXES[kind]}: " + (
            "a run that gives this node other files may restart it although these partitions are low, since it is "
            "itself the cause."
            if restarts
            else "its own gate stays shut too until others are in sync: a replica is down, another one is still in the "
            "ISR with it, or unclean election is on."
        )
    return Refusal(
        kind=kind,
        what=f"{len(partitions)} partition(s) are low {why}",
        found=f"{'; '.join(reason.phrase for reason in reasons)}: {which}",
        allowed=allowed,
        fix=fix,
    )


def _key(partition: Partition) -> Key:
    return partition.topic, partition.index


def _spareless(partitions: list[Partition], stop: Stop) -> Iterator[Refusal]:
    consent = stop.allow_unavailable_topics
    # Of partitions with different numbers of replicas the smallest counts.
    fewest = sorted(partitions, key=lambda p: len(p.replicas), reverse=True)
    by_topic = {p.topic: p for p in fewest if "*" not in consent and p.topic not in consent}
    missing = [f"{t} {len(p.replicas)} with {max(1, p.min_insync)}" for t, p in sorted(by_topic.items())]
    if missing:
        yield Refusal(
            kind="no_spare_replica",
            what=f"{len(by_topic)} topic(s) on node {numbers(stop.nodes)} cannot lose a replica",
            found=f"replication factor with min.insync.replicas: {capped(missing)}",
            allowed="a replication factor above min.insync.replicas, or the topic named in allow_unavailable_topics",
            transient=False,
        )


def _low(partitions: list[Partition], alive: set[int], stop: Stop) -> Iterator[Refusal]:
    for kind, verb in (("under_min_isr", "are already below"), ("would_fall_under_min_isr", "would fall below")):
        now = kind == "under_min_isr"
        mine = [p for p in partitions if (len(set(p.isr) & alive) < needed(p)) == now]
        if mine:
            yield Refusal(
                kind=kind,
                what=f"{len(mine)} partition(s) {verb} min.insync.replicas without node {numbers(stop.nodes)}",
                found=_topic_by_topic(mine, lambda p: f"{_name(p)} (ISR {numbers(p.isr)}, min {needed(p)})"),
                allowed="as many in-sync replicas on other live brokers as min.insync.replicas says",
            )


def _missing_brokers(snapshot: Snapshot, stop: Stop) -> Iterator[Refusal]:
    fenced = {broker.id: broker.fenced for broker in snapshot.brokers}
    silent = {
        number: f"broker {number} is registered and does not answer ({why})"
        for number, why in snapshot.silent.items()
        if number not in stop.nodes
    }
    away = {
        number: f"broker {number} is {'fenced' if number in fenced else 'not registered'}"
        for number in stop.expected_brokers - stop.nodes
        if fenced.get(number, True)
    }
    down = [text for _number, text in sorted({**silent, **away}.items())]
    if down:
        yield Refusal(
            kind="broker_down",
            what=f"another broker than node {numbers(stop.nodes)} is down",
            found=capped(down),
            allowed="all other brokers of the inventory registered and not fenced, and every registered one answers",
        )


def _unreached_brokers(snapshot: Snapshot, stop: Stop) -> Iterator[Refusal]:
    """Refuse while the address of another broker leads elsewhere: it serves nobody, so the others must.

    Where that of the corrected node does too, two that have each other's address would wait for each other.
    """
    wrong = {broker: why for broker, why in snapshot.elsewhere.items() if broker not in stop.nodes}
    if wrong and stop.corrected not in snapshot.elsewhere:
        yield Refusal(
            kind="broker_elsewhere",
            what=f"another node answers at the address of broker {numbers(wrong)}",
            found=capped([f"broker {broker}: {why}" for broker, why in sorted(wrong.items())]),
            allowed="each broker at the address that it advertises",
        )


def _outdated_brokers(snapshot: Snapshot, stop: Stop) -> Iterator[Refusal]:
    """Refuse while a serving broker is behind in the metadata log: its picture of the cluster, or ours, may be old.

    A broker that was frozen answers with the ISRs of before. The leader of the quorum knows who has caught up.
    """
    quorum = snapshot.quorum
    if quorum is None or quorum.leader_id is None:
        return
    members = quorum.members
    behind = []
    for broker in snapshot.brokers:
        if broker.fenced or broker.id in stop.nodes:
            continue
        if broker.id not in members:
            behind.append(f"broker {broker.id} has not fetched the metadata log")
        elif not caught_up(members[broker.id], quorum, stop.fetch_timeout_ms):
            behind.append(_behind(members[broker.id], "broker"))
    if behind:
        yield Refusal(
            kind="broker_metadata_behind",
            what=f"{len(behind)} other broker(s) are behind in the metadata log",
            found=capped(behind),
            allowed=f"all other serving brokers caught up within {stop.fetch_timeout_ms} ms",
        )


def _quorum(snapshot: Snapshot, stop: Stop) -> Iterator[Refusal]:
    quorum = snapshot.quorum
    # ZooKeeper mode has no quorum of its own, but a cluster without a controller cannot move a leader.
    if quorum is not None and quorum.error:
        yield Refusal(
            kind=QUORUM_UNKNOWN,
            what="the metadata quorum could not be asked",
            found=quorum.error,
            allowed="an answer of the active controller, which knows who has caught up",
        )
    elif (snapshot.controller_id if quorum is None else quorum.leader_id) is None:
        yield Refusal(
            kind="no_active_controller",
            what="the cluster has no active controller",
            found="no leader of the metadata quorum",
            allowed="an active controller, which moves the leaders away from a node that stops",
        )
    elif quorum is not None:
        yield from _majority(quorum, stop)
        yield from _missing_controllers(quorum, stop)


def _majority(quorum: Quorum, stop: Stop) -> Iterator[Refusal]:
    """Strimzi's KafkaQuorumCheck: n//2 + 1 others caught up; of two voters the other one; a single voter always."""
    voters = {voter.id for voter in quorum.voters}
    if not voters & stop.nodes or len(voters) == 1:
        return
    ready = {v.id for v in quorum.voters if caught_up(v, quorum, stop.fetch_timeout_ms)} - stop.nodes
    majority = 1 if len(voters) == 2 else len(voters) // 2 + 1
    behind = [_behind(v) for v in quorum.voters if v.id not in stop.nodes and v.id not in ready]
    if len(ready) < majority:
        yield Refusal(
            kind="quorum_majority",
            what=f"the metadata quorum of {len(voters)} would lose its majority without node {numbers(stop.nodes)}",
            found=f"{len(ready)} other voter(s) caught up ({numbers(ready)})"
            + (f"; {capped(behind)}" if behind else ""),
            allowed=f"at least {majority} others caught up within {stop.fetch_timeout_ms} ms",
            # Too many named at once does not pass by waiting.
            transient=len(voters - stop.nodes) >= majority,
        )


def _behind(voter: Voter, role: str = "voter") -> str:
    ago = voter.last_caught_up_ms_ago
    since = "never caught up" if ago is None else f"last caught up {ago} ms ago"
    return f"{role} {voter.id} is {voter.lag} records behind, {since}"


def _missing_controllers(quorum: Quorum, stop: Stop) -> Iterator[Refusal]:
    known = quorum.members
    away = []
    for number in sorted(stop.expected_controllers - stop.nodes):
        if number not in known:
            away.append(f"controller {number} is not in the quorum")
        elif not caught_up(known[number], quorum, stop.fetch_timeout_ms):
            away.append(_behind(known[number]))
    if away:
        yield Refusal(
            kind="controller_down",
            what=f"another controller than node {numbers(stop.nodes)} is down or behind",
            found=capped(away),
            allowed=f"all other controllers of the inventory caught up within {stop.fetch_timeout_ms} ms",
        )


def _reassignments(stop: Stop, moving: Sequence[InFlight]) -> Iterator[Refusal]:
    touched = [f"{move.topic}-{move.index}" for move in moving if move.touched & stop.nodes]
    if touched:
        yield Refusal(
            kind="reassignment",
            what=f"{len(touched)} partition(s) are being moved to or from node {numbers(stop.nodes)}",
            found=capped(touched),
            allowed="no reassignment that touches the node",
        )

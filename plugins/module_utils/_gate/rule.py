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

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import (
    CATCHING_UP,
    FOLLOWER,
    LEADER,
    PAIR,
    STARTING,
    Attribution,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    InFlight,
    ids_alive,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._gate.sick import (
    is_fenced,
    low_because_of,
    sick,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
        Key,
        Partition,
        Quorum,
        Snapshot,
        Voter,
    )

# Kafka's default of controller.quorum.fetch.timeout.ms; Strimzi's KafkaQuorumCheck calls a voter caught up within it.
FETCH_TIMEOUT_MS = 2000


# The module's options beside the connection, and those that only its action plugin uses; timeout, interval in seconds.
GATE_OPTIONS: dict[str, dict[str, Any]] = {
    "node_ids": {"type": "list", "elements": "int", "required": True, "aliases": ["node_id"]},
    "roles": {
        "type": "list",
        "elements": "str",
        "choices": ["broker", "controller"],
        "default": ["broker", "controller"],
    },
    "expected_brokers": {"type": "list", "elements": "int", "default": []},
    "expected_controllers": {"type": "list", "elements": "int", "default": []},
    "allow_unavailable_topics": {"type": "list", "elements": "str", "default": []},
    "controller_fetch_timeout_ms": {"type": "int", "default": FETCH_TIMEOUT_MS},
    "correcting": {"type": "bool", "default": False},
    "times_metadata": {"type": "bool", "default": False},
}
GATE_WAIT_OPTIONS: dict[str, dict[str, Any]] = {
    "timeout": {"type": "int", "default": 60},
    "interval": {"type": "float", "default": 5.0},
    "hold": {"type": "float", "default": 0.0},
    "held_since": {"type": "float", "default": 0.0},
}


@dataclass(frozen=True)
class Stop:
    """The nodes to be stopped, what must be up besides, and what was consented to.

    C(allow_unavailable_topics) holds topic names or C(*); it only frees topics that cannot lose any replica.
    C(correcting): the node restarts with other files, so what it is itself the cause of does not count (_gate/sick.py).
    """

    nodes: frozenset[int]
    roles: frozenset[str] = frozenset(("broker", "controller"))
    expected_brokers: frozenset[int] = frozenset()
    expected_controllers: frozenset[int] = frozenset()
    allow_unavailable_topics: frozenset[str] = frozenset()
    fetch_timeout_ms: int = FETCH_TIMEOUT_MS
    correcting: bool = False

    @property
    def corrected(self) -> int | None:
        """The one node that is corrected; several at once never are."""
        return next(iter(self.nodes)) if self.correcting and len(self.nodes) == 1 else None

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Stop:
        """Return the stop in a module's parameters (GATE_OPTIONS)."""
        return cls(
            nodes=frozenset(params["node_ids"]),
            roles=frozenset(params["roles"]),
            expected_brokers=frozenset(params["expected_brokers"]),
            expected_controllers=frozenset(params["expected_controllers"]),
            allow_unavailable_topics=frozenset(params["allow_unavailable_topics"]),
            fetch_timeout_ms=params["controller_fetch_timeout_ms"],
            correcting=params["correcting"],
        )


@dataclass(frozen=True)
class Refusal:
    """One reason against the stop. C(transient): it may pass by itself, so waiting a little makes sense."""

    kind: str
    what: str
    found: str
    allowed: str
    transient: bool = True
    #: What to do, where that depends on more than the kind.
    fix: str = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the fields as a module returns them, with what to do about it."""
        return {**asdict(self), "fix": self.fix or FIXES[self.kind]}


#: The kind of the refusal when nothing is known of the quorum.
QUORUM_UNKNOWN = "quorum_unknown"
#: The kinds of refusals that are about the quorum alone.
QUORUM_KINDS = frozenset(("no_active_controller", QUORUM_UNKNOWN, "quorum_majority", "controller_down"))
#: What to do about each kind of refusal.
FIXES = {
    "no_spare_replica": "Raise the replication factor, lower min.insync.replicas, or accept that these topics are "
    "unavailable while the node is down: name them in allow_unavailable_topics (inventory: "
    "kafka_gate_allow_unavailable_topics).",
    "partition_offline": "Start the brokers that hold the in-sync replicas and wait for a leader.",
    "under_min_isr": "Bring the missing replicas back into the ISR (isr_wait shows them), then try again.",
    "would_fall_under_min_isr": "Bring the missing replicas back into the ISR (isr_wait shows them), then try again.",
    "broker_cut_off": "See at which address its listener between brokers advertises it, and whether firewall, "
    "certificates and login let the others in. Then run site.yml with what is corrected",
    "broker_elsewhere": "Correct advertised_host and port of this broker's listener (kafka_listeners), names and "
    "address translation, so that its address leads to it alone. Then run site.yml, which restarts it first when its "
    "files change.",
    "broker_not_copying": "Look at its log and at what changed last in its properties (replica.*, "
    "num.replica.fetchers), then run site.yml with what is corrected.",
    "pair_not_copying": "See in the log of the follower why it does not copy, what changed last in the properties of "
    "both (replica.* of the follower, listeners of the leader), and the network between the two.",
    "catching_up": "Wait until it has caught up.",
    "broker_down": "Start that broker first (a stopped node may always be started); its log says why it stays away.",
    "broker_metadata_behind": "Wait until they have caught up; see their logs if they do not.",
    "no_active_controller": "Start the controllers that are down and wait for an election.",
    QUORUM_UNKNOWN: "See that a majority of the controllers runs and answers: one of them may be frozen or overloaded. "
    "Brokers turn to a new active controller after controller.socket.timeout.ms (30 s).",
    "quorum_majority": "Start the controllers that are behind and wait until they have caught up; stop fewer at once.",
    "controller_down": "Start that controller first (a stopped node may always be started) and let it catch up.",
    "reassignment": "Wait until the reassignment has finished, or cancel it.",
}


def numbers(ids: Iterable[int]) -> str:
    """Return ids sorted and joined by commas, C(none) when there are none."""
    return ", ".join(str(number) for number in sorted(ids)) or "none"


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
    found, ill = refusals(snapshot, stop, moving, attributed), sick(snapshot, attributed)
    return {
        "allowed": not found,
        "refusals": [refusal.as_dict() for refusal in found],
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
    found = []
    # A controller that is no broker is known by the quorum alone; of one that did not answer nothing is known.
    quorum = snapshot.quorum
    members = set(quorum.members) if quorum else set()
    unknown = stop.nodes - {broker.id for broker in snapshot.brokers} - members
    if "broker" in stop.roles and unknown and not (quorum and quorum.error):
        found.append(f"node {numbers(unknown)} is no registered broker: it serves nothing now, or the id is wrong")
    voters = {voter.id for voter in quorum.voters} if quorum else set()
    if voters & stop.nodes and len(voters) < 3:
        found.append(f"{len(voters)} voter(s): the metadata quorum is lost while node {numbers(stop.nodes)} is down")
    return found


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
    explained = {key for one in attributed if one.kind in _EXPLAINING for key in one.missing}
    yield from _attributed([one for one in low if _key(one) in explained], snapshot, stop, attributed)
    yield from _low([one for one in low if _key(one) not in explained], alive, stop)


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
    left = {_key(one): one for one in partitions}
    by_kind: dict[str, list[Attribution]] = {}
    for one in attributed:
        if one.kind in _EXPLAINING:
            by_kind.setdefault(_EXPLAINING[one.kind], []).append(one)
    for kind, reasons in by_kind.items():
        mine = [left.pop(key) for one in reasons for key in one.missing if key in left]
        if mine:
            keys = {_key(partition) for partition in mine}
            named = [one for one in reasons if keys & one.missing.keys()]
            yield _refusal(kind, named, mine, snapshot)


def _refusal(kind: str, reasons: Sequence[Attribution], partitions: list[Partition], snapshot: Snapshot) -> Refusal:
    """Return the refusal for partitions that are low for these reasons, all of one kind."""
    which = _topic_by_topic(partitions, lambda p: f"{_name(p)} (ISR {numbers(p.isr)}, min {needed(p)})")
    followers = numbers({broker for one in reasons for broker in one.followers})
    causes = {broker for one in reasons for broker in one.leaders}
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
        found=f"{'; '.join(one.phrase for one in reasons)}: {which}",
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
    found = [f"{t} {len(p.replicas)} with {max(1, p.min_insync)}" for t, p in sorted(by_topic.items())]
    if found:
        yield Refusal(
            kind="no_spare_replica",
            what=f"{len(by_topic)} topic(s) on node {numbers(stop.nodes)} cannot lose a replica",
            found=f"replication factor with min.insync.replicas: {capped(found)}",
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


def caught_up(voter: Voter, quorum: Quorum, limit_ms: int) -> bool:
    """Tell whether a voter has all records but those of the last C(limit_ms) milliseconds; the leader always has."""
    if voter.id == quorum.leader_id:
        return True
    return voter.last_caught_up_ms_ago is not None and voter.last_caught_up_ms_ago < limit_ms


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

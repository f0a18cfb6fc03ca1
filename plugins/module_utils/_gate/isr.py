# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Are the replicas back in sync? What one snapshot says about a goal, and what many of them say about progress."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .._cluster.attribution import Attribution, stalled_at
from .._cluster.snapshot import behind, ids_alive
from .._core.errors import StreamopsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from .._cluster.attribution import Look
    from .._cluster.snapshot import Key, Partition, Snapshot

# Partitions that a result lists one by one; the totals are always complete.
LISTED = 20
# The same of a wait for leaders alone.
LISTED_UNLED = 1000

# Looks that one run of the module takes at least where each is compared with the one before the last.
LEAST_LOOKS = 3

# The options that the module and the action plugin share; times in seconds.
WAIT_OPTIONS: dict[str, dict[str, Any]] = {
    "scope": {"type": "str", "choices": ["own", "topics", "cluster"], "default": "cluster"},
    "broker": {"type": "int"},
    "topics": {"type": "list", "elements": "str"},
    "leaders": {"type": "bool", "default": False},
    "leave_unled": {"type": "bool", "default": False},
    "led_only": {"type": "bool", "default": False},
    "serves": {"type": "bool", "default": False},
    "behind": {"type": "list", "elements": "int", "default": []},
    "hold": {"type": "float", "default": 0.0},
    "held_since": {"type": "float", "default": 0.0},
    "timeout": {"type": "int", "default": 300},
    "interval": {"type": "float", "default": 5.0},
    "sample_interval": {"type": "float", "default": 1.0},
    "consecutive": {"type": "int", "default": 3},
    "stuck_after": {"type": "int", "default": 60},
    "start_timeout": {"type": "int", "default": 8},
}
REQUIRED_IF: list[tuple[str, str, list[str]]] = [("scope", "own", ["broker"]), ("scope", "topics", ["topics"])]


@dataclass(frozen=True)
class Goal:
    """What must be in sync: the replicas on C(broker) (own), all replicas of C(topics), or of the whole cluster.

    C(leaders): every partition in scope must also be led by its first replica (scope own: those preferring the broker).
    C(leave_unled): partitions that nobody alive may lead are left out. C(led_only): each partition in scope must have a
    leader, and nothing else. C(serves), with scope own: other brokers copy what the broker leads, but
    for those that were C(behind) before.
    """

    scope: str = "cluster"
    broker: int | None = None
    topics: tuple[str, ...] = ()
    leaders: bool = False
    leave_unled: bool = False
    led_only: bool = False
    serves: bool = False
    behind: tuple[int, ...] = ()

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Goal:
        """Return the goal that the options of the module name."""
        topics, late = tuple(options["topics"] or ()), tuple(options["behind"])
        flags = {name: options[name] for name in ("leaders", "leave_unled", "led_only", "serves")}
        return cls(options["scope"], options["broker"], topics, behind=late, **flags)

    def __str__(self) -> str:
        if self.scope == "own":
            return f"broker {self.broker}"
        return "topics " + ",".join(self.topics) if self.scope == "topics" else "cluster"


@dataclass(frozen=True)
class Observation:
    """What one look saw, in types that JSON carries.

    C(done) of C(total) partitions fulfil the goal; C(missing_replicas) are not in sync; C(brokers) says of every
    broker that misses any how it is: registered, fenced or not registered. C(left_out) partitions have no leader and
    are not waited for. C(unmet) is what else the goal lacks; C(away): its broker is fenced or not registered.
    C(behind) are the live brokers that other leaders than the broker of the goal lack in an ISR.
    C(leads_none): of what prefers that broker it leads nothing.
    C(attributions): who is at fault for replicas of the goal that are not in sync, as modules return it.
    C(settled): in the whole cluster no broker is fenced, and every replica is in sync.
    C(bytes_behind) is what the missing replicas on registered brokers lack, None when not asked.
    C(at) is in seconds since the module began. C(error) is set when the cluster did not answer; then the figures mean
    nothing.
    """

    at: float = 0.0
    total: int = 0
    done: int = 0
    missing_replicas: int = 0
    not_led: int = 0
    offline: int = 0
    left_out: int = 0
    bytes_behind: int | None = None
    brokers: dict[str, str] = field(default_factory=dict)
    missing_by_broker: dict[str, int] = field(default_factory=dict)
    partitions: list[dict[str, Any]] = field(default_factory=list)
    unmet: list[str] = field(default_factory=list)
    away: bool = False
    leads_none: bool = False
    settled: bool = False
    behind: list[int] = field(default_factory=list)
    attributions: list[dict[str, Any]] = field(default_factory=list)
    error: str | None = None

    @property
    def good(self) -> bool:
        """Tell whether the goal is reached in this look."""
        return self.error is None and self.done == self.total and not self.unmet

    def as_dict(self) -> dict[str, Any]:
        """Return the fields for a module's result."""
        return dict(asdict(self), good=self.good)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Observation:
        """Return the observation that a module's result carries."""
        return cls(**{name: values[name] for name in cls.__dataclass_fields__ if name in values})


def standing(snapshot: Snapshot, broker: int) -> str:
    """Return how a broker stands: registered, fenced or not registered."""
    for known in snapshot.brokers:
        if known.id == broker:
            return "fenced" if known.fenced else "registered"
    return "not registered"


def in_scope(partition: Partition, goal: Goal) -> bool:
    """Tell whether the goal is about this partition."""
    if goal.scope == "own":
        return goal.broker in partition.replicas
    return goal.scope == "cluster" or partition.topic in goal.topics


def missing(partition: Partition, goal: Goal) -> list[int]:
    """Return the replicas that the goal wants in the ISR and that are not, in replica order."""
    if goal.led_only:
        return []
    wanted = [r for r in partition.replicas if goal.scope != "own" or r == goal.broker]
    return [replica for replica in wanted if replica not in partition.isr]


def misled(partition: Partition, goal: Goal) -> bool:
    """Tell whether the goal wants the preferred leader to lead and it does not."""
    if not goal.leaders or not partition.replicas:
        return False
    preferred = partition.replicas[0]
    return (goal.scope != "own" or preferred == goal.broker) and partition.leader != preferred


def _unled(partition: Partition, alive: set[int]) -> bool:
    """Tell whether nobody leads a partition and nobody alive may: then there is nothing to copy, and no end to it.

    A broker that has just come back is in the ISR of what it is about to lead.
    """
    return partition.leader is None and not alive & {*partition.isr, *(partition.eligible or ())}


def observe(snapshot: Snapshot, goal: Goal, attributed: Sequence[Attribution] = ()) -> Observation:
    """Judge one snapshot against a goal; C(attributed) says who is at fault for what is not in sync in it."""
    alive = set(ids_alive(snapshot.brokers))
    concerned = [partition for partition in snapshot.partitions if in_scope(partition, goal)]
    mine = [partition for partition in concerned if not (goal.leave_unled and _unled(partition, alive))]
    absent: dict[int, int] = {}
    bad = []
    for partition in mine:
        gone = missing(partition, goal)
        for replica in gone:
            absent[replica] = absent.get(replica, 0) + 1
        if gone or misled(partition, goal) or partition.leader is None:
            bad.append((partition, gone))
    states = {broker: standing(snapshot, broker) for broker in absent}
    # Each partition without a leader is a matter of its own: someone must start its broker, or give its data up.
    listed = LISTED_UNLED if goal.led_only else LISTED
    return Observation(
        total=len(mine),
        done=len(mine) - len(bad),
        missing_replicas=sum(absent.values()),
        not_led=sum(misled(partition, goal) for partition in mine),
        offline=sum(partition.leader is None for partition in mine),
        left_out=len(concerned) - len(mine),
        brokers={str(broker): states[broker] for broker in sorted(states)},
        missing_by_broker={str(broker): absent[broker] for broker in sorted(absent)},
        partitions=[_detail(partition, gone, states, alive) for partition, gone in bad[:listed]],
        unmet=_unmet(snapshot, goal, attributed),
        attributions=[attribution.as_dict() for attribution in attributed if _concerns(attribution, mine)],
        leads_none=goal.broker is not None and _leads_none(snapshot, goal.broker),
        settled=_is_settled(snapshot),
        behind=behind(snapshot.partitions, alive, alive - {goal.broker}),
        away=goal.broker is not None and standing(snapshot, goal.broker) != "registered",
    )


def _concerns(attribution: Attribution, partitions: Iterable[Partition]) -> bool:
    return any((partition.topic, partition.index) in attribution.missing for partition in partitions)


def lagging(snapshot: Snapshot, goal: Goal) -> list[tuple[Partition, int]]:
    """Return the replicas that are catching up: not in sync, on a registered broker, with a leader to fetch from."""
    serving = set(ids_alive(snapshot.brokers))
    return [
        (partition, replica)
        for partition in snapshot.partitions
        if partition.leader is not None and in_scope(partition, goal)
        for replica in missing(partition, goal)
        if replica in serving
    ]


def bytes_behind(replicas: list[tuple[Partition, int]], look: Look) -> int | None:
    """Return how many bytes these replicas hold less than their leaders; None without any, or where it is not known.

    It is an estimate: compaction and retention run on each broker on its own. (The offset lag that a broker reports
    is of no use: a follower measures it against its own high watermark.)
    """
    lacks = [look.behind(partition, replica) for partition, replica in replicas]
    known = [lack for lack in lacks if lack is not None]
    return sum(known) if len(known) == len(lacks) and lacks else None


def sizes_by_broker(
    replicas: Iterable[tuple[Key, int]], sizes: Callable[[int, dict[str, list[int]]], Mapping[Key, int]]
) -> dict[int, Mapping[Key, int]]:
    """Return by broker the bytes of its replicas; C(replicas) are partitions with a broker each, C(sizes) asks one."""
    wanted: dict[int, dict[str, list[int]]] = {}
    for (topic, index), broker in replicas:
        wanted.setdefault(broker, {}).setdefault(topic, []).append(index)
    return {broker: sizes(broker, partitions) for broker, partitions in wanted.items()}


def explain(broker: int | str, state: str) -> str:
    """Return why a broker's replicas are not in sync, as far as its state tells."""
    if state == "fenced":
        return f"broker {broker} is fenced: stopped, or not yet caught up with the cluster's metadata"
    if state == "not registered":
        return f"broker {broker} is not registered"
    return f"broker {broker} is registered and has not caught up"


def _detail(partition: Partition, gone: list[int], states: dict[int, str], alive: set[int]) -> dict[str, Any]:
    why = [explain(replica, states[replica]) for replica in gone]
    if partition.leader is None:
        away = [str(broker) for broker in sorted({*partition.isr, *(partition.eligible or ())} - alive)]
        why.insert(0, f"no leader; broker {', '.join(away)} has the data and is down" if away else "no leader")
    elif not gone:
        why.append(f"led by {partition.leader} and not by its preferred replica {partition.replicas[0]}")
    return {
        "topic": partition.topic,
        "partition": partition.index,
        "leader": partition.leader,
        "replicas": list(partition.replicas),
        "isr": list(partition.isr),
        "missing": gone,
        "why": "; ".join(why),
    }


def _unserved(snapshot: Snapshot, broker: int, excused: Iterable[int], attributed: Iterable[Attribution]) -> list[str]:
    """Return what others miss of a broker that is registered: they do not copy from it, or it leads nothing.

    Followers that were behind before it led anything are so by themselves, and one that catches up copies. Whoever is
    at fault, records of what this broker leads lack a replica. A broker that was fenced between two looks leads nothing
    any more. Of what it should lead, another tool may have given some to others meanwhile, so one partition is enough.
    """
    if _leads_none(snapshot, broker):
        return [f"broker {broker} leads none of the partitions that prefer it"]
    return [one.phrase for one in stalled_at(attributed, broker) if not {*one.followers} <= {*excused}]


def _leads_none(snapshot: Snapshot, broker: int) -> bool:
    preferring = any(
        partition.replicas[:1] == (broker,) and broker in partition.isr for partition in snapshot.partitions
    )
    return preferring and not any(partition.leader == broker for partition in snapshot.partitions)


def _is_settled(snapshot: Snapshot) -> bool:
    whole = all(
        partition.leader is not None and {*partition.replicas} <= {*partition.isr} for partition in snapshot.partitions
    )
    return whole and not any(broker.fenced for broker in snapshot.brokers)


def _unmet(snapshot: Snapshot, goal: Goal, attributed: Iterable[Attribution]) -> list[str]:
    """Return what no partition shows: a broker away or that others cannot copy from, a topic that does not exist."""
    if goal.scope == "own" and goal.broker is not None:
        state = standing(snapshot, goal.broker)
        if state != "registered":
            return [explain(goal.broker, state)]
        return _unserved(snapshot, goal.broker, goal.behind, attributed) if goal.serves else []
    known = {partition.topic for partition in snapshot.partitions}
    return [f"topic {topic} does not exist" for topic in goal.topics if goal.scope == "topics" and topic not in known]


def uncommitted(before: Mapping[Key, tuple[int, int]], now: Mapping[Key, int]) -> list[Key]:
    """Return the partitions with records that an earlier look saw, and of which nothing was committed since.

    C(before) has the end of each log and its high watermark, C(now) the high watermark in this look: what every replica
    of the ISR has. Where it moves, followers copy, however far they are behind.
    """
    return sorted(key for key, (end, committed) in before.items() if now.get(key) == committed < end)


def watch(
    take: Callable[[], Observation],
    clock: Callable[[], float],
    sleep: Callable[[float], None],
    interval: float,
    sample_interval: float,
    consecutive: int,
    least: int = 1,
) -> list[Observation]:
    """Observe for about C(interval) seconds, every C(sample_interval); end early after C(consecutive) good ones,
    and never before C(least) of them, since some goals compare looks.

    A cluster that does not answer, or answers with an error, is one more observation: it may be restarting. What
    waiting cannot mend is raised.
    """
    started = clock()
    seen: list[Observation] = []
    while True:
        began = clock()
        try:
            observation = take()
        except StreamopsError as error:
            if not error.passing:
                raise
            observation = Observation(error=error.message)
        seen.append(replace(observation, at=round(clock() - started, 2)))
        if len(seen) >= consecutive and all(observation.good for observation in seen[-consecutive:]):
            return seen
        if len(seen) >= least and clock() - started + sample_interval > interval:
            return seen
        sleep(max(0.0, sample_interval - (clock() - began)))

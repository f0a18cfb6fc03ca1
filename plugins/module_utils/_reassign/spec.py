# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a spec can be met at all: everything that is wrong with it, each in one sentence with the fix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from .._cluster.snapshot import effective_min_isr
from .._core.names import capped, near
from .model import BALANCED_BY, LEADERS, RACK_RULES, BrokerSpec, Change, Cluster, Spec

#: How many examples a sentence names.
SHOWN = 5
#: What is said of brokers that take no replicas, and what to do where it is not the state itself.
_WHY_NOT = {
    "dead": "not alive (fenced or not registered); start it first",
    "cordoned": "cordoned (cordoned.log.dirs); uncordon it first (module broker_registration, state: uncordoned)",
}


def brokers_of(cluster: Cluster, spec: Spec) -> tuple[BrokerSpec, ...]:
    """Every broker of a plan by id: those known, those added, and as dead those that only replicas name."""
    found = {broker.id: broker for broker in cluster.brokers}
    for added in spec.add:
        known = found.get(added.id)
        if known is None:
            found[added.id] = replace(added, state="new")
        elif known.state in ("excluded", "draining"):
            found[added.id] = replace(known, state="alive")
    for broker in {broker for brokers in cluster.replicas for broker in brokers} - set(found):
        found[broker] = BrokerSpec(broker, None, "dead")
    return tuple(found[broker] for broker in sorted(found))


def receivers(brokers: Iterable[BrokerSpec], spec: Spec) -> list[BrokerSpec]:
    """The brokers that may get replicas."""
    gone = {*spec.drain, *spec.replace}
    return [broker for broker in brokers if broker.state in ("alive", "new") and broker.id not in gone]


def violations(cluster: Cluster, spec: Spec, brokers: tuple[BrokerSpec, ...]) -> list[str]:
    """All that is wrong with a spec, empty when nothing is; explicit assignments are judged apart."""
    found = list(_of_brokers(spec, brokers))
    found += _of_racks(spec, brokers)
    found += _of_replication(cluster, spec, brokers)
    found += _of_combinations(spec)
    found += _of_topics(cluster, spec)
    found += _of_bytes(cluster, spec, {broker.id for broker in brokers if broker.state == "dead"})
    return found


def _of_combinations(spec: Spec) -> Iterator[str]:
    named = bool(spec.drain or spec.replace or spec.replication_factor or spec.fix_racks)
    if spec.assignment is not None:
        if named or spec.balances:
            yield "assignment: stands alone, since it names the brokers of every replica; leave the other options out"
    elif not (named or spec.balances or spec.leaders == "balance"):
        yield (
            "no change is asked for; set rebalance, add, drain, replace, replication_factor, fix_racks, assignment or "
            "leaders: balance"
        )
    if spec.topic_spread and not spec.balances:
        yield "topic_spread: goes with rebalance or add; set one of them, or leave it out"
    if spec.topic_spread and spec.balance_by == "bytes":
        yield "topic_spread: says how many replicas brokers hold, which by bytes is left as it comes; choose one"
    if spec.replace and spec.balances:
        yield "replace: says who takes whose place, so it cannot go with rebalance or add; do one after the other"
    if spec.rack_rule not in RACK_RULES:
        yield f"rack_rule: '{spec.rack_rule}' is not one of {', '.join(RACK_RULES)}"
    if spec.leaders not in LEADERS:
        yield f"leaders: '{spec.leaders}' is not one of {', '.join(LEADERS)}"


def _of_topics(cluster: Cluster, spec: Spec) -> Iterator[str]:
    if spec.topics and spec.assignment is not None:
        yield "topics: an assignment names its partitions itself; leave topics out"
    for topic in spec.topics:
        if topic not in cluster.topics:
            yield f"topics: topic {topic} does not exist{near(topic, cluster.topics)}; name a topic of the cluster"
    for topic in sorted(spec.replication_factor) if spec.topics else ():
        if topic not in spec.topics:
            yield f"replication_factor: topic {topic} is not one of topics, so it would stay as it is; add it there"


def _of_brokers(spec: Spec, brokers: tuple[BrokerSpec, ...]) -> Iterator[str]:
    known = {broker.id: broker for broker in brokers}
    named = [("drain", spec.drain), ("replace", [*spec.replace, *spec.replace.values()])]
    for option, numbers in named:
        yield from (f"{option}: broker {n} is not known to the cluster{has(known)}" for n in numbers if n not in known)
    taking = {broker.id for broker in receivers(brokers, spec)}
    for old, new in spec.replace.items():
        if new in known and new not in taking:
            yield f"replace: broker {new} cannot take the place of {old}: it is {_why_not(known[new], spec)}"
    for new, times in Counter(spec.replace.values()).items():
        if times > 1:
            yield f"replace: broker {new} would take the place of {times} brokers; one takes one place"
    for added in spec.add:
        if known[added.id].state in ("dead", "cordoned") or added.id in spec.drain:
            yield f"add: broker {added.id} cannot take replicas: it is {_why_not(known[added.id], spec)}"
    if not taking:
        yield (
            "no broker is left that may hold replicas; leave at least one alive, neither drained nor excluded nor "
            "cordoned"
        )


def has(known: Iterable[int]) -> str:
    """Return which brokers a cluster has, for the end of a sentence about one that it does not have."""
    return f", which has {capped([str(one) for one in sorted(known)])}"


def _why_not(broker: BrokerSpec, spec: Spec) -> str:
    if broker.id in spec.drain:
        return "drained by the same call"
    if broker.id in spec.replace:
        return "replaced by the same call"
    return _WHY_NOT.get(broker.state, broker.state)


def _of_racks(spec: Spec, brokers: tuple[BrokerSpec, ...]) -> Iterator[str]:
    if spec.rack_rule == "none":
        return
    counted = [broker for broker in brokers if broker.state != "dead"]
    without = [broker.id for broker in counted if not broker.rack]
    if without and len(without) < len(counted):
        yield (
            f"broker.rack: brokers {shown(without)} have none while others have one; give every broker a rack, "
            "an added one where it is added, or set rack_rule: none"
        )
    more = spec.balances or spec.drain or spec.replace or spec.replication_factor or spec.leaders == "balance"
    if spec.fix_racks and not more and len(without) == len(counted):
        yield "fix_racks: no broker has a rack; set broker.rack on every broker first"


def _but_cordoned(brokers: Iterable[BrokerSpec]) -> str:
    """Return which brokers are left out because they are cordoned, for a sentence that counts the others."""
    cordoned = [broker.id for broker in brokers if broker.state == "cordoned"]
    return f" (broker {shown(cordoned)} is cordoned)" if cordoned else ""


def _of_replication(cluster: Cluster, spec: Spec, brokers: tuple[BrokerSpec, ...]) -> Iterator[str]:
    taking = len(receivers(brokers, spec))
    known = {name: number for number, name in enumerate(cluster.topics)}
    needed = _needed(cluster) if spec.replication_factor else {}
    for topic, factor in sorted(spec.replication_factor.items()):
        if topic not in known:
            yield (
                f"replication_factor: topic {topic} does not exist{near(topic, known)}; name a topic of the cluster, "
                "or create it first"
            )
        elif factor < 1:
            yield f"replication_factor: {factor} for topic {topic} must be at least 1"
        elif factor > taking:
            yield (
                f"replication_factor: {factor} for topic {topic} needs as many brokers that may hold replicas, and "
                f"there are {taking}{_but_cordoned(brokers)}; set at most {taking}, or add brokers first"
            )
        elif factor < needed.get(known[topic], 0):
            yield (
                f"replication_factor: {factor} for topic {topic} is below its min.insync.replicas "
                f"{cluster.min_insync[known[topic]]}, and Kafka asks for no more than there are replicas: an "
                f"acknowledged record would be on {factor} instead of {needed[known[topic]]}; lower that first"
            )
    if spec.balances or spec.drain:
        changing = (
            replicas
            for place, replicas in enumerate(cluster.replicas)
            if not spec.topics or cluster.topics[cluster.topic_of[place]] in spec.topics
        )
        most = max(map(len, changing), default=0)
        if 0 < taking < most:
            yield (
                f"{taking} brokers may hold replicas{_but_cordoned(brokers)}, too few for partitions with {most}; add "
                "brokers, drain fewer, or lower the replication factor first"
            )


def _needed(cluster: Cluster) -> dict[int, int]:
    """By topic how many replicas must be in sync for acks=all now, at most: none may become fewer unsaid."""
    found: dict[int, int] = {}
    for partition, brokers in enumerate(cluster.replicas):
        topic = cluster.topic_of[partition]
        least = effective_min_isr(cluster.min_insync[topic], len(brokers))
        found[topic] = max(found.get(topic, 0), least)
    return found


def _of_bytes(cluster: Cluster, spec: Spec, dead: set[int]) -> Iterator[str]:
    if spec.balance_by not in BALANCED_BY:
        yield f"balance_by: '{spec.balance_by}' is not one of {', '.join(BALANCED_BY)}"
    if not 0 <= spec.bytes_tolerance < math.inf:
        yield (
            f"bytes_tolerance: {spec.bytes_tolerance} is not a fraction of 0 or more; 0.1 lets a broker hold a tenth "
            "more bytes than its share"
        )
    if spec.balance_by != "bytes":
        return
    if not spec.balances:
        yield "balance_by: bytes says how brokers get their share, so it goes with rebalance or add; add one of them"
    if cluster.sizes is None:
        yield "balance_by: bytes needs the sizes of partitions, and none is known; take the snapshot with sizes: true"
        return
    # A partition that only dead brokers hold is left alone, and nobody can tell its size.
    unsized = [partition for partition in cluster.unsized if not dead.issuperset(cluster.replicas[partition])]
    if unsized:
        yield (
            f"balance_by: bytes needs the sizes of partitions, and {len(unsized)} have none "
            f"({shown(map(cluster.name, unsized))}); take the snapshot with sizes: true while their brokers are up"
        )


def shown(things: Iterable[object]) -> str:
    """A list for people, cut after some."""
    return capped([str(thing) for thing in things], SHOWN)


# -- an explicit assignment; racks are not judged, since it says where everything goes ---------------------------


def _places_named(cluster: Cluster, spec: Spec) -> dict[tuple[str, int], int]:
    """Find the partitions of the topics that an assignment names; none where there is no assignment."""
    named = {topic for topic, _number, _wanted in spec.assignment or ()}
    return cluster.places(named) if named else {}


def assigned(cluster: Cluster, spec: Spec) -> list[Change]:
    """The changes that a sound assignment asks for, ordered by partition."""
    where = _places_named(cluster, spec)
    changes = []
    for topic, number, wanted in spec.assignment or ():
        partition = where[topic, number]
        if cluster.replicas[partition] != tuple(wanted):
            changes.append(Change(partition, cluster.replicas[partition], tuple(wanted), ("assigned by name",)))
    return sorted(changes, key=lambda change: change.partition)


def assignment_violations(cluster: Cluster, spec: Spec, brokers: tuple[BrokerSpec, ...]) -> list[str]:
    """All that is wrong with an explicit assignment, empty when nothing is."""
    known = {broker.id: broker for broker in brokers}
    where = _places_named(cluster, spec)
    found, seen = [], set()
    for topic, number, wanted in spec.assignment or ():
        name = f"assignment: {topic}-{number}"
        partition = where.get((topic, number))
        if (topic, number) in seen:
            found.append(f"{name}: given twice; every partition is given once")
        seen.add((topic, number))
        if partition is None:
            found.append(f"{name}: does not exist; leave it out, or create it first")
            continue
        had = cluster.replicas[partition]
        twice = sorted(broker for broker, times in Counter(wanted).items() if times > 1)
        if not wanted:
            found.append(f"{name}: has no replicas; name at least one broker")
        if twice:
            found.append(f"{name}: names broker {shown(twice)} more than once")
        for broker in sorted(set(wanted)):
            if broker not in known:
                found.append(f"{name}: broker {broker} is not known to the cluster{has(known)}")
            elif known[broker].state == "dead":
                found.append(f"{name}: broker {broker} is not alive, so the move would never end; start it first")
            elif known[broker].state in ("draining", "excluded", "cordoned") and broker not in had:
                found.append(f"{name}: broker {broker} takes no new replica: it is {_why_not(known[broker], spec)}")
        if wanted and len(wanted) != len(had) and spec.replication_factor.get(topic) != len(wanted):
            found.append(
                f"{name}: has {len(had)} replicas and would have {len(wanted)}; a change of the replication factor "
                "is set by replication_factor"
            )
        if wanted and len(wanted) < effective_min_isr(cluster.min_insync[cluster.topic_of[partition]], len(had)):
            found.append(f"{name}: {len(wanted)} replicas are fewer than its min.insync.replicas; lower that first")
    return found

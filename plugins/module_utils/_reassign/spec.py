# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a wish can be granted at all: everything that is wrong with it, each in one sentence with the fix."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._core.near_names import near
from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import capped
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import (
    BALANCED_BY,
    LEADERS,
    RACK_RULES,
    BrokerSpec,
    Change,
    Cluster,
    Wish,
)

#: How many examples a sentence names.
SHOWN = 5


def brokers_of(cluster: Cluster, wish: Wish) -> tuple[BrokerSpec, ...]:
    """Every broker of a plan by id: those known, those added, and as dead those that only replicas name."""
    found = {broker.id: broker for broker in cluster.brokers}
    for added in wish.add:
        known = found.get(added.id)
        if known is None:
            found[added.id] = replace(added, state="new")
        elif known.state in ("excluded", "draining"):
            found[added.id] = replace(known, state="alive")
    for broker in {broker for brokers in cluster.replicas for broker in brokers} - set(found):
        found[broker] = BrokerSpec(broker, None, "dead")
    return tuple(found[broker] for broker in sorted(found))


def receivers(brokers: Iterable[BrokerSpec], wish: Wish) -> list[BrokerSpec]:
    """The brokers that may get replicas."""
    gone = {*wish.drain, *wish.replace}
    return [broker for broker in brokers if broker.state in ("alive", "new") and broker.id not in gone]


def violations(cluster: Cluster, wish: Wish, brokers: tuple[BrokerSpec, ...]) -> list[str]:
    """All that is wrong with a wish, empty when nothing is; explicit assignments are judged apart."""
    found = list(_of_brokers(wish, brokers))
    found += _of_racks(wish, brokers)
    found += _of_replication(cluster, wish, len(receivers(brokers, wish)))
    found += _of_combinations(wish)
    found += _of_topics(cluster, wish)
    found += _of_bytes(cluster, wish, {broker.id for broker in brokers if broker.state == "dead"})
    return found


def _of_combinations(wish: Wish) -> Iterator[str]:
    named = bool(wish.drain or wish.replace or wish.replication_factor or wish.fix_racks)
    if wish.assignment is not None:
        if named or wish.balances:
            yield "assignment: stands alone, since it names the brokers of every replica; leave the other options out"
    elif not (named or wish.balances or wish.leaders == "balance"):
        yield (
            "no change is asked for; set rebalance, add, drain, replace, replication_factor, fix_racks, assignment or "
            "leaders: balance"
        )
    if wish.topic_spread and not wish.balances:
        yield "topic_spread: goes with rebalance or add; set one of them, or leave it out"
    if wish.topic_spread and wish.balance_by == "bytes":
        yield "topic_spread: says how many replicas brokers hold, which by bytes is left as it comes; choose one"
    if wish.replace and wish.balances:
        yield "replace: says who takes whose place, so it cannot go with rebalance or add; do one after the other"
    if wish.rack_rule not in RACK_RULES:
        yield f"rack_rule: '{wish.rack_rule}' is not one of {', '.join(RACK_RULES)}"
    if wish.leaders not in LEADERS:
        yield f"leaders: '{wish.leaders}' is not one of {', '.join(LEADERS)}"


def _of_topics(cluster: Cluster, wish: Wish) -> Iterator[str]:
    if wish.topics and wish.assignment is not None:
        yield "topics: an assignment names its partitions itself; leave topics out"
    for topic in wish.topics:
        if topic not in cluster.topics:
            yield f"topics: topic {topic} does not exist{near(topic, cluster.topics)}; name a topic of the cluster"
    for topic in sorted(wish.replication_factor) if wish.topics else ():
        if topic not in wish.topics:
            yield f"replication_factor: topic {topic} is not one of topics, so it would stay as it is; add it there"


def _of_brokers(wish: Wish, brokers: tuple[BrokerSpec, ...]) -> Iterator[str]:
    known = {broker.id: broker for broker in brokers}
    named = [("drain", wish.drain), ("replace", [*wish.replace, *wish.replace.values()])]
    for option, numbers in named:
        yield from (f"{option}: broker {n} is not known to the cluster{has(known)}" for n in numbers if n not in known)
    taking = {broker.id for broker in receivers(brokers, wish)}
    for old, new in wish.replace.items():
        if new in known and new not in taking:
            yield f"replace: broker {new} cannot take the place of {old}: it is {_why_not(known[new], wish)}"
    for new, times in Counter(wish.replace.values()).items():
        if times > 1:
            yield f"replace: broker {new} would take the place of {times} brokers; one takes one place"
    for added in wish.add:
        if known[added.id].state == "dead" or added.id in wish.drain:
            yield f"add: broker {added.id} cannot take replicas: it is {_why_not(known[added.id], wish)}"
    if not taking:
        yield "no broker is left that may hold replicas; leave at least one alive, neither drained nor excluded"


def has(known: Iterable[int]) -> str:
    """Which brokers a cluster has, for the end of a sentence about one that it does not have."""
    listed = sorted(known)
    return f", which has {', '.join(map(str, listed[:20]))}{' ...' if len(listed) > 20 else ''}"


def _why_not(broker: BrokerSpec, wish: Wish) -> str:
    if broker.id in wish.drain:
        return "drained by the same call"
    if broker.id in wish.replace:
        return "replaced by the same call"
    return {"dead": "not alive (fenced or not registered); start it first"}.get(broker.state, broker.state)


def _of_racks(wish: Wish, brokers: tuple[BrokerSpec, ...]) -> Iterator[str]:
    if wish.rack_rule == "none":
        return
    counted = [broker for broker in brokers if broker.state != "dead"]
    without = [broker.id for broker in counted if not broker.rack]
    if without and len(without) < len(counted):
        yield (
            f"broker.rack: brokers {shown(without)} have none while others have one; give every broker a rack, "
            "an added one where it is added, or set rack_rule: none"
        )
    more = wish.balances or wish.drain or wish.replace or wish.replication_factor or wish.leaders == "balance"
    if wish.fix_racks and not more and len(without) == len(counted):
        yield "fix_racks: no broker has a rack; set broker.rack on every broker first"


def _of_replication(cluster: Cluster, wish: Wish, taking: int) -> Iterator[str]:
    known = {name: number for number, name in enumerate(cluster.topics)}
    for topic, factor in sorted(wish.replication_factor.items()):
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
                f"there are {taking}; set at most {taking}, or add brokers first"
            )
        elif factor < cluster.min_insync[known[topic]]:
            yield (
                f"replication_factor: {factor} for topic {topic} is below its min.insync.replicas "
                f"{cluster.min_insync[known[topic]]}, so every acks=all write would fail; lower that first"
            )
    if wish.balances or wish.drain:
        most = max(map(len, cluster.replicas), default=0)
        if 0 < taking < most:
            yield (
                f"{taking} brokers may hold replicas, too few for partitions with {most}; add brokers, drain fewer, or "
                "lower the replication factor first"
            )


def _of_bytes(cluster: Cluster, wish: Wish, dead: set[int]) -> Iterator[str]:
    if wish.balance_by not in BALANCED_BY:
        yield f"balance_by: '{wish.balance_by}' is not one of {', '.join(BALANCED_BY)}"
    if not 0 <= wish.bytes_tolerance < math.inf:
        yield (
            f"bytes_tolerance: {wish.bytes_tolerance} is not a fraction of 0 or more; 0.1 lets a broker hold a tenth "
            "more bytes than its share"
        )
    if wish.balance_by != "bytes":
        return
    if not wish.balances:
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


def assigned(cluster: Cluster, wish: Wish) -> list[Change]:
    """The changes that a sound assignment asks for, ordered by partition."""
    where = cluster.places()
    changes = []
    for topic, number, wanted in wish.assignment or ():
        partition = where[topic, number]
        if cluster.replicas[partition] != tuple(wanted):
            changes.append(Change(partition, cluster.replicas[partition], tuple(wanted), ("assigned by name",)))
    return sorted(changes, key=lambda change: change.partition)


def assignment_violations(cluster: Cluster, wish: Wish, brokers: tuple[BrokerSpec, ...]) -> list[str]:
    """All that is wrong with an explicit assignment, empty when nothing is."""
    known = {broker.id: broker for broker in brokers}
    where = cluster.places()
    found, seen = [], set()
    for topic, number, wanted in wish.assignment or ():
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
            elif known[broker].state in ("draining", "excluded") and broker not in had:
                found.append(f"{name}: broker {broker} is {known[broker].state} and takes no new replica")
        if wanted and len(wanted) != len(had) and wish.replication_factor.get(topic) != len(wanted):
            found.append(
                f"{name}: has {len(had)} replicas and would have {len(wanted)}; a change of the replication factor "
                "is set by replication_factor"
            )
        if wanted and len(wanted) < min(len(had), cluster.min_insync[cluster.topic_of[partition]]):
            found.append(f"{name}: {len(wanted)} replicas are fewer than its min.insync.replicas; lower that first")
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on how many copies there are: quorum size, racks, replication factors, min.insync.replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ....module_utils._core.names import capped
from ...inventory.model import Cluster, Inventory, Node, Topic
from ...inventory.properties import Property
from ...inventory.variables import as_bool, as_int
from ...inventory.variables import names as names_in
from ..rule import BY_PROFILE, WARNING, Problem, rule

MIN_ISR = "min.insync.replicas"
DEFAULT_RF = "default.replication.factor"
UNCLEAN = "unclean.leader.election.enable"
INTERNAL_RF = (
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)
# With three copies and two in sync, one broker can be down (a roll, a fault) and acks=all writes go on.
PRODUCTION_RF = 3
PRODUCTION_MIN_ISR = 2
_NAMES_SHOWN = 5


@rule(
    variable="kraft_controllers",
    allowed="an odd number from 3 on",
    fix="run 3 controllers, or 5 to survive the loss of two; one alone is for kafka_profile development",
    level=BY_PROFILE,
    acceptable=True,
)
def even_quorum(inventory: Inventory) -> Iterator[Problem]:
    """A cluster has an even number of controllers, which survives no more than one fewer, or fewer than 3."""
    for cluster in inventory.clusters():
        # Those that leave vote until a run of voters.yml has taken them out.
        count = sum(not leaves(node) for node in cluster.controllers)
        if is_weak_quorum(count):
            # A running quorum may have other voters: guards/registered.py compares them once the cluster was asked.
            what = f"a quorum of the controllers that the inventory has of cluster {cluster.name} {survives(count)}"
            yield Problem(cluster.controllers, what, f"{count} controllers")


def leaves(node: Node) -> bool:
    """Say whether this run takes a controller out; in any other run a name left in the inventory means nothing."""
    changes = as_bool(node.get("_common_changes_voters", False))
    return changes and node.name in names_in(node.get("kafka_controllers_leaving", []))


def is_weak_quorum(count: int) -> bool:
    """Return whether a quorum of so many has one member too many, or survives nothing."""
    return count > 0 and (count < 3 or count % 2 == 0)


def survives(count: int, members: str = "") -> str:
    """Say what majority a quorum needs; members is what to call them."""
    majority = count // 2 + 1
    return f"needs {majority} of {count}{members} and survives the loss of {count - majority}"


@rule(variable="kafka_rack", fix="set kafka_rack on these hosts, or remove it from all")
def missing_racks(inventory: Inventory) -> Iterator[Problem]:
    """Some brokers of a cluster have a `kafka_rack`, others have none."""
    for cluster in inventory.clusters():
        without = [node for node in cluster.brokers if not node.text("kafka_rack")]
        if without and len(without) < len(cluster.brokers):
            what = f"some brokers of cluster {cluster.name} have a rack, others have none"
            yield Problem(without, what, f"none on {len(without)} of {len(cluster.brokers)} brokers")


@rule(
    variable="kafka_rack",
    fix="add a rack, or expect that losing one rack may lose that many copies",
    level=WARNING,
)
def few_racks(inventory: Inventory) -> Iterator[Problem]:
    """A cluster has fewer racks than a partition has copies, so one rack holds several of them. With
    `kafka_survive_rack_loss` the rule `rack_loss_ends_writes` says whether that is too many."""
    for cluster in inventory.clusters():
        if cluster.nodes[0].get("kafka_survive_rack_loss"):
            continue
        racks = {node.text("kafka_rack") for node in cluster.brokers}
        factors = [topic.replication_factor or 0 for topic in cluster.topics()]
        factors += [as_int(cluster.properties(node)[DEFAULT_RF].value) or 0 for node in cluster.brokers]
        highest = max(factors, default=0)
        if "" not in racks and 0 < len(racks) < highest:
            most = -(-highest // len(racks))
            yield Problem(
                cluster.brokers,
                f"cluster {cluster.name} has fewer racks than copies of a partition,"
                f" so one rack holds up to {most} of {highest} copies",
                found=f"{len(racks)} racks ({', '.join(sorted(racks))}), replication factor {highest}",
            )


@rule(fix="lower the number, or add brokers")
def more_replicas_than_brokers(inventory: Inventory) -> Iterator[Problem]:
    """A topic, or `default.replication.factor`, has more copies than the cluster has brokers."""
    for cluster in inventory.clusters():
        brokers = cluster.broker_count
        topics = [topic for topic in cluster.topics() if brokers and (topic.replication_factor or 0) > brokers]
        for factor, names in _grouped(topics, lambda topic: topic.replication_factor):
            yield Problem(
                cluster,
                f"more copies than brokers for {names}",
                found=f"replication_factor {factor} with {brokers} brokers",
                allowed=f"1 to {brokers}",
                variable="kafka_topics",
            )
    yield from _factors_above(inventory, [DEFAULT_RF], "")


@rule(fix="lower the number, or add brokers")
def more_internal_replicas_than_brokers(inventory: Inventory) -> Iterator[Problem]:
    """Internal topics have more copies than the cluster has brokers; group commits or transactions fail much later."""
    yield from _factors_above(inventory, INTERNAL_RF, "; group commits or transactions would fail much later")


def _factors_above(inventory: Inventory, keys: Iterable[str], later: str) -> Iterator[Problem]:
    for cluster in inventory.clusters():
        for node, one, factor in _factors(cluster, keys):
            if factor > cluster.broker_count:
                yield Problem(
                    node,
                    f"more copies than cluster {cluster.name} has brokers{later}",
                    found=f"{factor} with {cluster.broker_count} brokers",
                    allowed=f"1 to {cluster.broker_count}",
                    variable=one.variable,
                )


def _factors(cluster: Cluster, keys: Iterable[str]) -> Iterator[tuple[Node, Property, int]]:
    """The replication factors among these keys that the inventory sets for the brokers of a cluster."""
    for node in cluster.brokers:
        own = node.properties()
        for key in keys:
            factor = as_int(own[key].value) if key in own else None
            if factor is not None:
                yield node, own[key], factor


def _both(cluster: Cluster, node: Node, factor: str, least: str) -> Iterator[tuple[int, int, str]]:
    """Copies and least copies in sync of a broker, ours where the inventory sets one of the two, and the variable to
    blame."""
    found = cluster.properties(node)
    set_ones = [found[key] for key in (least, factor) if found[key].origin]
    numbers = as_int(found[factor].value), as_int(found[least].value)
    if set_ones and numbers[0] is not None and numbers[1] is not None:
        yield numbers[0], numbers[1], set_ones[0].variable


@rule(
    fix="lower transaction.state.log.min.isr, or raise transaction.state.log.replication.factor",
    acceptable=True,
)
def transaction_log_min_isr(inventory: Inventory) -> Iterator[Problem]:
    """`transaction.state.log.min.isr` is above the number of copies of that log; Kafka then asks for these only."""
    log = "transaction.state.log"
    for cluster in inventory.clusters():
        for node in cluster.brokers:
            for factor, least, variable in _both(cluster, node, f"{log}.replication.factor", f"{log}.min.isr"):
                if least > factor:
                    what = "more copies of the transaction log must be in sync than it has: Kafka asks for these only"
                    yield Problem(node, what, f"{least} of {factor}", f"1 to {factor}", variable=variable)


@rule(fix=f"lower {MIN_ISR}, or raise the replication factor", acceptable=True)
def min_isr_above_replicas(inventory: Inventory) -> Iterator[Problem]:
    """`min.insync.replicas` is above the number of copies; Kafka then asks for no more than these, and says nothing."""
    for problem, _cluster, factor, least in _min_isr(inventory):
        if least > factor:
            yield problem(
                "more copies must be in sync than there are{}: Kafka asks for no more than there are, and says nothing"
            )


@rule(fix=f"lower {MIN_ISR}, or raise the replication factor", level=BY_PROFILE, acceptable=True)
def min_isr_equals_replicas(inventory: Inventory) -> Iterator[Problem]:
    """`min.insync.replicas` equals the number of copies, so no broker can restart without refusing writes."""
    for problem, cluster, factor, least in _min_isr(inventory):
        # One copy alone in production is too few in any case.
        if least == factor and (factor > 1 or not cluster.production):
            yield problem(
                "every copy must be in sync{}, so no broker can be restarted without refusing acks=all writes"
            )


def _min_isr(inventory: Inventory) -> Iterator[tuple[Callable[[str], Problem], Cluster, int, int]]:
    """Each pair of copies and least copies in sync, of topics and of brokers' defaults, and how to complain of it."""

    def complaint(where: Any, variable: str, of: str, factor: int, least: int) -> Callable[[str], Problem]:
        """Return what makes a problem of these numbers from what is wrong with them."""
        found = f"{MIN_ISR} {least} with replication factor {factor}"
        allowed = f"at most {factor - 1}" if factor > 1 else "a replication factor above 1"
        fix = None if factor > 1 else "raise the replication factor"
        return lambda what: Problem(where, what.format(of), found, allowed, fix, variable)

    for cluster in inventory.clusters():
        values = [node.value(MIN_ISR) for node in cluster.brokers]
        fallback = next((value for value in values if value is not None), None)

        def pair(topic: Topic, fallback: Any = fallback) -> tuple[int | None, int | None]:
            """Copies, and how many of them must be in sync."""
            return topic.replication_factor, as_int(topic.config.get(MIN_ISR, fallback))

        pairs: list[tuple[Any, str, str, int | None, int | None]] = [
            (cluster, "kafka_topics", f" for {names}", factor, least)
            for (factor, least), names in _grouped(cluster.topics(), pair)
        ]
        for node in cluster.brokers:
            for copies, in_sync, blamed in _both(cluster, node, DEFAULT_RF, MIN_ISR):
                pairs.append((node, blamed, "", copies, in_sync))
        for where, variable, of, factor, least in pairs:
            if factor is not None and least is not None and factor >= 1:
                yield complaint(where, variable, of, factor, least), cluster, factor, least


@rule(fix="remove it", level=BY_PROFILE, acceptable=True)
def unclean_election(inventory: Inventory) -> Iterator[Problem]:
    """Unclean leader election is on, for brokers or a topic: acknowledged records can be lost."""
    for _cluster, where, variable, of, value in _values(inventory, UNCLEAN):
        if as_bool(value):
            what = f"a copy that lags may become leader and acknowledged records are lost{of}"
            yield Problem(where, what, f"{UNCLEAN} true", variable=variable)


@rule(
    allowed=f"{PRODUCTION_MIN_ISR} or more in the production profile",
    fix=f"raise {MIN_ISR}, or remove it",
    acceptable=True,
)
def low_min_isr(inventory: Inventory) -> Iterator[Problem]:
    """In production `min.insync.replicas` is below 2, for brokers or a topic."""
    for cluster, where, variable, of, value in _values(inventory, MIN_ISR):
        least = as_int(value)
        if least is not None and least < PRODUCTION_MIN_ISR and cluster.production:
            what = f"acks=all is answered when a single copy has the record{of}"
            yield Problem(where, what, f"{MIN_ISR} {least}", variable=variable)


def _values(inventory: Inventory, key: str) -> Iterator[tuple[Cluster, Any, str, str, Any]]:
    """A property as brokers and topics set it: (cluster, where, variable, of which topic, value)."""
    for cluster in inventory.clusters():
        for node in cluster.brokers:
            one = node.properties().get(key)
            if one is not None:
                yield cluster, node, one.variable, "", one.value
        for topic in cluster.topics():
            yield cluster, cluster, "kafka_topics", f", for topic {topic.name}", topic.config.get(key)


@rule(
    variable="kafka_brokers",
    allowed=f"{PRODUCTION_RF} or more in the production profile",
    fix="add brokers, or set kafka_profile to development",
    acceptable=True,
)
def few_brokers(inventory: Inventory) -> Iterator[Problem]:
    """A production cluster has fewer than 3 brokers."""
    for cluster in inventory.clusters():
        count = cluster.broker_count
        if cluster.production and 0 < count < PRODUCTION_RF:
            what = f"cluster {cluster.name} cannot keep {PRODUCTION_RF} copies of a partition"
            yield Problem(cluster.brokers, what, f"{count} brokers")


@rule(
    allowed=f"{PRODUCTION_RF} or more in the production profile",
    fix="raise it, or set kafka_profile to development",
    acceptable=True,
)
def few_replicas(inventory: Inventory) -> Iterator[Problem]:
    """In production topics, internal topics or `default.replication.factor` have fewer than 3 copies."""
    for cluster in inventory.clusters():
        if not cluster.production:
            continue
        low = [topic for topic in cluster.topics() if 1 <= (topic.replication_factor or 0) < PRODUCTION_RF]
        for factor, names in _grouped(low, lambda topic: topic.replication_factor):
            what = f"too few copies for {names}"
            yield Problem(cluster, what, f"replication_factor {factor}", variable="kafka_topics")
        for node, one, number in _factors(cluster, (DEFAULT_RF, *INTERNAL_RF)):
            if number < PRODUCTION_RF:
                yield Problem(node, "too few copies", number, variable=one.variable)


def _grouped(topics: Iterable[Topic], key: Callable[[Topic], Any]) -> Iterator[tuple[Any, str]]:
    """Topics with the same key as one: (key, "topics a, b and 3 more")."""
    groups: dict[Any, list[str]] = {}
    for topic in topics:
        groups.setdefault(key(topic), []).append(topic.name)
    for value, names in groups.items():
        yield value, topic_names(names)


def topic_names(names: list[str]) -> str:
    """The names for a message, a long list cut with the number of the rest."""
    return f"topic{'s' * (len(names) > 1)} {capped(names, _NAMES_SHOWN)}"

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on how many copies there are: quorum size, racks, replication factors, min.insync.replicas."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    Cluster,
    Inventory,
    Topic,
    as_bool,
    as_int,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, WARNING, Violation

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


def quorum(inventory: Inventory) -> Iterator[Violation]:
    """B5: 3 or 5 controllers; an even number costs a machine and tolerates no more."""
    for cluster in inventory.clusters():
        count = len(cluster.controllers)
        if count == 0 or (count >= 3 and count % 2 == 1):
            continue
        majority = count // 2 + 1
        yield Violation(
            "B5", _policy_level(cluster), tuple(node.name for node in cluster.controllers), "kraft_controllers",
            f"the controller quorum of cluster {cluster.name} needs {majority} of {count}"
            f" and survives the loss of {count - majority}",
            f"{count} controllers", "an odd number from 3 on",
            "run 3 controllers, or 5 to survive the loss of two; one alone is for kafka_profile development",
            policy=True,
        )  # fmt: skip


def racks_partial(inventory: Inventory) -> Iterator[Violation]:
    """B7: kafka_rack stands on all brokers of a cluster or on none."""
    for cluster in inventory.clusters():
        without = tuple(node.name for node in cluster.brokers if not node.text("kafka_rack"))
        if without and len(without) < len(cluster.brokers):
            yield Violation(
                "B7", ERROR, without, "kafka_rack", f"some brokers of cluster {cluster.name} have a rack, others none",
                f"none on {len(without)} of {len(cluster.brokers)} brokers", "a rack on every broker or on none",
                "set kafka_rack on these hosts, or take it away from all",
            )  # fmt: skip


def racks_few(inventory: Inventory) -> Iterator[Violation]:
    """B7: fewer racks than copies means that a lost rack can take several copies with it."""
    for cluster in inventory.clusters():
        racks = {node.text("kafka_rack") for node in cluster.brokers}
        factors = [topic.replication_factor or 0 for topic in cluster.topics()]
        factors += [as_int(node.config().get(DEFAULT_RF)) or 0 for node in cluster.brokers]
        highest = max(factors, default=0)
        if "" not in racks and 0 < len(racks) < highest:
            most = -(-highest // len(racks))
            yield Violation(
                "B7", WARNING, tuple(node.name for node in cluster.brokers), "kafka_rack",
                f"cluster {cluster.name} has fewer racks than copies of a partition,"
                f" so one rack holds up to {most} of {highest} copies",
                f"{len(racks)} racks ({', '.join(sorted(racks))}), replication factor {highest}",
                "as many racks as copies", "add a rack, or know that losing one rack may lose that many copies",
            )  # fmt: skip


def topic_factor_too_high(inventory: Inventory) -> Iterator[Violation]:
    """B8: no more copies of a topic than brokers."""
    for cluster in inventory.clusters():
        brokers = len(cluster.brokers)
        topics = [topic for topic in cluster.topics() if brokers and (topic.replication_factor or 0) > brokers]
        for factor, names in _grouped(topics, lambda topic: topic.replication_factor):
            yield Violation(
                "B8", ERROR, cluster.hosts, "kafka_topics", f"more copies than brokers for {names}",
                f"replication_factor {factor} with {brokers} brokers", f"1 to {brokers}",
                "lower replication_factor, or add brokers",
            )  # fmt: skip


def default_factor_too_high(inventory: Inventory) -> Iterator[Violation]:
    """B8 and B11: the factors that brokers use by themselves fit the number of brokers."""
    for cluster in inventory.clusters():
        brokers = len(cluster.brokers)
        for node in cluster.brokers:
            for key in (DEFAULT_RF, *INTERNAL_RF):
                factor = as_int(node.config().get(key))
                if factor is not None and factor > brokers:
                    later = "; group commits or transactions would fail much later" if key in INTERNAL_RF else ""
                    yield Violation(
                        "B11" if key in INTERNAL_RF else "B8", ERROR, (node.name,), f"kafka_config['{key}']",
                        f"more copies than cluster {cluster.name} has brokers{later}",
                        f"{factor} with {brokers} brokers",
                        f"1 to {brokers}", "lower the value, or add brokers",
                    )  # fmt: skip


def transaction_min_isr(inventory: Inventory) -> Iterator[Violation]:
    """B11: the transaction log's own min.isr is no higher than its number of copies."""
    for node in inventory.nodes:
        factor = as_int(node.config().get("transaction.state.log.replication.factor"))
        least = as_int(node.config().get("transaction.state.log.min.isr"))
        if factor is not None and least is not None and least > factor:
            yield Violation(
                "B11", ERROR, (node.name,), "kafka_config['transaction.state.log.min.isr']",
                "the transaction log wants more copies in sync than it has", f"{least} of {factor}", f"1 to {factor}",
                "lower it, or raise transaction.state.log.replication.factor",
            )  # fmt: skip


def topic_min_isr(inventory: Inventory) -> Iterator[Violation]:
    """B9: each topic's min.insync.replicas, its own or the brokers', is below its number of copies."""
    for cluster in inventory.clusters():
        fallback = _broker_value(cluster, MIN_ISR)

        def pair(topic: Topic, fallback: Any = fallback) -> tuple[int | None, int | None]:
            """Copies, and how many of them must be in sync."""
            return topic.replication_factor, as_int(topic.config.get(MIN_ISR, fallback))

        for (factor, least), names in _grouped(cluster.topics(), pair):
            yield from _min_isr(cluster, cluster.hosts, "kafka_topics", f" for {names}", factor, least)


def default_min_isr(inventory: Inventory) -> Iterator[Violation]:
    """B9: the brokers' min.insync.replicas is below their default.replication.factor."""
    for cluster in inventory.clusters():
        for node in cluster.brokers:
            factor, least = as_int(node.config().get(DEFAULT_RF)), as_int(node.config().get(MIN_ISR))
            yield from _min_isr(cluster, (node.name,), f"kafka_config['{MIN_ISR}']", "", factor, least)


def _min_isr(
    cluster: Cluster, hosts: tuple[str, ...], variable: str, of: str, factor: int | None, least: int | None
) -> Iterator[Violation]:
    if factor is None or least is None or factor < 1 or least < factor:
        return
    found = f"{MIN_ISR} {least} with replication factor {factor}"
    allowed = f"at most {factor - 1}" if factor > 1 else "a replication factor above 1"
    way_out = f"lower {MIN_ISR}, or raise the replication factor" if factor > 1 else "raise the replication factor"
    if least > factor:
        what = f"more copies must be in sync than there are{of} (Kafka accepts it and silently asks for fewer)"
        yield Violation("B9", ERROR, hosts, variable, what, found, allowed, way_out)
    elif factor > 1 or not cluster.production:  # one copy alone in production is C13
        what = f"every copy must be in sync{of}, so no broker can be restarted without refusing acks=all writes"
        yield Violation("B9", _policy_level(cluster), hosts, variable, what, found, allowed, way_out, policy=True)


def weak_settings(inventory: Inventory) -> Iterator[Violation]:
    """B10: in production no unclean election and at least two copies in sync, for brokers and for topics."""
    for cluster in inventory.clusters():
        for node in cluster.brokers:
            for what, found, allowed in _weak(cluster, node.config()):
                yield _weak_violation(cluster, (node.name,), "kafka_config", what, found, allowed)
        for topic in cluster.topics():
            for what, found, allowed in _weak(cluster, topic.config):
                yield _weak_violation(
                    cluster, cluster.hosts, "kafka_topics", f"{what}, for topic {topic.name}", found, allowed
                )


def _weak(cluster: Cluster, config: Any) -> Iterator[tuple[str, str, str]]:
    """What is weak in a properties dict, as (what, found, allowed)."""
    if as_bool(config.get(UNCLEAN)):
        yield "a copy that lags may become leader and acknowledged records are lost", f"{UNCLEAN} true", "false"
    least = as_int(config.get(MIN_ISR))
    if least is not None and least < PRODUCTION_MIN_ISR and cluster.production:
        yield (
            "acks=all is answered when a single copy has the record",
            f"{MIN_ISR} {least}",
            f"{PRODUCTION_MIN_ISR} or more in the production profile",
        )


def _weak_violation(
    cluster: Cluster, hosts: tuple[str, ...], variable: str, what: str, found: str, allowed: str
) -> Violation:
    way_out = "take it out, or consent by adding B10 to preflight_accept"
    return Violation("B10", _policy_level(cluster), hosts, variable, what, found, allowed, way_out, policy=True)


def production_brokers(inventory: Inventory) -> Iterator[Violation]:
    """C13: a production cluster has brokers enough for three copies."""
    for cluster in inventory.clusters():
        count = len(cluster.brokers)
        if cluster.production and 0 < count < PRODUCTION_RF:
            yield _production(
                tuple(node.name for node in cluster.brokers), "kafka_brokers",
                f"cluster {cluster.name} cannot keep {PRODUCTION_RF} copies of a partition", f"{count} brokers",
            )  # fmt: skip


def production_factors(inventory: Inventory) -> Iterator[Violation]:
    """C13: in production every topic has three copies, the internal ones too."""
    for cluster in inventory.clusters():
        if not cluster.production:
            continue
        low = [topic for topic in cluster.topics() if 1 <= (topic.replication_factor or 0) < PRODUCTION_RF]
        for factor, names in _grouped(low, lambda topic: topic.replication_factor):
            yield _production(
                cluster.hosts, "kafka_topics", f"too few copies for {names}", f"replication_factor {factor}"
            )
        for node in cluster.brokers:
            for key in (DEFAULT_RF, *INTERNAL_RF):
                factor = as_int(node.config().get(key))
                if factor is not None and factor < PRODUCTION_RF:
                    yield _production((node.name,), f"kafka_config['{key}']", "too few copies", str(factor))


def _production(hosts: tuple[str, ...], variable: str, what: str, found: str) -> Violation:
    return Violation(
        "C13", ERROR, hosts, variable, what, found, f"{PRODUCTION_RF} or more in the production profile",
        "raise it, set kafka_profile to development, or consent by adding C13 to preflight_accept", policy=True,
    )  # fmt: skip


def _policy_level(cluster: Cluster) -> str:
    return ERROR if cluster.production else WARNING


def _broker_value(cluster: Cluster, key: str) -> Any:
    """The value of a property on the first broker that sets it."""
    values = [node.config().get(key) for node in cluster.brokers]
    return next((value for value in values if value is not None), None)


def _grouped(topics: Iterable[Topic], key: Callable[[Topic], Any]) -> Iterator[tuple[Any, str]]:
    """Topics with the same key as one: (key, "topics a, b and 3 more")."""
    groups: dict[Any, list[str]] = {}
    for topic in topics:
        groups.setdefault(key(topic), []).append(topic.name)
    for value, names in groups.items():
        yield value, topic_names(names)


def topic_names(names: list[str]) -> str:
    """The names for a message, a long list cut with the number of the rest."""
    shown = ", ".join(names[:_NAMES_SHOWN])
    rest = len(names) - _NAMES_SHOWN
    return f"topic{'s' * (len(names) > 1)} {shown}" + (f" and {rest} more" if rest > 0 else "")


RULES = (
    quorum,
    racks_partial,
    racks_few,
    topic_factor_too_high,
    default_factor_too_high,
    transaction_min_isr,
    topic_min_isr,
    default_min_isr,
    weak_settings,
    production_brokers,
    production_factors,
)

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on topics: names, numbers, keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.module_utils._core.topic_names import allowed_instead
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Cluster, Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.keys import TOPIC_KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.properties import nearest
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation

INTERNAL_TOPICS = (
    "__consumer_offsets",
    "__transaction_state",
    "__share_group_state",
    "__cluster_metadata",
    "__remote_log_metadata",
)
# Topics that this collection makes for itself (smoke test, state of a run).
OWN_PREFIX = "_streamops_"


def numbers(inventory: Inventory) -> Iterator[Violation]:
    """B12: at least one partition and one copy."""
    for cluster in inventory.clusters():
        for topic in cluster.topics():
            for field, value in (("partitions", topic.partitions), ("replication_factor", topic.replication_factor)):
                if value is not None and value < 1:
                    yield _violation(
                        cluster, "B12", f"topic {topic.name} has an impossible number", f"{field} {value}", "1 or more",
                        f"correct {field}, or leave it out to get the cluster's default",
                    )  # fmt: skip


def names(inventory: Inventory) -> Iterator[Violation]:
    """B14: names that Kafka refuses and names that are not the user's to take."""
    for cluster in inventory.clusters():
        for topic in cluster.all_topics():
            allowed = _allowed_instead(topic.name)
            if allowed:
                yield _violation(
                    cluster, "B14", "the topic name cannot be used", _shown(topic.name), allowed, "choose another name"
                )


def _allowed_instead(name: str) -> str | None:
    """What a bad topic name would have to be; None for a good one."""
    illegal = allowed_instead(name)
    if illegal:
        return illegal
    if name in INTERNAL_TOPICS:
        return "no topic that Kafka keeps for itself"
    if name.startswith(OWN_PREFIX):
        return f"no name that starts with {OWN_PREFIX}, which this collection keeps for itself"
    return None


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:57]}...")


def names_twice(inventory: Inventory) -> Iterator[Violation]:
    """B14: each topic once in the list."""
    for cluster in inventory.clusters():
        listed = Counter(topic.name for topic in cluster.all_topics())
        for name, times in listed.items():
            if times == 1:
                continue
            yield _violation(
                cluster, "B14", "the topic is listed more than once", f"{_shown(name)} {times} times",
                "once", "keep one entry",
            )  # fmt: skip


def names_collide(inventory: Inventory) -> Iterator[Violation]:
    """B14: names that differ in '.' and '_' only share the names of their metrics; Kafka refuses the second one."""
    for cluster in inventory.clusters():
        alike: dict[str, list[str]] = {}
        for name in dict.fromkeys(topic.name for topic in cluster.topics()):
            alike.setdefault(name.replace(".", "_"), []).append(name)
        for colliding in alike.values():
            if len(colliding) > 1:
                yield _violation(
                    cluster, "B14", "topic names collide: to Kafka's metrics '.' and '_' are the same",
                    " and ".join(map(_shown, colliding)), "names that differ in more than '.' and '_'",
                    "rename all but one of them",
                )  # fmt: skip


def keys(inventory: Inventory) -> Iterator[Violation]:
    """B16: topic keys that the wanted Kafka version does not know."""
    for cluster in inventory.clusters():
        known = TOPIC_KEYS.get(cluster.version)
        if known is None:
            continue
        for topic in cluster.topics():
            for key in topic.config:
                if key not in known:
                    yield _violation(
                        cluster, "B16", f"Kafka {cluster.version} does not know this key of topic {topic.name}", key,
                        "a topic key of this version", nearest(key, known),
                    )  # fmt: skip


def _violation(cluster: Cluster, rule: str, what: str, found: str, allowed: str, way_out: str) -> Violation:
    return Violation(rule, ERROR, cluster.hosts, "kafka_topics", what, found, allowed, way_out)


RULES = (numbers, names, names_twice, names_collide, keys)

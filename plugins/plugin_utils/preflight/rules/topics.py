# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on topics: names, numbers, keys."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ....module_utils._core.names import KAFKAS_OWN, allowed_instead
from ...guards.replace import CONSENT, topic_names
from ...inventory.model import Inventory
from ...specs import advice
from ..by_value import by_value
from ..definitions import TOPIC_KEYS
from ..rule import Problem, rule
from .properties import refused_value

# Topics that this collection makes for itself (smoke test, state of a run).
OWN_PREFIX = "_streamops_"


@rule(variable="kafka_topics", allowed="1 or more", fix="correct it, or remove it to get the default")
def topic_numbers(inventory: Inventory) -> Iterator[Problem]:
    """A topic has fewer than one partition or replica."""
    for cluster in inventory.clusters():
        for topic in cluster.topics():
            for field, value in (("partitions", topic.partitions), ("replication_factor", topic.replication_factor)):
                if value is not None and value < 1:
                    yield Problem(cluster, f"topic {topic.name} has an impossible number", f"{field} {value}")


@rule(variable="kafka_topics", fix="choose another name")
def bad_topic_name(inventory: Inventory) -> Iterator[Problem]:
    """A topic has a name that Kafka refuses (characters, over 249 of them, `.` and `..`), that Kafka keeps for itself,
    or that this collection keeps for itself (`_streamops_`)."""
    for cluster in inventory.clusters():
        for topic in cluster.all_topics():
            allowed = _allowed_instead(topic.name)
            if allowed:
                yield Problem(cluster, "the topic name cannot be used", _shown(topic.name), allowed)


def _allowed_instead(name: str) -> str | None:
    """Return what a bad topic name would have to be; None for a good one."""
    illegal = allowed_instead(name)
    if illegal:
        return illegal
    if name in KAFKAS_OWN:
        return "no topic that Kafka keeps for itself"
    if name.startswith(OWN_PREFIX):
        return f"no name that starts with {OWN_PREFIX}, which this collection keeps for itself"
    return None


def _shown(name: str) -> str:
    return repr(name if len(name) <= 60 else f"{name[:57]}...")


@rule(variable="kafka_topics", fix="keep one entry")
def duplicate_topic(inventory: Inventory) -> Iterator[Problem]:
    """A topic is listed more than once."""
    for cluster in inventory.clusters():
        for name, times in Counter(topic.name for topic in cluster.all_topics()).items():
            if times > 1:
                yield Problem(cluster, "the topic is listed more than once", f"{_shown(name)} {times} times")


@rule(
    variable="kafka_topics",
    allowed="names that differ in more than '.' and '_'",
    fix="rename all but one of them",
)
def colliding_topics(inventory: Inventory) -> Iterator[Problem]:
    """Two topics differ in `.` and `_` only (`a.b`, `a_b`): their metrics share a name, so Kafka refuses the second."""
    for cluster in inventory.clusters():
        alike: dict[str, list[str]] = {}
        for name in dict.fromkeys(topic.name for topic in cluster.topics()):
            alike.setdefault(name.replace(".", "_"), []).append(name)
        for colliding in alike.values():
            if len(colliding) > 1:
                yield Problem(
                    cluster,
                    "topic names collide: in names of metrics '.' and '_' are the same",
                    found=" and ".join(map(_shown, colliding)),
                )


@rule(variable="kafka_topics", fix="correct the key or remove it")
def unknown_topic_key(inventory: Inventory) -> Iterator[Problem]:
    """A key of a topic's config is unknown to the Kafka version."""
    for cluster in inventory.clusters():
        known = TOPIC_KEYS.get(cluster.version)
        if known is None:
            continue
        for topic in cluster.topics():
            for key in topic.config:
                if key not in known:
                    what = f"Kafka {cluster.version} does not know this key of topic {topic.name}"
                    yield Problem(cluster, what, key, fix=advice(key, known))


@rule(variable="kafka_topics", fix="correct the value, or remove the key to get the default")
def bad_topic_value(inventory: Inventory) -> Iterator[Problem]:
    """A key of a topic's config has a value that the Kafka version refuses: not of the key's type, out of its range, or
    none of its words."""
    for cluster in inventory.clusters():
        known = TOPIC_KEYS.get(cluster.version, {})
        for topic in cluster.topics():
            for key, value in topic.config.items():
                for found, allowed in refused_value(key, value, known.get(key)):
                    what = f"Kafka refuses this value of {key} of topic {topic.name}"
                    yield Problem(cluster, what, found, allowed)


@rule(variable=CONSENT, fix="name each topic, or remove the variable; there is no name for all topics")
def bad_lost_topics(inventory: Inventory) -> Iterator[Problem]:
    """`kafka_replace_lost_topics` is no list of topics, or names one that cannot exist, such as `*` or `a;b`."""
    for given, nodes in by_value(inventory.nodes, CONSENT):
        try:
            topic_names(given)
        except ValueError as error:
            yield Problem(nodes, str(error).removeprefix(f"{CONSENT} "))

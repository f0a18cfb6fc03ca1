# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rule on records that a source takes and a mirror cannot write into its target.

MirrorMaker 2 creates a topic of the target with what the topic of the source sets, and copies that again and again with
sync_topic_configs. It copies nothing that the brokers of the source set (MirrorSourceConnector.targetConfig).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ....module_utils._mirror.flows import LEGACY, Flow, matches, remote_topic
from ...inventory.model import Cluster, Inventory
from ...inventory.variables import as_int, known
from ...mirrors.tuning import PRODUCER
from ..in_force import Number, number
from ..mirror_flows import VARIABLE, flows, kafka_clusters, mirrors_of, where
from ..rule import WARNING, Problem, rule
from .sizes import MESSAGE, TOPIC_MESSAGE

_REQUEST = "max.request.size"


@rule(
    variable=VARIABLE,
    fix="raise the limit of the target or of the mirror, or lower that of the source",
    level=WARNING,
    acceptable=True,
)
def mirror_below_message(inventory: Inventory) -> Iterator[Problem]:
    """A source takes larger messages (`message.max.bytes`, `max.message.bytes` of a topic) than the producer of a
    mirror (`max.request.size`) or its target: the first of them ends a task of MirrorMaker, which then copies nothing.
    MirrorMaker copies what a topic sets, but nothing that brokers set."""
    clusters = kafka_clusters(inventory)
    for flow in flows(inventory):
        if flow.source not in clusters or flow.target not in clusters:
            continue
        for sent, taken in _steps(flow, clusters[flow.source], clusters[flow.target], _producer(inventory, flow)):
            if sent.value > taken.value:
                what = f"{flow.pair} stops at a message that {flow.source} takes"
                allowed = f"at least {sent.value}"
                yield Problem(where(inventory, flow.target), what, f"{sent} in {flow.source}, {taken}", allowed)


def _steps(flow: Flow, source: Cluster, target: Cluster, producer: Number) -> Iterator[tuple[Number, Number]]:
    """Yield the largest message of the source with what must take it: for all topics, then for those that say one."""
    sent = max(_of_brokers(source), key=_value, default=None)
    taken = min(_of_brokers(target), key=_value, default=None)
    declared = {topic.name: topic.config for topic in target.topics()}
    own = {
        topic.name: as_int(topic.config.get(TOPIC_MESSAGE)) for topic in source.topics() if matches(flow, topic.name)
    }
    # A topic that the inventory does not list, or that says nothing, has what the brokers say.
    is_inherited = any(own.get(pattern) is None for pattern in flow.topics)
    if sent is not None and is_inherited:
        yield sent, producer
        if taken is not None:
            yield sent, _at(flow.target, taken)
    for name, value in own.items():
        if value is None:
            continue
        largest = Number(f"{TOPIC_MESSAGE} of topic {name}", value, "kafka_topics")
        yield largest, producer
        copy = remote_topic(flow, name)
        if not flow.sync_topic_configs and copy in declared and taken is not None:
            there = as_int(declared[copy].get(TOPIC_MESSAGE))
            yield largest, _at(flow.target, taken) if there is None else _of_copy(flow, copy, there)


def _of_brokers(cluster: Cluster) -> Iterable[Number]:
    return [one for broker in cluster.brokers if (one := number(broker, MESSAGE)) is not None]


def _value(one: Number) -> int:
    return one.value


def _at(cluster: str, taken: Number) -> Number:
    return Number(f"{cluster}: {taken.key}", taken.value, taken.variable)


def _of_copy(flow: Flow, copy: str, value: int) -> Number:
    return Number(f"{flow.target}: {TOPIC_MESSAGE} of topic {copy}", value, "kafka_topics")


def _producer(inventory: Inventory, flow: Flow) -> Number:
    """Return what the producer of the mirror sends at most; a flow wins over the mirrors, and ours is the default."""
    if flow.engine == LEGACY:
        places: list[tuple[Mapping[Any, Any], str]] = [(flow.producer_config or {}, _REQUEST)]
    else:
        override = f"producer.override.{_REQUEST}"
        # Of several mirrors the first: mirrors_disagree refuses those that differ.
        ours = next((known(mirror.get("mirror_maker_config")) for mirror in mirrors_of(inventory, flow.target)), {})
        places = [(ours, f"{flow.pair}.{override}"), (flow.config or {}, override), (ours, override)]
        places.append((ours, f"{flow.target}.producer.{_REQUEST}"))
    found = (as_int(properties.get(key)) for properties, key in places)
    value = next((one for one in found if one is not None), as_int(PRODUCER[_REQUEST]) or 0)
    return Number(f"{_REQUEST} of the mirror", value, VARIABLE)

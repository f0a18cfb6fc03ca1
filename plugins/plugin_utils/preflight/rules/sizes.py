# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on sizes of messages, requests and segments that do not go together.

`replica.fetch.max.bytes` and `replica.fetch.response.max.bytes` below a batch stop no follower: the first batch is sent
whole (KIP-74). `offsets.load.buffer.size` and `fetch.max.bytes` give way in the same manner.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...inventory.model import Cluster, Inventory, Node
from ...inventory.variables import as_int
from ..in_force import Number, number, written
from ..rule import WARNING, Problem, rule

MESSAGE, TOPIC_MESSAGE = "message.max.bytes", "max.message.bytes"
REQUEST = "socket.request.max.bytes"
#: Bytes of a produce request beside its batch: header, names of client and topic, transactional id.
REQUEST_OVERHEAD = 1024
FETCH, RESPONSE = "replica.fetch.max.bytes", "replica.fetch.response.max.bytes"
SEGMENT, TOPIC_SEGMENT = "log.segment.bytes", "segment.bytes"
#: What a broker does with the topics that it leads, where no topic says otherwise.
OF_LEADERS = (
    *(MESSAGE, "min.insync.replicas", "unclean.leader.election.enable", "compression.type"),
    *("log.cleanup.policy", "log.message.timestamp.type", "log.retention.bytes", "log.retention.hours"),
    *("log.retention.minutes", "log.retention.ms"),
)


def _of_topics(cluster: Cluster, key: str) -> list[Number]:
    """Return the numbers of this key that topics set."""
    found = ((topic.name, as_int(topic.config.get(key))) for topic in cluster.topics())
    return [Number(f"{key} of topic {name}", value, "kafka_topics") for name, value in found if value is not None]


def _largest(cluster: Cluster, broker: Node) -> Number | None:
    """Return the largest batch that a broker takes: its own limit, or that of a topic."""
    own = number(broker, MESSAGE)
    every = [*([own] if own is not None else []), *_of_topics(cluster, TOPIC_MESSAGE)]
    return max(every, key=lambda one: one.value, default=None)


@rule(fix=f"raise {REQUEST} above the largest message, or lower that", acceptable=True)
def request_below_message(inventory: Inventory) -> Iterator[Problem]:
    """`socket.request.max.bytes` of a broker is below the largest message that it takes (`message.max.bytes`,
    `max.message.bytes` of a topic) and 1024 bytes for the rest of its request: the broker closes the connection of who
    sends one, without an answer, and the producer sends again without end."""
    for cluster in inventory.clusters():
        for broker in cluster.brokers:
            request, message = number(broker, REQUEST), _largest(cluster, broker)
            if request is not None and message is not None and request.value < message.value + REQUEST_OVERHEAD:
                variable = request.variable or message.variable
                what = "messages that are allowed are cut off with their connection"
                allowed = f"at least {message.value + REQUEST_OVERHEAD}"
                yield Problem(broker, what, f"{request}, {message}", allowed, variable=variable)


@rule(fix="give all brokers the same value", allowed="the same on all brokers")
def segments_of_different_size(inventory: Inventory) -> Iterator[Problem]:
    """`log.segment.bytes` of a broker is below that of another one and below what a follower fetches at once
    (`replica.fetch.max.bytes`, or a message): it cannot append what the other leads, and gives the partition up until
    it is restarted (UnifiedLog.append, RecordBatchTooLargeException)."""
    for cluster in inventory.clusters():
        segments = [(broker, number(broker, SEGMENT)) for broker in cluster.brokers]
        most = max((one.value for _broker, one in segments if one is not None), default=0)
        for broker, segment in segments:
            fetch = number(broker, FETCH)
            at_once = max(one.value for one in (fetch, _largest(cluster, broker), Number("", 0)) if one is not None)
            if segment is not None and segment.variable and segment.value < min(most, at_once):
                what = "the broker cannot append what it fetches from brokers with larger segments"
                found = f"{segment}, {most} on another broker, fetches of {at_once}"
                yield Problem(broker, what, found, variable=segment.variable)


@rule(fix="raise the segment, or lower the message", level=WARNING, acceptable=True)
def segment_below_message(inventory: Inventory) -> Iterator[Problem]:
    """A segment (`log.segment.bytes`, `segment.bytes` of a topic) is smaller than the largest message that the
    inventory allows there (`message.max.bytes`, `max.message.bytes`): brokers refuse what does not fit in one."""
    for cluster in inventory.clusters():
        for broker in cluster.brokers:
            segment, message = number(broker, SEGMENT), written(broker, MESSAGE)
            if segment is not None and message is not None and segment.value < message.value:
                yield _too_small(broker, segment, message)
        yield from _small_segments(cluster)


def _small_segments(cluster: Cluster) -> Iterator[Problem]:
    """Yield the topics that allow a message larger than their segments, where a topic says one of the two."""
    segments = [one for broker in cluster.brokers if (one := number(broker, SEGMENT)) is not None]
    messages = [one for broker in cluster.brokers if (one := written(broker, MESSAGE)) is not None]
    for topic in cluster.topics():
        own_segment, own_message = as_int(topic.config.get(TOPIC_SEGMENT)), as_int(topic.config.get(TOPIC_MESSAGE))
        segment = min(segments, key=lambda one: one.value, default=None)
        if own_segment is not None:
            segment = Number(f"{TOPIC_SEGMENT} of topic {topic.name}", own_segment, "kafka_topics")
        message = max(messages, key=lambda one: one.value, default=None)
        if own_message is not None:
            message = Number(f"{TOPIC_MESSAGE} of topic {topic.name}", own_message, "kafka_topics")
        said = own_segment is not None or own_message is not None
        if said and segment is not None and message is not None and segment.value < message.value:
            yield _too_small(cluster, segment, message)


def _too_small(where: object, segment: Number, message: Number) -> Problem:
    what = "messages that are allowed do not fit in a segment and are refused"
    variable = segment.variable or message.variable
    return Problem(where, what, f"{segment}, {message}", f"at least {message.value}", variable=variable)


@rule(fix=f"raise {RESPONSE}, or lower the message", level=WARNING, acceptable=True)
def response_below_message(inventory: Inventory) -> Iterator[Problem]:
    """A message may be larger than `replica.fetch.response.max.bytes`, the answer to a follower: such a one is sent
    alone, while all other partitions wait. It stops none (KIP-74)."""
    for cluster in inventory.clusters():
        for broker in cluster.brokers:
            response, message = number(broker, RESPONSE), _largest(cluster, broker)
            if response is not None and message is not None and response.value < message.value:
                variable = response.variable or message.variable
                what = "followers get a large message alone, while their other partitions wait"
                yield Problem(broker, what, f"{response}, {message}", f"at least {message.value}", variable=variable)


@rule(fix="give all brokers the same value, or set it for each topic", level=WARNING, acceptable=True)
def brokers_differ(inventory: Inventory) -> Iterator[Problem]:
    """Brokers of a cluster differ in what they do with topics that they lead (`message.max.bytes`,
    `min.insync.replicas`, `log.retention.ms` ...): what a topic does changes with its leader."""
    for cluster in inventory.clusters():
        for key in OF_LEADERS:
            found: dict[str, list[Node]] = {}
            for broker in cluster.brokers:
                one = cluster.properties(broker).get(key)
                found.setdefault("nothing" if one is None else str(one.value).strip().lower(), []).append(broker)
            if len(found) > 1:
                said = "; ".join(f"{value} on {', '.join(n.name for n in nodes)}" for value, nodes in found.items())
                variables = [one.variable for b in cluster.brokers if (one := b.properties().get(key)) is not None]
                what = "what a topic does depends on the broker that leads it"
                yield Problem(cluster.brokers, what, f"{key}: {said}", "the same on all brokers", variable=variables[0])

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The legacy MirrorMaker (kafka.tools.MirrorMaker): its two property files and the words of its command. Pure.

It is a consumer group on the source and one producer into the target, so it delivers at least once: what was sent
after the last commit of offsets is sent again by whoever goes on after a hard end. Deprecated by KIP-720, gone in
Kafka 4.0. What it does by itself was read off the class of 3.9.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...module_utils._mirror.flows import OWN_TOPICS, TOPICS_EXCLUDED, Flow, legacy_group
from .properties import config_providers
from .tuning import CONSUMER, PRODUCER

#: What the two clients are configured in, beside each other in the directory of the mirror.
CONSUMER_FILE, PRODUCER_FILE = "consumer.properties", "producer.properties"

#: Seconds after which a record that the target does not take ends the process, so that another one tries. Nothing is
#: lost then: offsets of what was not delivered are never committed. Kafka's own here is for ever, a silent stop.
DELIVERY_SECONDS = 1800
#: The same for a record that cannot even be queued, since its topic is not there or the queue has been full.
BLOCK_SECONDS = 300
#: Above both: a mirror that waits for its target is not dead. Taken for dead it would send what it has queued after
#: others have gone on with its partitions, and so out of order.
POLL_SECONDS = 3600
#: Seconds until a mirror that was killed is given up; nobody in its group reads meanwhile. Kafka's is 45.
SESSION_SECONDS = 15
_LONGEST = 2**31 - 1


def legacy_process(flow: Flow, clusters: Mapping[str, Mapping[str, Any]], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what one process is started with: {consumer, producer: native properties, words: of the command}.

    clusters -- as mirror_properties takes them. options -- refresh_seconds, offset_flush_seconds, secrets_dir (which
    files ${file:path:key} may name) and config_dir (of the mirror, where the two files lie).
    """
    return {
        "consumer": {
            **_client(clusters, flow.source, options),
            **CONSUMER,
            **_consumer(flow),
            **(flow.consumer_config or {}),
        },
        "producer": {
            **_client(clusters, flow.target, options),
            **PRODUCER,
            **_producer(flow),
            **(flow.producer_config or {}),
        },
        "words": _words(flow, options),
    }


def include_expression(flow: Flow) -> str:
    """One Java regular expression for the names that a flow covers, the same that `matches` tells of it.

    There is no list of what is left out (only --include), so that is a look ahead: not a whole name of these.
    """
    excluded = _any_of([OWN_TOPICS.pattern, *TOPICS_EXCLUDED, *flow.topics_exclude])
    return f"(?!{excluded}$){_any_of(flow.topics)}"


def _any_of(expressions: Iterable[str]) -> str:
    """Each in a group of its own, where a flag such as (?i) ends."""
    return f"(?:{'|'.join(f'(?:{expression})' for expression in expressions)})"


def _client(clusters: Mapping[str, Mapping[str, Any]], alias: str, options: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **config_providers(options),
        "bootstrap.servers": list(clusters[alias]["bootstrap_servers"]),
        **(clusters[alias].get("properties") or {}),
        # A new topic, or more partitions, are found out about by then; Kafka's is 300 s.
        "metadata.max.age.ms": int(options["refresh_seconds"]) * 1000,
    }


def _consumer(flow: Flow) -> dict[str, Any]:
    """Beside these MirrorMaker sets client.id itself: the group and the number of the stream."""
    return {
        "group.id": legacy_group(flow),
        # What was there before the mirror is mirrored too.
        "auto.offset.reset": "earliest",
        # MirrorMaker commits after the target has acknowledged.
        "enable.auto.commit": False,
        # Partitions of all topics over all streams of all mirrors; Kafka's default begins with the same stream for
        # each topic. Not cooperative: a commit within its rebalance raises RebalanceInProgressException, which
        # MirrorMaker does not know and dies of.
        "partition.assignment.strategy": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        "session.timeout.ms": SESSION_SECONDS * 1000,
        "max.poll.interval.ms": POLL_SECONDS * 1000,
    }


def _producer(flow: Flow) -> dict[str, Any]:
    return {
        "client.id": legacy_group(flow),
        # MirrorMaker's own choice: the order of a partition rests on this alone, even without idempotence.
        "max.in.flight.requests.per.connection": 1,
        "retries": _LONGEST,
        "delivery.timeout.ms": DELIVERY_SECONDS * 1000,
        "max.block.ms": BLOCK_SECONDS * 1000,
    }


def _words(flow: Flow, options: Mapping[str, Any]) -> list[str]:
    words: dict[str, Any] = {
        "consumer.config": f"{options['config_dir']}/{CONSUMER_FILE}",
        "producer.config": f"{options['config_dir']}/{PRODUCER_FILE}",
        "num.streams": flow.streams,
        "include": include_expression(flow),
        # A record that cannot be delivered ends the process before its offset is committed.
        "abort.on.send.failure": "true",
        "offset.commit.interval.ms": int(options["offset_flush_seconds"]) * 1000,
    }
    return [word for name, value in words.items() for word in (f"--{name}", str(value))]

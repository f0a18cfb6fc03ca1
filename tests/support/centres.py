"""Two data centres and what a mirror carried from one to the other, for tests on the machines of a scenario."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from tests.support.machines import Machine, administrator_of, client_settings
from tests.support.modules import run_module
from tests.support.traffic import Ledger, ends_of, read_all

# Seconds that a mirror may need to catch up on this many records, on a busy machine.
PATIENCE = 240


@dataclass(frozen=True)
class Centre:
    """A data centre: its nodes, and how the administrator of its cluster connects in the words of the modules."""

    name: str
    nodes: list[Machine]

    @property
    def connection(self) -> dict[str, Any]:
        """How its administrator connects, in the words of the modules."""
        return administrator_of(self.nodes)

    @property
    def servers(self) -> list[str]:
        """The addresses of its brokers for clients."""
        return list(self.connection["bootstrap_servers"])

    @property
    def settings(self) -> dict[str, Any]:
        """The connection in the words of librdkafka, without the addresses."""
        return client_settings(self.connection)

    def make(self, topic: str) -> str:
        """Creates a topic of 6 partitions; returns its name."""
        wish = {"name": topic, "partitions": 6, "replication_factor": 3}
        made = run_module("streamops.kafka.topics", {**self.connection, "topics": [wish]})
        assert not made["failed"], made
        return topic

    def size(self, topic: str) -> int:
        """The sum of a topic's end offsets; 0 when there is no such topic."""
        consumer = Consumer({**self.settings, "bootstrap.servers": ",".join(self.servers), "group.id": "audit"})
        try:
            # Of all topics: a question for one by name would be an error when there is none yet.
            found = consumer.list_topics(timeout=30).topics.get(topic)
            places = [TopicPartition(topic, number) for number in found.partitions] if found else []
            return sum(ends_of(consumer, place)[1] for place in places)
        finally:
            consumer.close()


@dataclass(frozen=True)
class Mirror:
    """The flow from one centre into the other."""

    source: Centre
    target: Centre

    def name(self, topic: str) -> str:
        """The name of a topic of the source in the target, by MirrorMaker's default policy."""
        return f"{self.source.name}.{topic}"

    def arrived(self, topic: str) -> int:
        """How many records of a topic of the source are in the target."""
        return self.target.size(self.name(topic))

    def status(self, topic: str, **more: Any) -> dict[str, Any]:
        """What mirror_status says of one topic; more -- its other options."""
        ends = {"source": self.source.name, "target": self.target.name, "source_connection": self.source.connection}
        asked = {**self.target.connection, **ends, "topics": [topic.replace(".", "[.]")], **more}
        return run_module("streamops.kafka.mirror_status", asked, timeout=PATIENCE + 60)

    def complete(self, topic: str, ledger: Ledger) -> Counter[int]:
        """Waits until a topic has no lag; nothing that its writer had acknowledged may be missing then.

        Returns how often each record is in the target.
        """
        seen = self.status(topic, state="caught_up", timeout=PATIENCE)
        assert not seen["failed"], seen
        assert seen["lag"] == 0, seen
        found = read_all(self.target.servers, self.name(topic), timeout=120, settings=self.target.settings)
        assert ledger.acknowledged, "nothing was written"
        assert ledger.lost(found) == []
        return found

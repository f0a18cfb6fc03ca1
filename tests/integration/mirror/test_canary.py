"""The canary as a process of its own between real clusters with a real MirrorMaker 2: what it says, and what it does
not say while mirrors and itself come and go."""

from __future__ import annotations

import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.canary import routes, with_events
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.look import of_target
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Seen
from canary.config import Way
from tests.support.canary import Canary
from tests.support.cluster import free_port_base, until
from tests.support.lone_broker import LoneBroker
from tests.support.metrics import missing
from tests.support.mirror import MirrorProcess, quick_properties
from tests.support.modules import run_module
from tests.support.prometheus import promtool_reads

#: Both ways between a and b; b's own come to a too.
FLOWS = [Flow("a", "b", ("orders",)), Flow("b", "a", ("orders",))]
TOPIC, WAY = "streamops-canary.a.b", "a->b"
PATIENCE = 240


@dataclass
class Pair:
    """Cluster a, cluster b, the mirror between them, and the canary at b."""

    a: LoneBroker
    b: LoneBroker
    mirror: MirrorProcess
    canary: Canary

    def is_whole(self) -> bool:
        """Whether the canary finds nothing wrong, and has found something."""
        return self.canary.status()["status"] == "OK" and self.canary.events("arrived", WAY) > 0

    def settle(self) -> None:
        """Waits until the canary finds nothing wrong."""
        self.wait(self.is_whole, "a canary that finds nothing wrong")

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Waits; the assertion error has what the canary says."""
        try:
            until(condition, what, PATIENCE)
        except AssertionError as error:
            raise AssertionError(f"{error}: {self.canary.status()}\n{self.canary.log()[-2000:]}") from None

    @property
    def admin(self) -> AdminClient:
        """A client of cluster a."""
        return AdminClient({"bootstrap.servers": self.a.bootstrap_servers[0]})

    def write(self, records: int) -> None:
        """Writes so many records into the topic of the flow."""
        producer = Producer({"bootstrap.servers": self.a.bootstrap_servers[0]})
        for number in range(records):
            producer.produce("orders", b"%d" % number, partition=0)
        assert producer.flush(30) == 0

    def purge(self, topic: str) -> None:
        """Deletes all records of a partition at the source."""
        admin = self.admin  # Its requests end with it.
        for future in admin.delete_records([TopicPartition(topic, 0, -1)]).values():
            future.result(30)

    def wait_for_a_look(self) -> None:
        """Waits for a look for gaps that began after now: it ends ten seconds from now, and takes less than that."""
        begun = time.monotonic() + 10

        def is_later() -> bool:
            age = self.canary.value("streamops_canary_gap_look_age_seconds", source="a")
            return 0 <= age < time.monotonic() - begun

        self.wait(is_later, "a look for gaps")

    def lost(self) -> float:
        """The records of the flow that are lost by the canary's metric; -1 before its first look."""
        return self.canary.value("streamops_canary_gap_records", source="a")

    def mirrored(self) -> int:
        """Up to where the mirror has written down that it copied the topic; -1 for nothing yet."""
        with Session(Connection(tuple(self.b.bootstrap_servers))) as session:
            return of_target(FLOWS[0], session, Seen({})).positions.get(("orders", 0), -1)


def ways(target: str) -> list[dict[str, str]]:
    """The ways that end at a cluster, as its canary takes them."""
    found = [one for one in routes(FLOWS, ["a", "b"]) if one.last.target == target]
    return [asdict(Way(one.name, one.origin, one.writer, one.last.source, one.topic, one.copy)) for one in found]


@pytest.fixture(scope="module")
def pair(kafka_release: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """All runs; the tests follow each other."""
    release, folder, port = kafka_release("4.3.1"), tmp_path_factory.mktemp("canary"), free_port_base()
    brokers = {name: LoneBroker(release, folder / name, port + 10 * at) for at, name in enumerate("ab")}
    clusters = {name: broker.bootstrap_servers for name, broker in brokers.items()}
    flows = {one.pair: {"topics": ",".join(one.topics)} for one in with_events(FLOWS, ["a", "b"])}
    # As the mirrors of the role write.
    properties = {**quick_properties(clusters, flows), "b.producer.compression.type": "lz4"}
    mirror = MirrorProcess(release, properties, folder / "mirror")
    settings = {
        "cluster": "b",
        "port": port + 25,
        "interval": 1,
        "late_after": 5,
        "missing_after": 3600,
        "clusters": {name: {"bootstrap_servers": servers} for name, servers in clusters.items()},
        "routes": ways("b"),
        "flows": [{"source": "a", "target": "b", "topics": ["orders"]}],
        "offset_flush": 1,
    }
    found = Pair(brokers["a"], brokers["b"], mirror, Canary(folder / "canary", settings))
    try:
        for broker in brokers.values():
            broker.format(urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))
            broker.start()
        admin = found.admin
        for future in admin.create_topics([NewTopic("orders", 1, 1)]).values():
            future.result(30)
        found.write(10)
        mirror.start()
        found.canary.start()
        yield found
    finally:
        for process in (found.canary, mirror, *brokers.values()):
            process.kill()


def test_events_arrive_and_their_latency_is_known(pair: Pair) -> None:
    pair.settle()
    # The first events waited until the mirror had found their topic.
    pair.wait(
        lambda: 0 < pair.canary.value("streamops_canary_latency_seconds", path=WAY, quantile="0.5") < 5,
        "a latency of seconds",
    )
    assert pair.canary.value("streamops_canary_readable", end="a") == 1
    assert [pair.canary.events(one, WAY) for one in ("missing", "repeated", "out_of_order")] == [0, 0, 0]
    pair.wait(lambda: pair.lost() == 0, "a look for lost records")
    assert promtool_reads(pair.canary.get("/metrics")) == (0, "")
    assert missing("canary", [pair.canary.get("/metrics")]) == set()


def test_records_that_the_source_purged_are_named_within_a_minute_and_until_somebody_forgets_them(pair: Pair) -> None:
    pair.settle()
    pair.wait(lambda: 0 <= pair.canary.value("streamops_canary_gap_look_age_seconds", source="a") < 40, "a look")
    assert pair.lost() == 0
    pair.wait(lambda: pair.mirrored() == 10, "the first records in the target")
    pair.mirror.kill()
    pair.write(20)
    # Only a look that reads them while they stand makes it certain that they were records.
    pair.wait_for_a_look()
    pair.purge("orders")
    purged = time.monotonic()
    pair.wait(lambda: pair.lost() == 20, "the lost records")
    assert time.monotonic() - purged < 60
    assert 'kind="purged",topic="orders"} 20' in pair.canary.get("/metrics")
    words = "a->b: 20 records of the source will never be mirrored: orders-0 10 to 29"
    assert words in pair.canary.status()["line"]
    assert promtool_reads(pair.canary.get("/metrics")) == (0, "")
    # A mirror that goes on behind the gap, and a canary that begins anew, still know of it.
    pair.mirror.start()
    assert pair.canary.stop() == 0
    pair.canary.start()
    pair.wait(lambda: pair.lost() == 20, "the same after a restart")
    ends = {"bootstrap_servers": pair.b.bootstrap_servers, "source_connection": {}}
    ends["source_connection"] = {"bootstrap_servers": pair.a.bootstrap_servers}
    flow = {"source": "a", "target": "b", "topics": ["orders"]}
    assert run_module("streamops.kafka.mirror_gaps", {**ends, **flow, "state": "forgotten"})["changed"]
    pair.wait(lambda: pair.lost() == 0, "a canary that has forgotten them")
    pair.settle()


@pytest.mark.full
def test_a_cut_of_the_mirror_and_a_restart_of_the_canary_are_no_false_alarm(pair: Pair) -> None:
    pair.settle()
    pair.mirror.kill()
    pair.wait(lambda: pair.canary.events("late", WAY) > 5, "late events")
    written = pair.canary.events("written", WAY)
    assert "late" in pair.canary.status()["line"]
    assert pair.canary.stop() == 0
    pair.canary.start()
    pair.wait(lambda: pair.canary.events("written", WAY) > written, "events after the restart")
    assert pair.canary.events("missing", WAY) == 0
    assert pair.canary.events("late", WAY) > 5
    pair.mirror.start()
    pair.settle()
    assert pair.canary.events("arrived", WAY) > written
    # The mirror notes its offsets each second, and was killed: it may repeat what it brought since then.
    assert pair.canary.events("repeated", WAY) < 10
    assert [pair.canary.events(one, WAY) for one in ("missing", "out_of_order")] == [0, 0]


@pytest.mark.full
def test_a_source_that_cannot_be_reached_is_told_and_nothing_is_missing(pair: Pair) -> None:
    pair.settle()
    pair.a.kill()
    pair.wait(lambda: "cluster a cannot be read" in pair.canary.status()["line"], "a silent source")
    assert pair.canary.events("missing", WAY) == 0
    pair.a.start()
    pair.settle()
    assert [pair.canary.events(one, WAY) for one in ("missing", "out_of_order")] == [0, 0]


@pytest.mark.full
def test_a_target_that_cannot_be_reached_is_told_and_no_event_is_late_or_missing(pair: Pair) -> None:
    """They may come while the canary does not see it."""
    pair.settle()
    pair.b.kill()
    pair.wait(lambda: "cluster b cannot be read" in pair.canary.status()["line"], "a silent target")
    pair.wait(lambda: pair.canary.events("waiting", WAY) > 5, "events that wait")
    assert [pair.canary.events(one, WAY) for one in ("missing", "late")] == [0, 0]
    pair.b.start()
    pair.settle()
    assert [pair.canary.events(one, WAY) for one in ("missing", "out_of_order")] == [0, 0]


@pytest.mark.full
def test_what_others_write_into_the_topic_is_told_and_harms_nothing(pair: Pair) -> None:
    pair.settle()
    # The topic takes no larger batch.
    producer = Producer({"bootstrap.servers": pair.a.bootstrap_servers[0], "batch.size": 4096})
    refused: list[Any] = []
    for number in range(1000):
        producer.produce(TOPIC, b"x" * number, partition=0, on_delivery=lambda error, _record: refused.append(error))
    assert producer.flush(30) == 0
    assert not any(refused), set(map(str, refused))
    pair.wait(lambda: pair.canary.value("streamops_canary_foreign_records", end="a") == 1000, "junk")
    pair.settle()


@pytest.mark.full
def test_events_that_the_source_purged_are_missing_also_after_a_restart(pair: Pair) -> None:
    pair.settle()
    pair.mirror.kill()
    pair.wait(lambda: pair.canary.events("waiting", WAY) > 5, "events that wait")
    purged = pair.canary.events("waiting", WAY)
    pair.purge(TOPIC)
    pair.mirror.start()
    pair.wait(lambda: pair.canary.events("missing", WAY) >= purged, "missing events")
    missing = pair.canary.events("missing", WAY)
    assert f"{missing} events missing" in pair.canary.status()["line"]
    assert pair.canary.stop() == 0
    pair.canary.start()
    pair.wait(lambda: pair.canary.events("missing", WAY) == missing, "the same after a restart")


@pytest.mark.full
def test_a_topic_that_is_deleted_is_made_again_and_followed(pair: Pair) -> None:
    admin = pair.admin
    for future in admin.delete_topics([TOPIC]).values():
        future.result(30)
    pair.wait(lambda: TOPIC in pair.admin.list_topics(timeout=10).topics, "the topic again")
    begun = time.monotonic()
    # The mirror goes on where it was, so what the new topic holds below that is not mirrored: those are missing.
    pair.wait(
        lambda: (
            0 <= pair.canary.value("streamops_canary_last_arrived_seconds", path=WAY) < 3
            and time.monotonic() - begun > 10
        ),
        "events of the new topic",
    )
    assert pair.canary.value("streamops_canary_last_written_seconds", source="a") < 5

# SPDX-License-Identifier: GPL-3.0-or-later
"""mirror_status against two real clusters and a real MirrorMaker 2 between them, which is killed and comes back."""

from __future__ import annotations

import threading
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.cluster import free_port_base, until
from tests.support.lone_broker import LoneBroker
from tests.support.mirror import MirrorProcess, quick_properties
from tests.support.modules import run_module

RECORDS = 500
#: The topic from which records are deleted before they are mirrored.
GAPPY = "audit.gappy"


@dataclass
class Pair:
    """Cluster a, cluster b, and the mirror a->b."""

    a: LoneBroker
    b: LoneBroker
    mirror: MirrorProcess

    def status(self, check: bool = False, **options: Any) -> dict[str, Any]:
        """What the module returns for the flow a->b."""
        arguments = {
            "bootstrap_servers": self.b.bootstrap_servers,
            "source_connection": {"bootstrap_servers": self.a.bootstrap_servers},
            "source": "a",
            "target": "b",
            "topics": ["orders", "audit[.].*"],
            "interval": 1,
            **options,
        }
        return run_module("streamops.kafka.mirror_status", arguments, check=check)

    def caught_up(self, timeout: int = 90, **options: Any) -> dict[str, Any]:
        """What a wait for the mirror returns."""
        return self.status(state="caught_up", timeout=timeout, **options)

    def gaps(self, check: bool = False, **options: Any) -> dict[str, Any]:
        """What the module mirror_gaps returns for one topic of the flow."""
        arguments = {
            "bootstrap_servers": self.b.bootstrap_servers,
            "source_connection": {"bootstrap_servers": self.a.bootstrap_servers},
            "source": "a",
            "target": "b",
            "topics": [GAPPY],
            # The mirror flushes its offsets each second.
            "confirm_seconds": 2,
            **options,
        }
        found = run_module("streamops.kafka.mirror_gaps", arguments, check=check)
        assert not found["failed"], found["msg"]
        return found

    def delete_up_to(self, topic: str, partition: int, offset: int) -> None:
        """Deletes the records of cluster a below an offset."""
        admin = AdminClient({"bootstrap.servers": self.a.bootstrap_servers[0]})
        for future in admin.delete_records([TopicPartition(topic, partition, offset)]).values():
            future.result(30)

    def delete(self, topic: str) -> None:
        """Deletes a topic of cluster a."""
        admin = AdminClient({"bootstrap.servers": self.a.bootstrap_servers[0]})
        for future in admin.delete_topics([topic]).values():
            future.result(30)
        until(lambda: topic not in admin.list_topics(timeout=10).topics, "the deletion")

    def make_anew(self, topic: str) -> None:
        """Deletes a topic of cluster a, and creates it again."""
        self.delete(topic)
        create(self.a, topic)

    def produce(self, topic: str, records: int = RECORDS) -> None:
        """Writes records to cluster a, spread over the partitions."""
        producer = Producer({"bootstrap.servers": self.a.bootstrap_servers[0], "acks": "all"})
        for number in range(records):
            producer.produce(topic, value=str(number).encode(), partition=number % 2)
        assert producer.flush(30) == 0

    def transaction(self, topic: str, commit: bool) -> None:
        """Writes ten records to each of two partitions in one transaction, and ends it."""
        producer = Producer({"bootstrap.servers": self.a.bootstrap_servers[0], "transactional.id": str(uuid.uuid4())})
        producer.init_transactions(30)
        producer.begin_transaction()
        for number in range(20):
            producer.produce(topic, value=b"in doubt", partition=number % 2)
        producer.flush(30)
        if commit:
            producer.commit_transaction(30)
        else:
            producer.abort_transaction(30)


def topic_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    """One topic of a result."""
    return next(topic for topic in found["topics"] if topic["source"] == name)


def create(broker: LoneBroker, *names: str) -> None:
    """Creates topics of two partitions."""
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers[0]})
    for future in admin.create_topics([NewTopic(name, 2, 1) for name in names]).values():
        future.result(30)


@pytest.fixture(scope="module")
def pair(kafka_release: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both clusters run, the mirror does not yet: tests start, kill and start it again in their order."""
    release, folder, port = kafka_release("4.3.1"), tmp_path_factory.mktemp("mirror_status"), free_port_base()
    brokers = [LoneBroker(release, folder / name, port + 10 * number) for number, name in enumerate("ab")]
    flows = {"a->b": {"topics": "orders,audit[.].*,idle", "groups": ".*"}, "b->a": {"enabled": "false"}}
    clusters = {name: broker.bootstrap_servers for name, broker in zip("ab", brokers, strict=True)}
    properties = {
        **quick_properties(clusters, flows),
        # What aborted transactions wrote must not be mirrored.
        "a.consumer.isolation.level": "read_committed",
    }
    found = Pair(brokers[0], brokers[1], MirrorProcess(release, properties, folder / "mirror"))
    try:
        for broker in brokers:
            broker.format(urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))
            broker.start()
        create(found.a, "orders", "audit.log", "idle")
        yield found
    finally:
        for process in (found.mirror, *brokers):
            process.kill()


@pytest.fixture(scope="module")
def before(pair: Pair) -> dict[str, Any]:
    """A look while no mirror has ever run."""
    return pair.status()


@pytest.fixture(scope="module")
def mirrored(pair: Pair, before: dict[str, Any]) -> dict[str, Any]:
    """The mirror runs; the result of the wait until it has mirrored what stood there, heartbeats included."""
    pair.produce("orders")
    pair.produce("audit.log")
    pair.mirror.start()
    found = pair.caught_up(timeout=120, start_timeout=60, max_heartbeat_age=30)
    assert not found["failed"], f"{found['msg']}\n{pair.mirror.log()[-3000:]}"
    return found


@pytest.fixture(scope="module")
def killed(pair: Pair, mirrored: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What is told after the mirror was killed and more was written: by a look, a wait in vain, and after its return.

    The last wait begins before the mirror does."""
    pair.mirror.kill()
    pair.produce("orders")
    looked = pair.status()
    # One look takes some seconds where the machine is busy, and the wait has to take two.
    in_vain = pair.caught_up(timeout=15)
    checked = pair.status(check=True, state="caught_up")
    back = threading.Timer(4, pair.mirror.start)
    back.start()
    try:
        returned = pair.caught_up(timeout=120)
    finally:
        back.join()
    return {"looked": looked, "in vain": in_vain, "checked": checked, "returned": returned}


def test_a_mirror_that_never_ran_is_said_to_be_one(before: dict[str, Any]) -> None:
    assert before["failed"]
    assert before["failure"]["kind"] == "MirrorNotBegunError"
    assert "target b: mirror a->b: topic mm2-offsets.a.internal does not exist in b" in before["msg"]


def test_a_mirror_that_has_everything_has_no_lag(pair: Pair, mirrored: dict[str, Any]) -> None:
    assert (mirrored["changed"], mirrored["caught_up"], mirrored["lag"]) == (False, True, 0)
    assert (mirrored["flow"], mirrored["partitions_done"], mirrored["partitions_total"]) == ("a->b", 4, 4)
    orders = topic_of(mirrored, "orders")
    assert (orders["target"], orders["target_partitions"], orders["lag"]) == ("a.orders", 2, 0)
    half = RECORDS // 2
    assert orders["partitions"] == [
        {"partition": number, "source_end": half, "position": half, "lag": 0} for number in (0, 1)
    ]
    assert mirrored["history"][-1]["lag"] == 0


@pytest.mark.full
def test_a_heartbeat_that_came_through_is_seen(mirrored: dict[str, Any]) -> None:
    assert 0 <= mirrored["heartbeat_age_ms"] <= 30_000


def test_a_topic_without_records_has_no_lag_and_no_position(pair: Pair, mirrored: dict[str, Any]) -> None:
    found = pair.status(topics=["idle"])
    assert [one["position"] for one in topic_of(found, "idle")["partitions"]] == [None, None]
    assert (found["lag"], found["caught_up"]) == (0, True)


@pytest.mark.full
def test_a_killed_mirror_falls_behind_by_what_is_written(killed: dict[str, dict[str, Any]]) -> None:
    found = killed["looked"]
    assert (found["failed"], found["caught_up"], found["lag"]) == (False, False, RECORDS)
    assert topic_of(found, "orders")["lag"] == RECORDS
    assert topic_of(found, "audit.log")["lag"] == 0


def test_a_wait_in_vain_says_which_topics_are_behind_and_what_to_look_at(killed: dict[str, dict[str, Any]]) -> None:
    found = killed["in vain"]
    assert found["failed"]
    assert f"not caught up within 15s: {RECORDS} records behind, 2 of 4 partitions done" in found["msg"]
    assert f"- behind: orders ({RECORDS} records)" in found["msg"]
    assert "The mirror makes no progress: check that it runs" in found["msg"]
    assert found["looks"] >= len(found["history"]) >= 2


def test_check_mode_looks_once_and_fails_for_no_lag(killed: dict[str, dict[str, Any]]) -> None:
    found = killed["checked"]
    assert (found["failed"], found["caught_up"], found["looks"]) == (False, False, 1)


@pytest.mark.full
def test_a_mirror_that_returns_ends_the_wait(killed: dict[str, dict[str, Any]]) -> None:
    found = killed["returned"]
    assert (found["failed"], found["caught_up"], found["lag"]) == (False, True, 0)
    assert found["history"][0]["lag"] == RECORDS


@pytest.mark.full
def test_what_an_aborted_transaction_leaves_at_the_end_is_not_waited_for(
    pair: Pair, killed: dict[str, dict[str, Any]]
) -> None:
    pair.transaction("audit.log", commit=True)
    pair.transaction("audit.log", commit=False)
    found = pair.caught_up()
    assert not found["failed"], found["msg"]
    (first, _second) = topic_of(found, "audit.log")["partitions"]
    # Ten records and a marker of the one that was aborted, the marker of the one that was not.
    assert first["source_end"] - first["position"] == 12
    assert first["lag"] == 0


@pytest.mark.full
def test_the_legacy_engine_stands_where_its_group_has_committed(pair: Pair, killed: dict[str, dict[str, Any]]) -> None:
    create(pair.b, "orders")
    legacy: dict[str, Any] = {"topics": ["orders"], "engine": "legacy"}
    nothing = pair.status(**legacy)
    assert (nothing["lag"], nothing["topics"][0]["target"]) == (2 * RECORDS, "orders")
    settings = {"bootstrap.servers": pair.a.bootstrap_servers[0], "group.id": "streamops-mirror-a-b"}
    consumer = Consumer(settings)
    try:
        offsets = [TopicPartition("orders", 0, RECORDS), TopicPartition("orders", 1, RECORDS - 7)]
        consumer.commit(offsets=offsets, asynchronous=False)
    finally:
        consumer.close()
    found = pair.status(**legacy)
    assert [one["position"] for one in found["topics"][0]["partitions"]] == [RECORDS, RECORDS - 7]
    assert (found["lag"], found["heartbeat_age_ms"]) == (7, None)


def ranges(found: dict[str, Any]) -> list[tuple[Any, ...]]:
    """The gaps of a result: kind, partition, first and last offset, number of records, whether it is certain."""
    keys = ("kind", "partition", "first", "last", "records", "certain")
    assert all(one["topic"] == GAPPY for one in found["gaps"])
    return [tuple(one[key] for key in keys) for one in found["gaps"]]


def test_aborted_transactions_that_the_source_deleted_are_no_certain_gap(
    pair: Pair, killed: dict[str, dict[str, Any]]
) -> None:
    """Nothing of them is lost; whether a look saw the tail before it was deleted decides what can be said."""
    topics = ["audit.aborted", "audit.watched"]
    create(pair.a, *topics)
    for topic in topics:
        pair.produce(topic, 20)
    assert pair.caught_up(topics=topics)["caught_up"]
    assert pair.gaps(topics=topics)["gaps"] == []
    for topic in topics:
        pair.transaction(topic, commit=True)
        pair.transaction(topic, commit=False)
    assert pair.caught_up(topics=topics)["caught_up"]
    # Ten records, a transaction of ten and its marker, ten that were aborted and their marker.
    assert [one["position"] for one in topic_of(pair.status(topics=topics), topics[0])["partitions"]] == [20, 20]
    assert pair.gaps(topics=topics[1:])["gaps"] == []
    for topic in topics:
        for partition in range(2):
            pair.delete_up_to(topic, partition, 32)
    found = pair.gaps(topics=topics)
    told = [tuple(one[key] for key in ("topic", "first", "last", "certain")) for one in found["gaps"]]
    assert told == [("audit.aborted", 20, 31, False)] * 2
    assert found["records"] == 0
    assert "no look saw records there" in found["lines"][0]
    # What follows asks for the gaps of the flow.
    assert pair.gaps(state="forgotten")["changed"]


@pytest.fixture(scope="module")
def gappy(pair: Pair, killed: dict[str, dict[str, Any]]) -> list[tuple[Any, ...]]:
    """The gap of a stopped mirror, which has been looked at before and runs again."""
    create(pair.a, GAPPY)
    pair.produce(GAPPY, 100)
    assert pair.caught_up(topics=[GAPPY])["caught_up"]
    assert (pair.gaps()["gaps"], pair.gaps()["since_look"]) == ([], True)
    pair.mirror.kill()
    pair.produce(GAPPY, 100)
    # A look that reads them while they stand, which makes it certain that they were records.
    assert pair.gaps()["gaps"] == []
    pair.delete_up_to(GAPPY, 0, 70)
    checked, seen = pair.gaps(check=True), pair.gaps()
    assert seen["gaps"] == [{**checked["gaps"][0], "seen_at": seen["gaps"][0]["seen_at"]}]
    assert seen["lines"] == [
        f"{GAPPY}-0: offsets 50 to 69 (20 records) are missing: the source deleted them before they were mirrored"
    ]
    pair.mirror.start()
    assert pair.caught_up(topics=[GAPPY])["caught_up"]
    return ranges(seen)


def test_what_the_source_deleted_before_it_was_mirrored_is_named(pair: Pair, gappy: list[tuple[Any, ...]]) -> None:
    assert gappy == [("purged", 0, 50, 69, 20, True)]
    # The mirror has gone on after the gap, and reports nothing.
    assert ranges(pair.gaps()) == gappy


@pytest.mark.full
def test_a_gap_is_named_too_when_the_mirror_passed_it_between_two_looks(
    pair: Pair, gappy: list[tuple[Any, ...]]
) -> None:
    pair.mirror.kill()
    pair.produce(GAPPY, 100)
    pair.gaps()
    pair.delete_up_to(GAPPY, 1, 130)
    pair.mirror.start()
    assert pair.caught_up(topics=[GAPPY])["caught_up"]
    assert ranges(pair.gaps()) == [*gappy, ("purged", 1, 100, 129, 30, True)]
    # Deleted after it was mirrored.
    pair.delete_up_to(GAPPY, 0, 150)
    assert len(pair.gaps()["gaps"]) == 2


@pytest.mark.full
def test_a_topic_that_was_deleted_and_created_again_is_named(pair: Pair, gappy: list[tuple[Any, ...]]) -> None:
    forgotten = pair.gaps(state="forgotten")
    assert (forgotten["changed"], forgotten["gaps"]) == (True, [])
    pair.gaps()
    pair.mirror.kill()
    ends = [one["position"] for one in topic_of(pair.status(topics=[GAPPY]), GAPPY)["partitions"]]
    pair.produce(GAPPY, 10)
    assert pair.gaps()["gaps"] == []
    pair.make_anew(GAPPY)
    found = pair.gaps()
    assert ranges(found) == [("recreated", number, end, end + 4, 5, True) for number, end in enumerate(ends)]
    assert found["lines"][0].endswith("are missing, because the topic was deleted and created again")
    pair.mirror.start()
    assert pair.caught_up(topics=["orders"])["caught_up"]


@pytest.mark.full
def test_the_records_of_the_last_topic_of_a_flow_are_named_when_it_is_deleted(
    pair: Pair, gappy: list[tuple[Any, ...]]
) -> None:
    pattern = ["audit[.]gap.*"]
    pair.gaps(state="forgotten")
    assert pair.caught_up(topics=pattern)["caught_up"]
    pair.mirror.kill()
    pair.produce(GAPPY, 10)
    assert pair.gaps(topics=pattern)["gaps"] == []
    ends = [one["position"] for one in topic_of(pair.status(topics=pattern), GAPPY)["partitions"]]
    pair.delete(GAPPY)
    found = pair.gaps(topics=pattern)
    assert ranges(found) == [("deleted", number, end, end + 4, 5, True) for number, end in enumerate(ends)]
    pair.mirror.start()
    assert pair.caught_up(topics=["orders"])["caught_up"]


@pytest.mark.full
def test_a_topic_that_does_not_exist_is_refused_and_never_caught_up(
    pair: Pair, killed: dict[str, dict[str, Any]]
) -> None:
    found = pair.caught_up(topics=["orders", "ordres"])
    assert found["failed"]
    assert found["failure"]["kind"] == "NothingToMirrorError"
    assert "topic ordres does not exist in a" in found["msg"]
    assert "no topic of a matches nobody.*" in pair.caught_up(topics=["nobody.*"])["msg"]


def test_one_cluster_for_both_is_refused_before_anything_else(pair: Pair) -> None:
    found = pair.status(source_connection={"bootstrap_servers": pair.b.bootstrap_servers}, topics=["ordres"])
    assert found["failed"]
    assert found["failure"]["kind"] == "SameClusterError"
    assert "source and target are the same cluster" in found["msg"]


def test_an_end_that_does_not_answer_is_named(pair: Pair) -> None:
    nowhere = f"127.0.0.1:{free_port_base()}"
    found = pair.status(source_connection={"bootstrap_servers": [nowhere]})
    assert f"source a: Kafka cluster {nowhere}: no bootstrap server answered" in found["msg"]
    found = pair.caught_up(bootstrap_servers=[nowhere], start_timeout=2)
    assert f"target b: Kafka cluster {nowhere}: no bootstrap server answered" in found["msg"]

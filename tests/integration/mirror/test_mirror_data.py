"""What a mirror does with the shapes of data: every record counted on both sides by a reader of its own.

One node in each cluster and one mirror, installed once; tests run in their order. The brokers of the source take larger
messages than those of the target, as happens where the two are set up apart.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import yaml
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from tests.support.cluster import Run, until
from tests.support.mirror_copies import Headers, Message, read, write
from tests.support.mirrored import Mirrored, small_mirror
from tests.support.modules import run_module

pytestmark = pytest.mark.full

#: Settings of topics are copied often, so that a test sees it.
FLOW: dict[str, Any] = {
    "source": "dc_a",
    "target": "dc_b",
    "topics": ["orders", "data[.].*"],
    "config": {"sync.topic.configs.interval.seconds": 5},
}
PARTITIONS = 3
#: The largest message of the source's brokers. Those of the target have Kafka's default, about 1 MB.
SOURCE_TAKES = 3_000_000
TEN_MB = 10_000_000
#: An hour ago: records of long ago would be deleted by their retention while the tests run.
BEGIN_MS = round(time.time() * 1000) - 3_600_000


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """Up and mirroring."""
    heaps = {"kafka_heap_size": "768m", "mirror_maker_heap_size": "640m"}
    cluster = small_mirror(tmp_path_factory.mktemp("data"), mirror_flows=[FLOW], **heaps)
    source = cluster.inventory / "group_vars" / "dc_a.yml"
    brokers = {"message.max.bytes": SOURCE_TAKES, "log.cleaner.backoff.ms": 500}
    source.write_text(yaml.safe_dump({**yaml.safe_load(source.read_text()), "kafka_broker_config": brokers}))
    try:
        installed = cluster.playbook().ok()
        assert "[WARNING]: mirror_below_message: " in " ".join(installed.output.split())
        yield cluster
    finally:
        cluster.destroy()


def create(cluster: Mirrored, *topics: str, partitions: int = PARTITIONS, **config: Any) -> None:
    """Creates topics of the source; dots of settings are written as underscores."""
    settings = {key.replace("_", "."): str(value) for key, value in config.items()}
    wishes = [
        {"name": topic, "partitions": partitions, "replication_factor": 1, "config": settings} for topic in topics
    ]
    given = {"topics": wishes, "max_new_replicas_per_broker": 5_000}
    made = run_module("streamops.kafka.topics", {"bootstrap_servers": cluster.servers("dc_a"), **given})
    assert not made["failed"], made


def look(cluster: Mirrored, *topics: str, **options: Any) -> dict[str, Any]:
    """What mirror_status returns of the flow, of some of its topics."""
    asked = {
        "bootstrap_servers": cluster.servers("dc_b"),
        "source_connection": {"bootstrap_servers": cluster.servers("dc_a")},
        "topics": list(topics or FLOW["topics"]),
        **{key: FLOW[key] for key in ("source", "target")},
    }
    return run_module("streamops.kafka.mirror_status", {**asked, **options})


def caught_up(cluster: Mirrored, *topics: str, timeout: int = 180) -> None:
    """Waits until mirror_status says that all is in the target."""
    found = look(cluster, *topics, state="caught_up", timeout=timeout, interval=1)
    assert not found["failed"], found["msg"]


def status(cluster: Mirrored) -> Run:
    """What status.yml says; it fails where something is wrong, which is for the test to judge."""
    return cluster.playbook("playbooks/status.yml")


def by_partition(messages: Iterable[Message]) -> dict[int, list[Message]]:
    """The records of each partition in their order, without their offsets."""
    found: dict[int, list[Message]] = {}
    for message in messages:
        found.setdefault(message.partition, []).append(replace(message, offset=-1))
    return found


def both(cluster: Mirrored, topic: str, partitions: int = PARTITIONS) -> tuple[list[Message], list[Message]]:
    """The records of a topic in the source, and in the target once the mirror has caught up."""
    caught_up(cluster, topic)
    source = read(",".join(cluster.servers("dc_a")), topic, partitions)
    return source, read(",".join(cluster.servers("dc_b")), f"dc_a.{topic}", partitions)


def same(cluster: Mirrored, topic: str, expected: int) -> None:
    """Both sides have this number of records, the same in each partition, in the same order, each once."""
    source, target = both(cluster, topic)
    assert (len(source), len(target)) == (expected, expected)
    assert by_partition(source) == by_partition(target)


def messages(count: int, text: str = "record", headers: Headers | None = None) -> list[Message]:
    """Records with numbers, spread over the partitions."""
    numbered = ((number, f"key {number}".encode(), f"{text} {number}".encode()) for number in range(count))
    return [Message(n % PARTITIONS, key, value, BEGIN_MS + n, headers or []) for n, key, value in numbered]


def written(
    cluster: Mirrored, topic: str, given: Iterable[Message], transaction: str = "", commit: bool = True
) -> None:
    """Appends records to a topic of the source."""
    write(",".join(cluster.servers("dc_a")), topic, given, transaction, commit)


def sent(cluster: Mirrored, topic: str, values: Iterable[bytes], **settings: Any) -> None:
    """Appends large values, one in each batch, with settings of the producer."""
    given = {"message.max.bytes": 2 * TEN_MB, "batch.num.messages": 1, **settings}
    producer = Producer({"bootstrap.servers": ",".join(cluster.servers("dc_a")), **given})
    refused: list[str] = []

    def report(error: Any, _message: Any) -> None:
        """Keeps what was refused."""
        if error:
            refused.append(str(error))

    for number, value in enumerate(values):
        producer.produce(topic, value, partition=number % PARTITIONS, on_delivery=report)
        assert producer.flush(60) == 0
    assert refused == []


def settings_of(cluster: Mirrored, topic: str, *names: str) -> dict[str, str]:
    """Settings of a topic of the target."""
    asked = {"bootstrap_servers": cluster.servers("dc_b"), "topic_configs": list(names)}
    found = run_module("streamops.kafka.cluster_info", asked)
    return next({**one["config"]} for one in found["topics"] if one["name"] == topic)


def test_headers_empty_parts_and_timestamps_are_copied_in_their_order(mirrored: Mirrored) -> None:
    headers: Headers = [("trace", b"\x00\xff"), ("empty", b""), ("null", None), ("twice", b"1"), ("twice", b"2")]
    given = [
        *messages(300, headers=headers),
        *(replace(one, key=None) for one in messages(30, "without key")),
        *(replace(one, value=None) for one in messages(30)),
        *(replace(one, key=b"", value=b"", headers=[]) for one in messages(30)),
        *(replace(one, key=None, value=None, headers=headers) for one in messages(30)),
        # Older than all before it.
        *(replace(one, ts=one.ts - 86_400_000) for one in messages(30, "late")),
    ]
    create(mirrored, "data.shapes")
    written(mirrored, "data.shapes", given)
    same(mirrored, "data.shapes", len(given))
    _source, target = both(mirrored, "data.shapes")
    assert by_partition(target) == by_partition(given)


def latest(found: Iterable[Message]) -> dict[tuple[int, bytes | None], bytes | None]:
    """By partition and key the last value; a key whose last value is a tombstone has none."""
    values = {(one.partition, one.key): one.value for one in found}
    return {key: value for key, value in values.items() if value is not None}


def rounds(cluster: Mirrored, topic: str, first: int, count: int, keys: int = 90) -> list[Message]:
    """Writes values of the same keys again and again, ten seconds of record time apart; each round deletes other keys.

    Each round is a batch of its own, since segments roll only between two batches.
    """
    given = [
        replace(
            one,
            ts=BEGIN_MS + turn * 10_000,
            value=None if number % 5 == turn % 5 else f"value {turn} of {number}".encode(),
        )
        for turn in range(first, first + count)
        for number, one in enumerate(messages(keys))
    ]
    for start in range(0, len(given), keys):
        written(cluster, topic, given[start : start + keys])
    return given


def test_the_last_value_of_each_key_of_a_compacted_topic_is_the_same(mirrored: Mirrored) -> None:
    """The source cleans its log while the mirror is stopped, then again while it runs."""
    topic = "data.compacted"
    create(mirrored, topic, cleanup_policy="compact", segment_ms=5_000, min_cleanable_dirty_ratio=0.01)
    mirrored.stop("mirror1")
    before = rounds(mirrored, topic, 0, 20)
    servers = ",".join(mirrored.servers("dc_a"))
    until(lambda: len(read(servers, topic, PARTITIONS)) < len(before) / 2, "the cleaner of the source", timeout=120)
    mirrored.start("mirror1")
    source, target = both(mirrored, topic)
    assert latest(target) == latest(source) == latest(before)
    assert len(latest(target)) == 72
    more = rounds(mirrored, topic, 20, 21)
    source, target = both(mirrored, topic)
    assert latest(target) == latest(source) == latest([*before, *more])
    assert settings_of(mirrored, f"dc_a.{topic}", "cleanup.policy") == {"cleanup.policy": "compact"}


def test_only_committed_records_arrive_and_each_once(mirrored: Mirrored) -> None:
    topic = "data.transactions"
    create(mirrored, topic)
    kept: list[Message] = []
    for turn in range(6):
        committed, aborted, plain = (messages(60, f"{what} {turn}") for what in ("kept", "aborted", "plain"))
        written(mirrored, topic, committed, f"kept-{turn}")
        written(mirrored, topic, aborted, f"aborted-{turn}", commit=False)
        written(mirrored, topic, plain)
        kept += [*committed, *plain]
    # What stands at the end is an aborted one.
    written(mirrored, topic, messages(60, "aborted at the end"), "aborted-end", commit=False)
    same(mirrored, topic, len(kept))
    _source, target = both(mirrored, topic)
    assert by_partition(target) == by_partition(kept)


def test_records_of_ten_megabytes_arrive_where_the_topic_allows_them(mirrored: Mirrored) -> None:
    """Nothing else has to be set: producer and fetches of a mirror take them."""
    topic = "data.large"
    create(mirrored, topic, max_message_bytes=TEN_MB + 100_000)
    values = [random.Random(number).randbytes(TEN_MB) for number in range(6)]
    sent(mirrored, topic, values)
    same(mirrored, topic, len(values))
    _source, target = both(mirrored, topic)
    assert sorted(hash(one.value) for one in target) == sorted(map(hash, values))


def test_a_topic_that_takes_only_small_batches_gets_small_ones(mirrored: Mirrored) -> None:
    """The mirror's batches are larger than it takes, so they are cut."""
    topic = "data.small"
    create(mirrored, topic, max_message_bytes=20_000)
    mirrored.stop("mirror1")
    given = [replace(one, value=random.Random(number).randbytes(1_000)) for number, one in enumerate(messages(3_000))]
    for first in range(0, len(given), 30):
        written(mirrored, topic, given[first : first + 30])
    mirrored.start("mirror1")
    same(mirrored, topic, len(given))


def test_topics_come_and_go_and_what_a_deleted_one_lost_is_named(mirrored: Mirrored) -> None:
    create(mirrored, "data.late", "data.doomed")
    for topic in ("data.late", "data.doomed"):
        written(mirrored, topic, messages(30))
        same(mirrored, topic, 30)
    assert "will never be mirrored" not in " ".join(status(mirrored).ok().output.split())
    mirrored.stop("mirror1")
    written(mirrored, "data.doomed", messages(60))
    status(mirrored)
    admin = AdminClient({"bootstrap.servers": ",".join(mirrored.servers("dc_a"))})
    for future in admin.delete_topics(["data.doomed"]).values():
        future.result(30)
    until(lambda: "data.doomed" not in admin.list_topics(timeout=10).topics, "the deletion")
    told = " ".join(status(mirrored).output.split())
    assert "60 records of the source will never be mirrored: data.doomed-0 10 to 29" in told
    assert "data.doomed-2: offsets 10 to 29 (20 records) are missing, because the topic was deleted before" in told
    mirrored.start("mirror1")
    written(mirrored, "data.late", messages(30, "after"))
    same(mirrored, "data.late", 60)
    # The copy of what was mirrored stays.
    assert len(read(",".join(mirrored.servers("dc_b")), "dc_a.data.doomed", PARTITIONS)) == 30
    forgotten = run_module("streamops.kafka.mirror_gaps", {
        "bootstrap_servers": mirrored.servers("dc_b"), "state": "forgotten",
        "source_connection": {"bootstrap_servers": mirrored.servers("dc_a")},
        **{key: FLOW[key] for key in ("source", "target", "topics")},
    })  # fmt: skip
    assert forgotten["changed"], forgotten
    assert "will never be mirrored" not in " ".join(status(mirrored).ok().output.split())


def failed_task(cluster: Mirrored, topic: str) -> str:
    """Waits until a task has ended with a record of this topic; what mirror_status says of it."""
    found: list[str] = []

    def fails() -> bool:
        """Whether one has."""
        found[:] = [one for one in look(cluster, topic)["problems"] if "task" in one]
        return bool(found)

    until(fails, f"a failed task of {topic}", timeout=120)
    return found[0]


def test_a_record_that_the_target_does_not_take_is_told_and_arrives_when_it_does(mirrored: Mirrored) -> None:
    """The brokers of the source allow it, which MirrorMaker does not copy; what the topic sets it does."""
    topic = "data.wide"
    create(mirrored, topic)
    sent(mirrored, topic, [random.Random(7).randbytes(2_000_000)])
    problem = failed_task(mirrored, topic)
    assert "RecordTooLargeException" in problem, problem
    told = " ".join(status(mirrored).output.split())
    assert "DEGRADED mirror dc_a->dc_b: MirrorSourceConnector task" in told
    create(mirrored, topic, max_message_bytes=SOURCE_TAKES)
    wanted = {"max.message.bytes": str(SOURCE_TAKES)}
    until(
        lambda: settings_of(mirrored, f"dc_a.{topic}", "max.message.bytes") == wanted, "the setting in the target", 90
    )
    mirrored.stop("mirror1")
    mirrored.start("mirror1")
    same(mirrored, topic, 1)
    assert not look(mirrored)["problems"]


def test_a_record_packed_harder_than_the_mirror_packs_needs_the_same_compression(mirrored: Mirrored) -> None:
    topic = "data.dense"
    create(mirrored, topic, max_message_bytes=1_000_000)
    # Half of it for zstd, and nothing for lz4, which the mirror uses.
    sent(mirrored, topic, [random.Random(8).randbytes(900_000).hex().encode()], **{"compression.type": "zstd"})
    assert "RecordTooLargeException" in failed_task(mirrored, topic)
    config = {**FLOW["config"], "producer.override.compression.type": "zstd"}
    mirrored.variables["mirror_flows"] = [{**FLOW, "config": config}]
    mirrored.playbook("playbooks/mirrors.yml").ok()
    same(mirrored, topic, 1)
    assert not look(mirrored)["problems"]


TOPICS, EACH = 50, 100


def test_five_thousand_partitions_are_mirrored_and_looked_at_in_time(mirrored: Mirrored) -> None:
    """50 topics of 100 partitions, with one broker and 768 MB of heap on each side."""
    names = [f"data.many{number}" for number in range(TOPICS)]
    create(mirrored, *names, partitions=EACH, segment_index_bytes=65_536)
    producer = Producer({"bootstrap.servers": ",".join(mirrored.servers("dc_a"))})
    for name in names:
        for number in range(EACH):
            producer.produce(name, f"{name} {number}".encode(), partition=number)
    assert producer.flush(120) == 0
    caught_up(mirrored, "data[.]many.*", timeout=400)
    seen = look(mirrored, "data[.]many.*")
    assert (seen["lag"], seen["partitions_done"], seen["partitions_total"]) == (0, TOPICS * EACH, TOPICS * EACH)
    servers = ",".join(mirrored.servers("dc_b"))
    for name in names:
        found = {one.partition: one.value for one in read(servers, f"dc_a.{name}", EACH)}
        assert found == {number: f"{name} {number}".encode() for number in range(EACH)}

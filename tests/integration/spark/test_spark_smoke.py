"""Job smoke on real brokers: a clean run, runs audited again after damage, retried tasks, transactions, no broker."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.errors import CannotRunError
from spark_validation.core.progress import Progress
from spark_validation.core.result import Result
from spark_validation.core.session import client_properties, jvm, kafka_options, producer_properties
from spark_validation.smoke import record
from spark_validation.smoke.config import parse
from spark_validation.smoke.geometry import Geometry
from spark_validation.smoke.job import Smoke
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.live import Echoes
from spark_validation.smoke.presence import Brokers, Presence, Watch
from spark_validation.smoke.topic import Topic
from spark_validation.smoke.write import AttemptsParam, writer_rows
from tests.support.cluster import Cluster, until
from tests.support.modules import run_module
from tests.support.spark import start_session

RECORDS = 3000
TOPIC = "smoke-on-brokers"


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    # The second number lets a failed task run again, as on a cluster.
    session = start_session("local[2,3]")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def admin(combined: Cluster) -> AdminClient:
    return AdminClient({"bootstrap.servers": ",".join(combined.bootstrap_servers)})


def create(combined: Cluster, name: str) -> None:
    config = {"message.timestamp.type": "LogAppendTime", "retention.ms": 3_600_000}
    topic = {"name": name, "partitions": 6, "replication_factor": 3, "config": config}
    result = run_module("streamops.kafka.topics", {"bootstrap_servers": combined.bootstrap_servers, "topics": [topic]})
    assert not result["failed"], result


def smoke(spark: SparkSession, combined: Cluster, output: Path, **given: Any) -> dict[str, Any]:
    """Run the job in this session; returns what its result.json would hold."""
    output.mkdir(parents=True, exist_ok=True)
    base = {
        "bootstrap_servers": combined.bootstrap_servers,
        "output_dir": str(output),
        "topic": TOPIC,
        "records": RECORDS,
    }
    arguments = parse({**base, "consent_topic": given.get("topic", TOPIC), "live_seconds": 0, **given})
    result = Result("smoke", arguments.mode, arguments.run_id, int(time.time() * 1000))
    progress = Progress(output / "progress.jsonl")
    try:
        Smoke(spark, arguments, progress, result).run()
    finally:
        progress.close()
    return result.to_dict()


def again(spark: SparkSession, combined: Cluster, first: Path, run_id: str, **given: Any) -> dict[str, Any]:
    """Audit an earlier run again."""
    audit = {"mode": "audit", "run_id": run_id, "ledger_file": str(first / "ledger.json")}
    return smoke(spark, combined, first / f"audit-{time.time_ns()}", **audit, **given)


def bad(result: dict[str, Any]) -> dict[str, str]:
    """The checks that neither passed nor only inform."""
    return {check["name"]: check["status"] for check in result["checks"] if check["status"] not in ("pass", "info")}


def actual(result: dict[str, Any], name: str) -> Any:
    return next(check["actual"] for check in result["checks"] if check["name"] == name)


@pytest.fixture(scope="module")
def first_run(
    spark: SparkSession, combined: Cluster, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, Any]]:
    """One clean run on its own topic, with everything that the job has to offer."""
    create(combined, TOPIC)
    output = tmp_path_factory.mktemp("first")
    brokers = [{"id": combined.identities[node]} for node in combined.nodes]
    layout = {"cluster_id": "as the role tells it", "brokers": brokers}
    return output, smoke(spark, combined, output, run_id="first", layout=layout, live_seconds=2)


def test_a_run_on_a_sound_cluster_passes_every_check(first_run: tuple[Path, dict[str, Any]]) -> None:
    _, result = first_run
    assert bad(result) == {}
    assert result["verdict"] == "pass"
    names = {check["name"] for check in result["checks"]}
    assert names >= {"leaders", "brokers", "range", "lost", "duplicated", "out_of_order", "misrouted", "corrupt"}
    assert names >= {"phantom", "tombstone", "coverage", "stream_agrees", "latency", "live_latency"}
    # Judged at the end, of the whole run.
    assert [check["title"] for check in result["checks"] if check["name"] == "alive"] == [
        "Every broker is up, before, during and after the run"
    ]


def test_every_broker_took_and_returned_records(first_run: tuple[Path, dict[str, Any]]) -> None:
    _, result = first_run
    leads = {partition["index"]: partition["leader"] for partition in result["cluster"]["partitions"]}
    records = {row["partition"]: row["records"] for row in result["figures"]["partitions"]}
    assert sum(records.values()) == RECORDS
    assert {leads[index] for index, count in records.items() if count} == {
        broker["id"] for broker in result["cluster"]["brokers"]
    }


def test_the_live_probe_measured_echoes_and_says_how(first_run: tuple[Path, dict[str, Any]]) -> None:
    live = first_run[1]["figures"]["live"]
    assert live["mode"] in ("real-time", "micro-batch")
    assert live["count"] > 0
    assert live["p50"] is not None


def test_progress_lines_tell_phase_and_records(first_run: tuple[Path, dict[str, Any]]) -> None:
    lines = [json.loads(line) for line in (first_run[0] / "progress.jsonl").read_text().splitlines()]
    assert {line["phase"] for line in lines} >= {"layout", "write", "audit", "stream", "live"}
    assert all(set(line) == {"t", "phase", "done", "total", "unit", "message"} for line in lines)


@pytest.mark.full
def test_an_earlier_run_is_audited_again_without_writing(
    spark: SparkSession, combined: Cluster, first_run: tuple[Path, dict[str, Any]]
) -> None:
    before = ends(combined, TOPIC)
    result = again(spark, combined, first_run[0], "first")
    assert (result["verdict"], bad(result)) == ("pass", {})
    assert result["figures"]["total"] == first_run[1]["figures"]["total"]
    assert ends(combined, TOPIC) == before


@pytest.mark.full
def test_a_ledger_of_another_run_is_refused(
    spark: SparkSession, combined: Cluster, first_run: tuple[Path, dict[str, Any]]
) -> None:
    with pytest.raises(CannotRunError, match="belongs to run 'first', not to 'second'"):
        again(spark, combined, first_run[0], "second")


@pytest.mark.full
def test_a_write_into_a_topic_of_others_needs_its_name_twice() -> None:
    with pytest.raises(CannotRunError, match="consent_topic"):
        parse({"run_id": "x", "bootstrap_servers": ["h:1"], "output_dir": "o", "topic": TOPIC})


def ends(combined: Cluster, topic: str) -> list[int]:
    client = Consumer({"bootstrap.servers": ",".join(combined.bootstrap_servers), "group.id": "ends"})
    try:
        return [client.get_watermark_offsets(TopicPartition(topic, index), timeout=10)[1] for index in range(6)]
    finally:
        client.close()


def copies(combined: Cluster, topic: str, count: int, commit: bool) -> None:
    """Append copies of the first records of partition 0 in one transaction, and commit or abort it."""
    servers = ",".join(combined.bootstrap_servers)
    reader = Consumer({"bootstrap.servers": servers, "group.id": "copies", "isolation.level": "read_committed"})
    reader.assign([TopicPartition(topic, 0, 0)])
    messages: list[Any] = []
    until(
        lambda: messages.extend(reader.consume(count - len(messages), 1)) or len(messages) == count, "records to copy"
    )
    reader.close()
    producer = Producer({"bootstrap.servers": servers, "transactional.id": f"copies-{commit}"})
    producer.init_transactions(20)
    before = ends(combined, topic)[0]
    producer.begin_transaction()
    for message in messages:
        producer.produce(topic, message.value(), message.key(), 0, headers=message.headers())
    producer.flush(20)
    if commit:
        producer.commit_transaction(20)
    else:
        producer.abort_transaction(20)
    # The answer comes before the marker is in the log; readers of committed records wait for it.
    until(lambda: ends(combined, topic)[0] == before + count + 1, "the marker")


def widened(first: Path, combined: Cluster, topic: str, directory: Path) -> Path:
    """The ledger of a run whose range is taken again, up to what the topic holds now."""
    ledger = Ledger.load(first / "ledger.json")
    now = ends(combined, topic)
    ledger = replace(ledger, ranges={index: (start, now[index]) for index, (start, _) in ledger.ranges.items()})
    directory.mkdir()
    ledger.save(directory / "ledger.json")
    return directory


@pytest.mark.full
def test_an_aborted_transaction_is_not_seen_and_a_committed_copy_is(
    spark: SparkSession, combined: Cluster, tmp_path: Path
) -> None:
    topic = "smoke-transactions"
    create(combined, topic)
    first = tmp_path / "first"
    assert smoke(spark, combined, first, run_id="tx", topic=topic, stream_check=False)["verdict"] == "pass"
    copies(combined, topic, 7, commit=False)
    aborted = again(spark, combined, widened(first, combined, topic, tmp_path / "a"), "tx", topic=topic)
    # Eight offsets more, seven of them records that nobody may see, and the marker: still nothing wrong.
    assert bad(aborted) == {}
    assert aborted["figures"]["total"]["records"] == RECORDS
    copies(combined, topic, 5, commit=True)
    committed = again(spark, combined, widened(first, combined, topic, tmp_path / "c"), "tx", topic=topic)
    assert bad(committed) == {"duplicated": "fail"}
    assert actual(committed, "duplicated") == 5


@pytest.mark.full
def test_records_deleted_since_show_and_retention_is_told_from_damage(
    spark: SparkSession, combined: Cluster, admin: AdminClient, tmp_path: Path
) -> None:
    topic = "smoke-deleted"
    create(combined, topic)
    first = tmp_path / "first"
    assert smoke(spark, combined, first, run_id="del", topic=topic, stream_check=False)["verdict"] == "pass"
    deleted_up_to(admin, TopicPartition(topic, 1, 100))
    damaged = again(spark, combined, first, "del", topic=topic, topic_retention_seconds=3600)
    assert bad(damaged) == {"range": "fail", "lost": "fail"}
    assert (actual(damaged, "lost"), damaged["verdict"]) == (100, "fail")
    expired = again(spark, combined, first, "del", topic=topic, topic_retention_seconds=0)
    assert bad(expired) == {"range": "inconclusive", "lost": "inconclusive"}
    assert expired["exit_code"] == 1


def deleted_up_to(admin: AdminClient, *places: TopicPartition) -> None:
    """Delete the records below these offsets."""
    for future in admin.delete_records(list(places)).values():
        future.result(20)


@pytest.mark.full
def test_a_run_is_audited_again_after_its_topic_gained_partitions_and_a_loss_is_a_failure(
    spark: SparkSession, combined: Cluster, admin: AdminClient, tmp_path: Path
) -> None:
    topic = "smoke-grown"
    create(combined, topic)
    first = tmp_path / "first"
    assert smoke(spark, combined, first, run_id="grown", topic=topic, stream_check=False)["verdict"] == "pass"
    for future in admin.create_partitions([NewPartitions(topic, 8)]).values():
        future.result(20)
    until(lambda: len(admin.list_topics(topic, timeout=10).topics[topic].partitions) == 8, "the new partitions")
    grown = again(spark, combined, first, "grown", topic=topic)
    assert (grown["verdict"], bad(grown)) == ("pass", {})
    # One partition loses a part and another one everything.
    deleted_up_to(admin, TopicPartition(topic, 1, 100), TopicPartition(topic, 2, 500))
    lost = again(spark, combined, first, "grown", topic=topic)
    assert (lost["verdict"], actual(lost, "lost"), actual(lost, "stream_agrees")) == ("fail", 600, RECORDS - 600)
    assert bad(lost) == {"range": "fail", "lost": "fail", "coverage": "fail"}


@pytest.mark.full
def test_two_validations_at_once_on_one_topic_both_pass_and_a_phantom_is_still_found(
    spark: SparkSession, combined: Cluster, tmp_path: Path
) -> None:
    topic = "smoke-shared"
    create(combined, topic)
    with ThreadPoolExecutor(2) as pool:
        # The first one without probes: its range, taken again, may hold none of its own.
        at_once = [
            pool.submit(smoke, spark, combined, tmp_path / name, run_id=name, topic=topic, live_seconds=seconds)
            for name, seconds in (("one", 0), ("two", 1))
        ]
        results = [run.result() for run in at_once]
    assert [(result["verdict"], bad(result)) for result in results] == [("pass", {})] * 2
    wide = widened(tmp_path / "one", combined, topic, tmp_path / "wide")
    result = again(spark, combined, wide, "one", topic=topic)
    assert (result["verdict"], bad(result)) == ("pass", {})
    # All that the other one wrote, with its probes, is in the range, and in no figure.
    assert actual(result, "other_runs") > RECORDS
    assert result["figures"]["total"]["records"] == actual(result, "stream_agrees") == RECORDS
    producer = Producer({"bootstrap.servers": ",".join(combined.bootstrap_servers)})
    producer.produce(topic, b"an order that went astray", b"k", 0)
    producer.flush(20)
    wide = widened(tmp_path / "one", combined, topic, tmp_path / "astray")
    astray = again(spark, combined, wide, "one", topic=topic)
    assert (bad(astray), actual(astray, "phantom")) == ({"phantom": "fail"}, 1)


@pytest.mark.full
def test_a_topic_made_anew_since_shows(
    spark: SparkSession, combined: Cluster, admin: AdminClient, tmp_path: Path
) -> None:
    topic = "smoke-anew"
    create(combined, topic)
    first = tmp_path / "first"
    assert smoke(spark, combined, first, run_id="anew", topic=topic, stream_check=False)["verdict"] == "pass"
    for future in admin.delete_topics([topic]).values():
        future.result(20)
    until(lambda: topic not in admin.list_topics(timeout=10).topics, "the topic to be gone")
    gone = again(spark, combined, first, "anew", topic=topic)
    assert bad(gone) == {"range": "fail"}
    create(combined, topic)
    anew = again(spark, combined, first, "anew", topic=topic)
    assert actual(anew, "lost") == RECORDS
    assert bad(anew).items() >= {"range": "fail", "lost": "fail"}.items()


@pytest.mark.full
def test_a_task_that_fails_and_is_retried_leaves_neither_loss_nor_duplicates(
    spark: SparkSession, combined: Cluster, tmp_path: Path
) -> None:
    topic = "smoke-retried"
    create(combined, topic)
    given = {"run_id": "retry", "bootstrap_servers": combined.bootstrap_servers, "output_dir": str(tmp_path)}
    arguments = parse({**given, "topic": topic, "consent_topic": topic})
    shape = Geometry(RECORDS, 6, 2)
    accepted = spark.sparkContext.accumulator({}, AttemptsParam())
    rows = record.to_kafka(record.with_identity(writer_rows(spark, shape, accepted), shape), "retry", topic, (900, 900))
    # The first attempt of writer 1 breaks off after 100 rounds, when it has sent several batches.
    doomed = F.substring("key", 7, 10).eqNullSafe(F.lit(bytearray(b"0000010000"))) & (
        F.substring("key", 24, 3) == b"100"
    )
    rows = rows.withColumn("value", F.when(doomed, F.raise_error("doomed").cast("binary")).otherwise(F.col("value")))
    rows.write.format("kafka").options(**kafka_options(producer_properties(arguments))).save()
    assert accepted.value == {0: 0, 1: 1}
    with Topic(jvm(spark), topic, client_properties(arguments)) as reader:
        ranges = {index: (0, end) for index, end in reader.ends(6).items()}
    now = int(time.time() * 1000)
    Ledger("retry", topic, None, shape, dict(accepted.value), ranges, now - 60_000, now).save(tmp_path / "ledger.json")
    result = again(spark, combined, tmp_path, "retry", topic=topic)
    assert bad(result) == {}
    assert 0 < actual(result, "attempt_leftovers") <= 600


@pytest.mark.full
def test_what_others_write_is_no_echo_of_the_live_probe(spark: SparkSession, combined: Cluster, tmp_path: Path) -> None:
    topic = "smoke-echoes"
    create(combined, topic)
    given = {"run_id": "mine", "bootstrap_servers": combined.bootstrap_servers, "output_dir": str(tmp_path)}
    echoes = Echoes(spark, parse(given), topic, dict.fromkeys(range(6), 0))
    producer = Producer({"bootstrap.servers": ",".join(combined.bootstrap_servers)})

    def echo(run_id: str) -> bytes:
        return f"{record.ECHO}{run_id.ljust(32)}{0:013d}".encode()

    for index in range(6):
        for value in (echo("other"), b"\xff\x00", b"an order"):
            producer.produce(topic, value, None, index)
    producer.flush(20)
    try:
        assert not any(echoes.is_there() for _look in range(20))
        producer.produce(topic, echo("mine"), None, 3)
        producer.flush(20)
        until(echoes.is_there, "the echo")
    finally:
        echoes.close()


@pytest.mark.full
def test_a_broker_that_is_away_for_a_while_is_named(spark: SparkSession, combined: Cluster, tmp_path: Path) -> None:
    node = combined.nodes[-1]
    broker = combined.identities[node]
    given = {"run_id": "away", "bootstrap_servers": combined.bootstrap_servers, "output_dir": str(tmp_path)}
    presence = Presence(combined.identities[name] for name in combined.nodes)
    with Brokers(jvm(spark), client_properties(parse(given))) as brokers, Watch(presence, brokers.live):
        until(lambda: presence.looks > 0, "a look")
        assert presence.absences == {}
        combined.stop(node)
        try:
            until(lambda: broker in presence.absences, "the broker to be missed")
        finally:
            combined.start(node)
        until(lambda: presence.absences[broker].is_back, "the broker to be back", 120)
    check = presence.check()
    assert (check.status, [example["broker"] for example in check.examples]) == ("fail", [broker])
    assert f"broker {broker} was away for about" in check.suggests


@pytest.mark.full
def test_a_missing_topic_is_named(spark: SparkSession, combined: Cluster, tmp_path: Path) -> None:
    with pytest.raises(CannotRunError, match="topic nowhere: it does not exist"):
        smoke(spark, combined, tmp_path, run_id="x", topic="nowhere")


@pytest.mark.full
def test_a_broker_that_does_not_answer_ends_the_job_in_seconds(
    spark: SparkSession, combined: Cluster, tmp_path: Path
) -> None:
    begun = time.monotonic()
    with pytest.raises(CannotRunError, match="Timeout"):
        smoke(spark, combined, tmp_path, run_id="x", bootstrap_servers=["127.0.0.1:1"], timeout_seconds=3)
    # Far from a timed assertion: without the lowered timeouts it takes minutes.
    assert time.monotonic() - begun < 60

"""Job mirror_audit on real brokers: one cluster is source and target, the test writes what a mirror would."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient
from pyspark.sql import SparkSession

from spark_validation.core.progress import Progress
from spark_validation.core.result import Result
from spark_validation.mirror.config import parse
from spark_validation.mirror.job import MirrorAudit
from spark_validation.mirror.seen import Compared, Scope
from spark_validation.report.page import render
from tests.support.cluster import Cluster
from tests.support.mirror_copies import Message, mirror, positions, write
from tests.support.modules import REPOSITORY, run_module
from tests.support.spark import connector_jars, start_session
from tests.support.spark_cluster import ON_LOOPBACK, SparkCluster

PARTITIONS = 3
OFFSETS = "mm2-offsets.dc_a.internal"
BEGAN = int(time.time() * 1000) - 600_000


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    session = start_session()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def servers(combined: Cluster) -> str:
    topics = [topic(OFFSETS, **{"cleanup.policy": "compact"})]
    topics += [topic(name) for name in ("sales", "dc_a.sales", "dc_a.lossy", "lossy", "ahead", "gone", "short")]
    topics += [topic("lone"), topic("dc_a.lone"), topic("dc_a.short"), topic("idle"), topic("old"), topic("dc_a.ahead")]
    topics += [topic("cut"), topic("dc_a.cut")]
    both_sides = ("daily", "remade", "aged", "purged", "steady", "empty")
    topics += [topic(f"{prefix}{name}") for name in both_sides for prefix in ("", "dc_a.")]
    topics += [
        topic("spread"),
        topic("dc_a.spread"),
        topic("stamped"),
        topic("dc_a.stamped", **{"message.timestamp.type": "LogAppendTime"}),
    ]
    topics += [topic(name, **{"cleanup.policy": "compact"}) for name in ("state", "dc_a.state")]
    result = run_module("streamops.kafka.topics", {"bootstrap_servers": combined.bootstrap_servers, "topics": topics})
    assert not result["failed"], result["msg"]
    return ",".join(combined.bootstrap_servers)


def topic(name: str, **config: Any) -> dict[str, Any]:
    return {"name": name, "partitions": PARTITIONS, "replication_factor": 3, "config": config}


def messages(count: int = 60, first: int = 0) -> list[Message]:
    """Records with and without key, value and headers, over all partitions."""
    return [
        Message(
            place % PARTITIONS,
            None if place % 7 == 0 else b"key-%d" % (place % 11),
            None if place % 13 == 0 and place % 7 else b"value-%d" % place,
            BEGAN + place * 1000,
            [("trace", b"%d" % place), ("empty", None)] if place % 2 else [],
        )
        for place in range(first, first + count)
    ]


def filled(servers: str, name: str) -> None:
    """A source that ends in an aborted transaction, behind a committed one."""
    write(servers, name, messages())
    write(servers, name, messages(30, 60), transaction=f"{name}-good")
    write(servers, name, messages(90, 90), transaction=f"{name}-bad", commit=False)


def delete_up_to(servers: str, offset: int, *names: str) -> None:
    """Delete the records of partition 1 of these topics below an offset."""
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.delete_records([TopicPartition(name, 1, offset) for name in names]).values():
        future.result(20)


def audit(spark: SparkSession, servers: str, output: Path, names: list[str], **given: Any) -> dict[str, Any]:
    """Run the job in this session; returns what its result.json would hold."""
    output.mkdir(parents=True, exist_ok=True)
    side = {"bootstrap_servers": servers.split(",")}
    arguments = parse(
        {
            "run_id": "audit", "output_dir": str(output), "wait_seconds": 20,
            "source": {"alias": "dc_a", **side}, "target": {"alias": "dc_b", **side},
            "position": {"offsets_topic": OFFSETS},
            "topics": [{"source": name, "target": f"dc_a.{name}"} for name in names],
            **given,
        }
    )  # fmt: skip
    result = Result("mirror_audit", arguments.mode, arguments.run_id, int(time.time() * 1000))
    result.settings = arguments.public()
    progress = Progress(output / "progress.jsonl")
    try:
        MirrorAudit(spark, arguments, progress, result).run()
    finally:
        progress.close()
    document = result.to_dict()
    assert render(document)
    return document


def bad(result: dict[str, Any]) -> dict[str, tuple[str, Any]]:
    """The checks that neither passed nor only inform, with what they found."""
    return {
        check["name"]: (check["status"], check["actual"])
        for check in result["checks"]
        if check["status"] not in ("pass", "info")
    }


def examples(result: dict[str, Any], name: str) -> list[dict[str, Any]]:
    return next(list(check["examples"]) for check in result["checks"] if check["name"] == name)


@pytest.mark.full
def test_a_sound_mirror_passes_with_transactions_compaction_and_a_clock_of_its_own(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    for name in ("sales", "stamped"):
        filled(servers, name)
    write(servers, "state", [replace(message, key=message.key or b"none") for message in messages()])
    for name in ("sales", "stamped", "state"):
        positions(servers, OFFSETS, "dc_a", name, mirror(servers, name, f"dc_a.{name}", PARTITIONS))
    result = audit(spark, servers, tmp_path, ["sales", "stamped", "state"])
    assert (result["verdict"], bad(result)) == ("pass", {})
    by_topic = {row["source"]: (row["records"], row["mirrored"]) for row in result["figures"]["topics"]}
    # The 90 records of the aborted transactions are seen by nobody.
    assert by_topic["sales"] == by_topic["stamped"] == (90, 90)
    assert (tmp_path / "progress.jsonl").read_text().count('"phase": "wait"')


@pytest.mark.full
def test_faults_are_named_and_located(spark: SparkSession, servers: str, tmp_path: Path) -> None:
    filled(servers, "lossy")

    def damage(copied: list[Message]) -> list[Message]:
        """One lost, one with another header, one that came twice."""
        first = [message for message in copied if message.partition == 0]
        rest = [message for message in copied if message.partition != 0]
        first[5] = replace(first[5], headers=[("trace", b"other")])
        return first[:3] + first[4:] + first[-1:] + rest

    positions(servers, OFFSETS, "dc_a", "lossy", mirror(servers, "lossy", "dc_a.lossy", PARTITIONS, damage))
    write(servers, "gone", messages(6))
    positions(servers, OFFSETS, "dc_a", "gone", {0: 1, 1: 1, 2: 1})
    result = audit(spark, servers, tmp_path, ["lossy", "gone"])
    assert bad(result) == {"topics": ("fail", 1), "lost": ("fail", 1), "changed": ("fail", 1)}
    (lost,) = examples(result, "lost")
    assert (lost["topic"], lost["partition"], lost["source_offset"]) == ("lossy", 0, 3)
    (changed,) = examples(result, "changed")
    assert (changed["source_offset"], changed["target_offset"], changed["differs_in"]) == (5, 4, "headers")
    assert next(check for check in result["checks"] if check["name"] == "duplicated")["actual"] == 1
    again = audit(spark, servers, tmp_path, ["lossy"], flow={"exactly_once": "enabled"})
    assert bad(again)["duplicated"] == ("fail", 1)


@pytest.mark.full
def test_a_mirror_that_is_behind_or_unknown_is_not_judged(spark: SparkSession, servers: str, tmp_path: Path) -> None:
    write(servers, "ahead", messages())
    write(servers, "idle", messages())
    last = mirror(servers, "ahead", "dc_a.ahead", PARTITIONS)
    positions(servers, OFFSETS, "dc_a", "ahead", {**last, 0: last[0] - 7})
    result = audit(spark, servers, tmp_path, ["ahead", "idle"], wait_seconds=1)
    assert result["verdict"] == "inconclusive"
    assert bad(result) == {
        "position": ("inconclusive", 1),
        "caught_up": ("inconclusive", 67),
        "compared": ("inconclusive", 0),
    }
    assert examples(result, "position") == [{"topic": "idle"}]
    assert examples(result, "caught_up") == [{"topic": "idle", "left": 60}, {"topic": "ahead", "left": 7}]


@pytest.mark.full
def test_what_the_target_removed_is_not_judged_and_the_rest_is(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    write(servers, "short", messages())
    positions(servers, OFFSETS, "dc_a", "short", mirror(servers, "short", "dc_a.short", PARTITIONS))
    delete_up_to(servers, 5, "dc_a.short")
    result = audit(spark, servers, tmp_path, ["short"])
    assert bad(result) == {"retention": ("inconclusive", 5)}
    later = audit(spark, servers, tmp_path, ["short"], from_ms=BEGAN + 20_000)
    assert (later["verdict"], bad(later)) == ("pass", {})


@pytest.mark.full
def test_what_the_source_deleted_before_it_was_mirrored_fails_though_both_sides_are_equal(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    write(servers, "cut", messages())
    delete_up_to(servers, 5, "cut")
    positions(servers, OFFSETS, "dc_a", "cut", mirror(servers, "cut", "dc_a.cut", PARTITIONS))
    # A comparison cannot know of them.
    assert audit(spark, servers, tmp_path, ["cut"])["verdict"] == "pass"
    gap = {"kind": "purged", "topic": "cut", "partition": 1, "first": 0, "last": 4, "records": 5, "certain": True}
    result = audit(spark, servers, tmp_path, ["cut"], gaps=[gap])
    assert (result["verdict"], bad(result), examples(result, "gaps")) == ("fail", {"gaps": ("fail", 5)}, [gap])
    # Of a topic that is gone, so that no pair names it.
    gone = {**gap, "kind": "deleted", "topic": "gone_whole"}
    result = audit(spark, servers, tmp_path, ["cut"], gaps=[gone])
    assert (result["verdict"], bad(result), examples(result, "gaps")) == ("fail", {"gaps": ("fail", 5)}, [gone])


@pytest.mark.full
def test_a_topic_that_loses_records_while_it_is_read_is_left_out_and_the_others_are_judged(
    spark: SparkSession, servers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("purged", "steady"):
        write(servers, name, messages())
        positions(servers, OFFSETS, "dc_a", name, mirror(servers, name, f"dc_a.{name}", PARTITIONS))
    compare, looks = MirrorAudit._seen, []

    def purged(job: MirrorAudit, scopes: list[Scope]) -> tuple[Compared | None, str]:
        """Compare, and take records away before the first time."""
        looks.append([scope.source for scope in scopes])
        if len(looks) == 1:
            delete_up_to(servers, 5, "purged")
        return compare(job, scopes)

    monkeypatch.setattr(MirrorAudit, "_seen", purged)
    result = audit(spark, servers, tmp_path, ["purged", "steady"])
    assert looks == [["purged", "steady"], ["steady"]]
    assert (result["verdict"], bad(result)) == ("inconclusive", {"stable": ("inconclusive", 1)})
    assert result["covered"] == [
        "compared 1 of 2 topics: 60 records of the source with 60 of the mirror",
        "left out: topic purged: records of partition 1 were removed up to offset 5",
    ]
    # What is wrong with another topic decides.
    write(servers, "dc_a.steady", [Message(0, b"x", b"not of the source", BEGAN)])
    result = audit(spark, servers, tmp_path, ["steady", "not_there"])
    assert (result["verdict"], bad(result)) == ("fail", {"stable": ("inconclusive", 1), "phantom": ("fail", 1)})


@pytest.mark.full
def test_an_audit_of_no_record_and_one_of_a_deleted_topic_say_that_nothing_was_compared(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    result = audit(spark, servers, tmp_path, ["empty"])
    assert (result["verdict"], bad(result)) == ("inconclusive", {"compared": ("inconclusive", 0)})
    result = audit(spark, servers, tmp_path, ["not_there"])
    assert bad(result) == {"stable": ("inconclusive", 1), "compared": ("inconclusive", 0)}
    assert result["covered"][1] == "left out: topic not_there: it was deleted"


@pytest.mark.full
def test_the_legacy_engine_tells_its_position_as_a_group(spark: SparkSession, servers: str, tmp_path: Path) -> None:
    write(servers, "old", messages())
    group = Consumer({"bootstrap.servers": servers, "group.id": "streamops-mirror-dc_a-dc_b"})
    group.commit(offsets=[TopicPartition("old", index, 20) for index in range(PARTITIONS)], asynchronous=False)
    group.close()
    legacy = {"flow": {"engine": "legacy"}, "position": {"group": "streamops-mirror-dc_a-dc_b"}}
    same = {"topics": [{"source": "old", "target": "old"}]}
    result = audit(spark, servers, tmp_path, [], **legacy, **same)
    assert (result["verdict"], bad(result)) == ("pass", {})


def incremental(spark: SparkSession, servers: str, output: Path, name: str, before: dict[str, Any]) -> dict[str, Any]:
    """Audit a topic from the marks that the audit before it left."""
    return audit(spark, servers, output, [name], marks=before["figures"]["marks"], incremental=True)


def more(servers: str, name: str, count: int, first: int) -> None:
    """Write records into a source, and the same into its mirror; the mirror says that it has come to their end."""
    write(servers, name, messages(count, first))
    write(servers, f"dc_a.{name}", messages(count, first))
    last = dict.fromkeys(range(PARTITIONS), (first + count) // PARTITIONS - 1)
    positions(servers, OFFSETS, "dc_a", name, last)


@pytest.mark.full
def test_an_incremental_audit_reads_what_is_new_and_finds_an_old_record_that_came_again(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    more(servers, "daily", 60, 0)
    first = audit(spark, servers, tmp_path, ["daily"])
    assert [mark["offset"] for mark in first["figures"]["marks"]] == [19, 19, 19]
    more(servers, "daily", 30, 60)
    second = incremental(spark, servers, tmp_path, "daily", first)
    # Of each partition ten new records, and the last proven one.
    assert (second["verdict"], second["figures"]["total"]["records"]) == ("pass", 33)
    assert second["figures"]["covered"]["earlier"]["records"] == 60
    assert second["covered"][1].startswith("not read again in 3 partitions: 60 records that earlier audits proved")
    assert {(mark["offset"], mark["records"]) for mark in second["figures"]["marks"]} == {(29, 30)}
    # A repeat of the first record, and a phantom with an old time.
    write(servers, "dc_a.daily", [messages(1)[0], replace(messages(2)[1], value=b"not of the source")])
    third = incremental(spark, servers, tmp_path, "daily", second)
    assert bad(third) == {"phantom": ("fail", 1)}
    assert next(check for check in third["checks"] if check["name"] == "duplicated")["actual"] == 1
    assert third["figures"]["total"]["records"] == 30 + 30 + 1
    assert third["covered"][2] == "partitions compared whole: 2 (what is new behind its mark is not equal)"
    assert [mark["partition"] for mark in third["figures"]["marks"]] == [2]


@pytest.mark.full
def test_a_mark_of_a_topic_that_was_made_anew_or_holds_another_record_is_void(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    more(servers, "remade", 60, 0)
    first = audit(spark, servers, tmp_path, ["remade"])
    # As after a log was cut and written again.
    other = [{**mark, "fingerprint": mark["fingerprint"] ^ 1} for mark in first["figures"]["marks"]]
    again = audit(spark, servers, tmp_path, ["remade"], marks=other, incremental=True)
    assert again["verdict"] == "pass"
    assert again["covered"][1] == "partitions compared whole: 3 (another record stands where the last proven one stood)"
    admin = AdminClient({"bootstrap.servers": servers})
    for future in admin.delete_topics(["dc_a.remade"]).values():
        future.result(20)
    time.sleep(3)
    given = {"bootstrap_servers": servers.split(","), "topics": [topic("dc_a.remade")]}
    assert not run_module("streamops.kafka.topics", given)["failed"]
    # One record less than before: an audit that reads only what is new would not miss it.
    write(servers, "dc_a.remade", messages(60)[1:])
    third = incremental(spark, servers, tmp_path, "remade", first)
    assert bad(third) == {"lost": ("fail", 1)}
    assert third["covered"][1] == "partitions compared whole: 3 (the topic was made anew in the target since then)"


@pytest.mark.full
def test_what_retention_takes_on_one_side_is_found_though_it_was_proven(
    spark: SparkSession, servers: str, tmp_path: Path
) -> None:
    more(servers, "aged", 60, 0)
    first = audit(spark, servers, tmp_path, ["aged"])
    delete_up_to(servers, 5, "aged", "dc_a.aged")
    second = incremental(spark, servers, tmp_path, "aged", first)
    assert (second["verdict"], second["figures"]["covered"]["earlier"]["partitions"]) == ("pass", 3)
    delete_up_to(servers, 9, "dc_a.aged")
    third = incremental(spark, servers, tmp_path, "aged", second)
    assert bad(third) == {"retention": ("inconclusive", 4)}
    assert third["figures"]["covered"]["earlier"]["partitions"] == 2


@pytest.mark.full
def test_marks_are_kept_with_the_target(combined: Cluster, tmp_path: Path) -> None:
    given = {"bootstrap_servers": combined.bootstrap_servers, "source": "dc_a", "target": "dc_b"}
    assert run_module("streamops.kafka.mirror_marks", given)["marks"] == []
    mark = {
        "topic": "orders", "partition": 0, "source_id": "s", "target_id": "t", "offset": 9, "copy": 9,
        "fingerprint": -(2**63), "records": 10, "whole_ms": BEGAN,
    }  # fmt: skip
    marks = [{**mark, "topic": "t" * 100, "partition": index} for index in range(2000)]
    settings = {"source": {"alias": "dc_a"}, "target": {"alias": "dc_b"}}
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"settings": settings, "figures": {"marks": marks}}))
    kept = run_module("streamops.kafka.mirror_marks", {**given, "result": str(path)})
    assert (kept["partitions"], kept["left_out"], "marks" in kept) == (2000, 0, False)
    assert run_module("streamops.kafka.mirror_marks", given)["marks"] == marks


def submitted(servers: str, output: Path, name: str, **options: Any) -> dict[str, Any]:
    """Run the job on one topic by the module; `options` are those of the module."""
    side = {"bootstrap_servers": servers.split(",")}
    given = {
        "job": "mirror_audit", "output_dir": str(output), "run_id": name,
        "package": str(REPOSITORY / "spark_validation"), "python": sys.executable,
        "spark_submit": str(Path(sys.executable).with_name("spark-submit")), "jars": connector_jars(),
        "client_properties": {"client.id": "target"},
        "source_client_properties": {"client.id": "source", "ssl.key.password": "s3cret"},
        "arguments": {
            "source": {"alias": "dc_a", **side}, "target": {"alias": "dc_b", **side},
            "position": {"offsets_topic": OFFSETS}, "topics": [{"source": name, "target": f"dc_a.{name}"}],
        },
    }  # fmt: skip
    return run_module("streamops.kafka.spark_job", {**given, **options}, timeout=300)


@pytest.mark.full
def test_the_job_is_submitted_by_the_module_with_secrets_in_its_file_only(servers: str, tmp_path: Path) -> None:
    write(servers, "lone", messages(9))
    positions(servers, OFFSETS, "dc_a", "lone", mirror(servers, "lone", "dc_a.lone", PARTITIONS))
    result = submitted(servers, tmp_path / "reports", "lone")
    assert result["verdict"] == "pass", result
    assert "s3cret" not in Path(result["report"]).read_text()
    assert not (Path(result["report"]).parent / "args.json").exists()


@pytest.mark.full
def test_two_workers_of_a_standalone_cluster_find_what_is_lost(servers: str, tmp_path: Path) -> None:
    write(servers, "spread", messages())
    last = mirror(servers, "spread", "dc_a.spread", PARTITIONS, lambda copied: copied[:4] + copied[5:])
    positions(servers, OFFSETS, "dc_a", "spread", last)
    cluster = SparkCluster(tmp_path)
    try:
        master = cluster.start().master
        result = submitted(servers, tmp_path / "reports", "spread", master=master, conf=ON_LOOPBACK)
    finally:
        cluster.stop()
    assert (result["verdict"], bad(result["result"])) == ("fail", {"lost": ("fail", 1)}), result
    assert cluster.executors() == 2

"""A rolling restart that is proven: nothing is lost, each gap has its node, and nothing is left running."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove.run import alive
from tests.support.cluster import ROOT, Cluster, free_port_base, kill, read_until, until

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes."""
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path_factory.mktemp("proven"), free_port_base())
    cluster.variables["streamops_artifacts"] = str(cluster.directory / "left")
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def stream(cluster: Cluster) -> str:
    """The directory of its stream on the control node."""
    return str(cluster.directory / "left" / "cache" / "prove" / "local")


def reports(cluster: Cluster) -> list[Path]:
    return sorted((cluster.directory / "left" / "local").glob("*-prove/report.json"))


def test_a_proven_roll_loses_nothing_and_names_who_restarted_in_each_gap(cluster: Cluster) -> None:
    before = cluster.pids()
    asked = {"kafka_prove": "true", "kafka_prove_rate": "200", "kafka_prove_spark": "true"}
    run = cluster.playbook("playbooks/rolling_restart.yml", **asked).ok()
    assert all(cluster.pid(node) != before[node] for node in cluster.nodes)
    said = " ".join(run.output.split())
    assert "Proof pass: " in said
    assert "none lost, repeated or out of order" in said
    (report,) = reports(cluster)
    told = json.loads(report.read_text())
    assert (told["schema"], told["cluster"], told["verdict"]) == ("streamops.proof/1", "local", "pass")
    assert min(told["acknowledged"].values()) > 1000
    assert told["read"] == told["read_second"] >= sum(told["acknowledged"].values())
    assert f"a plain one found {told['read']:,} records, Spark {told['read_second']:,}" in said
    assert {one["host"] for one in told["restarts"]} == set(cluster.nodes)
    assert len(told["gaps"]) == 6
    longest = max(told["gaps"], key=lambda one: one["seconds"])
    assert longest["hosts"]
    assert longest["seconds"] < 60
    assert report.with_suffix(".html").exists()
    assert alive(stream(cluster)) is None
    assert "__streamops_prove" not in cluster.tool("kafka-topics.sh", "--list")


def test_a_run_that_is_killed_leaves_no_stream_behind_and_the_next_proof_begins_anew(cluster: Cluster) -> None:
    run = cluster.begin("playbooks/rolling_restart.yml", kafka_prove=True)
    read_until(run, "Roll | Record the restart")
    assert alive(stream(cluster)) is not None
    kill(run)
    until(lambda: alive(stream(cluster)) is None, "the stream to end with its run", 30)


def test_a_second_reader_that_does_not_come_is_no_pass_and_the_report_says_why(cluster: Cluster) -> None:
    before = len(reports(cluster))
    asked = {"kafka_prove": True, "kafka_prove_spark": True, "spark_validation_spark_submit": "/no/spark-submit"}
    run = cluster.playbook("playbooks/rolling_restart.yml", **asked)
    assert run.rc != 0
    said = " ".join(run.output.split())
    assert "Proof inconclusive: " in said
    assert "the second reader did not reach the end: Spark gives no second reading of topic __streamops_prove" in said
    assert "/no/spark-submit" in said
    assert len(reports(cluster)) == before + 1
    assert json.loads(reports(cluster)[-1].read_text())["verdict"] == "inconclusive"
    assert alive(stream(cluster)) is None


def test_a_roll_that_restarts_nothing_and_one_in_check_mode_write_nothing(cluster: Cluster) -> None:
    before = len(reports(cluster))
    run = cluster.playbook("playbooks/rolling_restart.yml", "--check", kafka_prove=True).ok()
    assert "Prove | Make the topic" not in run.output
    assert len(reports(cluster)) == before

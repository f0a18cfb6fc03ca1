"""A stream of records goes on while a real broker is killed and started: nothing is lost, and the gap has its name."""

from __future__ import annotations

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.streamops.kafka.plugins.module_utils._node.processes import stat
from ansible_collections.streamops.kafka.plugins.module_utils._prove.ledger import acknowledged_by
from ansible_collections.streamops.kafka.plugins.module_utils._prove.run import alive, ledger
from tests.support.cluster import free_port_base, until
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker without security."""
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("prove"), free_port_base())
    one.format("MkU3OEVBNTcwNTJENDM2Qk")
    one.start()
    yield one
    one.kill()


@pytest.fixture
def proof(broker: LoneBroker, tmp_path: Path) -> Iterator[Callable[..., dict[str, Any]]]:
    """The module on a directory of its own, whose stream does not outlive the test."""
    directory = str(tmp_path / "prove")
    own = {"bootstrap_servers": broker.bootstrap_servers, "directory": directory}
    yield lambda state, **options: run_module("streamops.kafka.record_proof", {**own, "state": state, **options})
    run_module("streamops.kafka.record_proof", {**own, "state": "stopped"})
    assert alive(directory) is None


def acknowledged(folder: Path) -> int:
    """How many records each of the two producers has at least."""
    return min(acknowledged_by(ledger(str(folder / "prove"))).values())


def restarted(broker: LoneBroker) -> dict[str, Any]:
    """Kill the broker as a power failure does, start it, and return the times."""
    stopped = time.time()
    broker.kill()
    time.sleep(2)
    broker.start()
    listening = time.time()
    return {"host": "kafka1", "stopped": stopped, "listening": listening, "in_sync": listening + 1}


def test_a_killed_broker_loses_nothing_and_the_gap_has_its_name(
    broker: LoneBroker, proof: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    began = time.time()
    begun = proof("started", rate=200, seconds=120)
    assert not begun["failed"], begun
    until(lambda: acknowledged(tmp_path) >= 200, "both producers to be under way", 60)
    times = restarted(broker)
    behind = acknowledged(tmp_path)
    until(lambda: acknowledged(tmp_path) >= behind + 200, "both producers to go on", 60)
    found = proof("judged", proof=begun["proof_id"], restarts=[times])
    assert not found["failed"], found
    told = found["proof"]
    assert (told["verdict"], told["why"], told["wrong"]) == ("pass", "", [])
    assert min(told["acknowledged"].values()) >= 400
    assert max(told["acknowledged"].values()) <= 100 * (time.time() - began), "no more a second than asked for"
    assert told["read"] >= sum(told["acknowledged"].values())
    assert [one["partition"] for one in told["gaps"]] == list(range(begun["partitions"]))
    for one in (*told["gaps"], told["commit_gap"]):
        assert one["hosts"] == ["kafka1"]
        assert 2 <= one["seconds"] < 40
    assert alive(str(tmp_path / "prove")) is None
    topics = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": broker.bootstrap_servers})["topics"]
    assert "__streamops_prove" not in {one["name"] for one in topics}


@pytest.mark.full
def test_records_that_were_deleted_are_lost_and_the_topic_stays(
    broker: LoneBroker, proof: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    begun = proof("started", rate=100, seconds=60)
    until(lambda: acknowledged(tmp_path) >= 100, "both producers to be under way", 60)
    topic = "__streamops_prove:0"
    gone = {"topics": [topic], "delete_before": "offset", "offset": 5, "confirm": ["__streamops_prove"]}
    deleted = run_module("streamops.kafka.topic_records", {"bootstrap_servers": broker.bootstrap_servers, **gone})
    assert not deleted["failed"], deleted
    told = proof("judged", proof=begun["proof_id"])["proof"]
    assert told["verdict"] == "fail"
    assert told["lost"] > 0
    assert told["why"].startswith("topic __streamops_prove, partition 0, offsets 0 to 4: ")
    assert told["why"].endswith("acknowledged and lost")
    again = proof("started", rate=100, seconds=60)
    assert "holds the records of a proof that failed" in again["msg"]
    assert acknowledged(tmp_path) >= 100, "the ledger of the failed proof stays"
    servers = {"bootstrap_servers": broker.bootstrap_servers}
    gone = {"topics": [{"name": "__streamops_prove", "state": "absent"}], "allow_delete": True}
    assert not run_module("streamops.kafka.topics", {**servers, **gone})["failed"]


@pytest.mark.full
def test_a_stream_that_nobody_answers_at_its_end_is_no_pass(
    broker: LoneBroker, proof: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    begun = proof("started", rate=100, seconds=10)
    until(lambda: acknowledged(tmp_path) >= 50, "both producers to be under way", 60)
    broker.kill()
    before = dict.fromkeys(("stopped", "listening", "in_sync"), time.time() - 1)
    until(lambda: alive(str(tmp_path / "prove")) is None, "the stream to end by its time", 120)
    broker.start()
    told = proof("judged", proof=begun["proof_id"], restarts=[{"host": "kafka1", **before}])["proof"]
    assert (told["verdict"], told["lost"]) == ("inconclusive", 0)
    assert "2 of 2 partitions acknowledged no idempotent record at the end of the stream" in told["why"]
    assert all(one["seconds"] > 1 for one in told["gaps"])


@pytest.mark.full
def test_records_behind_an_open_transaction_are_waited_for(
    broker: LoneBroker, proof: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    begun = proof("started", rate=100, seconds=60)
    until(lambda: acknowledged(tmp_path) >= 50, "both producers to be under way", 60)
    servers = ",".join(broker.bootstrap_servers)
    own = {"bootstrap.servers": servers, "transactional.id": "late", "transaction.timeout.ms": 10000}
    other = Producer(own)
    other.init_transactions(20)
    other.begin_transaction()
    other.produce("__streamops_prove", value=b"of another run", partition=0)
    assert other.flush(20) == 0
    behind = acknowledged(tmp_path)
    until(lambda: acknowledged(tmp_path) >= behind + 50, "both producers to go on", 60)
    told = proof("judged", proof=begun["proof_id"])["proof"]
    assert (told["verdict"], told["why"], told["lost"]) == ("pass", "", 0)


def test_a_stream_ends_with_its_run_and_leaves_no_process(proof: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as run, contextlib.ExitStack() as last:
        last.callback(run.kill)
        begun = proof("started", run=f"here {run.pid} {stat(run.pid)[1]}", seconds=60)
        assert not begun["failed"], begun
        assert alive(str(tmp_path / "prove")) is not None
        again = proof("started", seconds=60)
        assert "a stream is under way" in again["msg"]
        for state in ("judged", "stopped"):
            proof(state, proof="another")
            assert alive(str(tmp_path / "prove")) is not None, "a stream of another run goes on"
        run.kill()
        run.wait(10)
        until(lambda: alive(str(tmp_path / "prove")) is None, "the stream to end with its run", 30)
    assert proof("judged", proof=begun["proof_id"])["proof"]["why"].startswith(
        "the stream ended because its run was gone"
    )


@pytest.mark.full
def test_a_stream_ends_by_its_time(proof: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    # Time for a transaction of about a second to be committed, also where the machine is busy.
    begun = proof("started", seconds=10)
    until(lambda: alive(str(tmp_path / "prove")) is None, "the stream to end by its time", 40)
    told = proof("judged", proof=begun["proof_id"])["proof"]
    assert told["verdict"] == "partial"
    assert "kafka_prove_seconds" in told["why"]


def test_another_topic_is_refused_before_anything_is_made(proof: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    refused = proof("started", topic="orders")
    assert "does not begin with __streamops_prove" in refused["msg"]
    assert not (tmp_path / "prove").exists()

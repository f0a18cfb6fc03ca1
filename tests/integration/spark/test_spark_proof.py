"""The second reader of a proof on a real broker: what Spark counts is what another library reads."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from confluent_kafka import Producer

from spark_validation.core.errors import CannotRunError
from spark_validation.core.progress import Progress
from spark_validation.core.result import Result
from spark_validation.proof import job
from spark_validation.proof.config import parse
from spark_validation.report.page import render
from tests.support.cluster import BIN, ROOT, free_port_base
from tests.support.lone_broker import LoneBroker
from tests.support.mirror_copies import Message, read, write
from tests.support.modules import run_module
from tests.support.spark import connector_jars, start_session

PROOF, PARTITIONS = "0a1b2c3d", 3


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker without security."""
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("proof"), free_port_base())
    one.format("MkU3OEVBNTcwNTJENDM2Qk")
    one.start()
    yield one
    one.kill()


def filled(broker: LoneBroker, name: str) -> str:
    """Make a topic that ends in an aborted transaction, with records of two kinds and of another proof; its servers."""
    wanted = {"name": name, "partitions": PARTITIONS, "replication_factor": 1}
    made = run_module("streamops.kafka.topics", {"bootstrap_servers": broker.bootstrap_servers, "topics": [wanted]})
    assert not made["failed"], made["msg"]
    servers = broker.bootstrap_servers[0]
    # 90 is written before 60 to 87 of its partition, and 3 twice.
    write(servers, name, messages("idempotent", [*range(60), 90, *range(60, 90), 3]))
    write(servers, name, messages("transactional", range(30)), transaction=f"{name}-good")
    write(servers, name, messages("idempotent", range(5), proof="ffffffff"))
    write(servers, name, messages("transactional", range(30, 60)), transaction=f"{name}-bad", commit=False)
    return servers


def messages(kind: str, numbers: Any, proof: str = PROOF) -> list[Message]:
    now = int(time.time() * 1000)
    return [Message(number % PARTITIONS, None, f"{proof} {kind} {number}".encode(), now, []) for number in numbers]


def expected(servers: str, topic: str) -> list[dict[str, Any]]:
    """The same counts from what librdkafka reads."""
    lanes: dict[tuple[int, str], list[Message]] = {}
    for message in sorted(read(servers, topic, PARTITIONS), key=lambda one: (one.partition, one.offset)):
        proof, kind, _number = (message.value or b"").decode().split(" ")
        if proof == PROOF:
            lanes.setdefault((message.partition, kind), []).append(message)
    return [entry(*lane, records) for lane, records in sorted(lanes.items())]


def entry(partition: int, kind: str, records: list[Message]) -> dict[str, Any]:
    numbers = [int((one.value or b"").split(b" ")[2]) for one in records]
    return {
        "partition": partition, "kind": kind, "records": len(records), "distinct": len(set(numbers)),
        "first": min(numbers), "last": max(numbers),
        "out_of_order": sum(number < max(numbers[:at], default=0) for at, number in enumerate(numbers)),
        "checksum": sum(crc32(b"%d %d %s" % (partition, one.offset, one.value)) for one in records),
    }  # fmt: skip


@pytest.mark.full
def test_a_submitted_job_counts_what_another_library_reads(broker: LoneBroker, tmp_path: Path) -> None:
    servers = filled(broker, "__streamops_prove")
    found = run_module(
        "streamops.kafka.spark_job",
        {
            "job": "proof", "output_dir": str(tmp_path), "package": str(ROOT / "spark_validation"),
            "python": sys.executable, "spark_submit": str(BIN / "spark-submit"), "jars": connector_jars(),
            "arguments": {"bootstrap_servers": [servers], "topic": "__streamops_prove", "proof": PROOF},
        },
        timeout=300,
    )  # fmt: skip
    assert (found["failed"], found["changed"], found["verdict"]) == (False, False, "pass"), found
    figures = found["result"]["figures"]
    assert figures["proof"] == expected(servers, "__streamops_prove")
    # The 30 records of the aborted transaction are seen by nobody.
    assert {name: figures["total"][name] for name in ("records", "others")} == {"records": 122, "others": 5}
    assert figures["total"]["out_of_order"] > 0
    assert "The topic was read to its end." in Path(found["report"]).read_text()


@pytest.mark.full
def test_what_an_open_transaction_holds_back_is_waited_for_and_else_nothing_is_claimed(
    broker: LoneBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = filled(broker, "__streamops_prove_open")
    session = start_session()
    own = {"transactional.id": "open", "transaction.timeout.ms": 600_000}
    producer = Producer({"bootstrap.servers": servers, **own})
    producer.init_transactions(20)
    producer.begin_transaction()
    for message in messages("transactional", range(60, 90)):
        producer.produce("__streamops_prove_open", message.value, partition=message.partition)
    assert producer.flush(20) == 0
    # Committed, and behind the open transaction.
    write(servers, "__streamops_prove_open", messages("idempotent", range(100, 130)))
    try:
        monkeypatch.setattr(job, "SETTLE_SECONDS", 1)
        first = job_in(session, servers, "__streamops_prove_open", tmp_path)
        assert first["verdict"] == "inconclusive"
        assert [check["status"] for check in first["checks"]] == ["inconclusive", "pass"]
        assert first["figures"]["total"]["records"] == 122
        monkeypatch.undo()
        producer.commit_transaction(20)
        second = job_in(session, servers, "__streamops_prove_open", tmp_path)
        assert second["verdict"] == "pass"
        assert second["figures"]["total"]["records"] == 182
        assert second["figures"]["proof"] == expected(servers, "__streamops_prove_open")
        with pytest.raises(CannotRunError, match="topic __streamops_prove_none: it does not exist"):
            job_in(session, servers, "__streamops_prove_none", tmp_path)
    finally:
        session.stop()


def job_in(session: Any, servers: str, topic: str, output: Path) -> dict[str, Any]:
    """Run the job in this session; what its result.json would hold."""
    given = {"run_id": "r1", "output_dir": str(output), "bootstrap_servers": [servers], "topic": topic, "proof": PROOF}
    arguments = parse(given)
    result = Result("proof", arguments.mode, arguments.run_id, int(time.time() * 1000))
    result.settings = arguments.public()
    progress = Progress(output / "progress.jsonl")
    try:
        job.ProofReader(session, arguments, progress, result).run()
    finally:
        progress.close()
    document = result.to_dict()
    assert render(document)
    return document

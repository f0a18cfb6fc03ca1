"""The module spark_job with the real spark-submit: local, on a standalone cluster, without a broker, out of time."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._spark import run
from ansible_collections.streamops.kafka.plugins.modules.spark_job import SPEC
from tests.support.cluster import BIN, ROOT, Cluster, until
from tests.support.modules import run_module
from tests.support.secret_names import SECRET
from tests.support.spark import connector_jars
from tests.support.spark_cluster import ON_LOOPBACK, SparkCluster

TOPIC = "smoke-submitted"


@pytest.fixture(scope="module")
def jars() -> list[str]:
    return connector_jars()


@pytest.fixture(scope="module")
def topic(combined: Cluster) -> str:
    wanted = {
        "name": TOPIC,
        "partitions": 6,
        "replication_factor": 3,
        "config": {"message.timestamp.type": "LogAppendTime"},
    }
    result = run_module("streamops.kafka.topics", {"bootstrap_servers": combined.bootstrap_servers, "topics": [wanted]})
    assert not result["failed"], result
    return TOPIC


@pytest.fixture
def spark_cluster(tmp_path: Path) -> Iterator[SparkCluster]:
    cluster = SparkCluster(tmp_path)
    try:
        yield cluster.start()
    finally:
        cluster.stop()


def submit(
    output: Path,
    jars: list[str],
    servers: list[str],
    check: bool = False,
    job: dict[str, Any] | None = None,
    **options: Any,
) -> dict[str, Any]:
    """Run the module; `job` are arguments of the job, `options` those of the module."""
    arguments = {
        "bootstrap_servers": servers,
        "topic": TOPIC,
        "consent_topic": TOPIC,
        "records": 2000,
        "live_seconds": 0,
    }
    given = {
        "output_dir": str(output),
        "package": str(ROOT / "spark_validation"),
        "python": sys.executable,
        "spark_submit": str(BIN / "spark-submit"),
        "jars": jars,
        "arguments": {**arguments, **(job or {})},
    }
    return run_module("streamops.kafka.spark_job", {**given, **options}, check=check, timeout=500)


@pytest.mark.full
def test_two_worker_processes_of_a_standalone_cluster_prove_a_cluster(
    combined: Cluster, topic: str, jars: list[str], spark_cluster: SparkCluster, tmp_path: Path
) -> None:
    result = submit(
        tmp_path,
        jars,
        combined.bootstrap_servers,
        master=spark_cluster.master,
        conf=ON_LOOPBACK,
        job={"live_seconds": 1},
    )
    assert (result["failed"], result["changed"], result["verdict"]) == (False, False, "pass"), result
    assert spark_cluster.executors() == 2
    assert result["result"]["figures"]["total"]["records"] == 2000
    phases = {row.get("phase") for row in result["history"]}
    assert phases & {"write", "audit", "stream"}
    report = Path(result["report"]).read_text()
    assert spark_cluster.master in report


@pytest.mark.full
def test_a_run_is_audited_again_by_its_id(combined: Cluster, topic: str, jars: list[str], tmp_path: Path) -> None:
    first = submit(tmp_path, jars, combined.bootstrap_servers, run_id="mine", job={"stream_check": False})
    assert first["verdict"] == "pass", first
    again = submit(tmp_path, jars, combined.bootstrap_servers, audit_run_id="mine", job={"stream_check": False})
    assert again["verdict"] == "pass", again
    assert (again["result"]["mode"], again["result"]["run_id"]) == ("audit", "mine")
    assert Path(again["report"]).parent.parent == tmp_path / "mine"


@pytest.mark.full
def test_without_a_broker_the_task_fails_with_the_reason(jars: list[str], tmp_path: Path) -> None:
    secret = dict.fromkeys(SECRET, "not-for-others")
    result = submit(
        tmp_path, jars, ["127.0.0.1:1"], client_properties=secret, run_id="dead", job={"timeout_seconds": 3}
    )
    assert result["failed"]
    assert (result["exit_code"], result["verdict"]) == (2, "error")
    assert "Timeout" in result["msg"]
    assert str(tmp_path / "dead" / "report.html") in result["msg"]
    kept = {path.name: path.read_text(errors="replace") for path in (tmp_path / "dead").iterdir()}
    assert {"result.json", "report.html", "spark.log"} <= set(kept)
    assert set(json.loads(kept["result.json"])["settings"]["kafka"].values()) == {"***"}
    texts = {**kept, "result": json.dumps(result)}
    assert [name for name, text in texts.items() if "not-for-others" in text] == []


@pytest.mark.full
def test_a_job_out_of_time_is_ended_and_the_task_says_where_it_was(jars: list[str], tmp_path: Path) -> None:
    result = submit(tmp_path, jars, ["127.0.0.1:1"], run_id="slow", timeout=2, job={"timeout_seconds": 60})
    assert result["failed"]
    assert "(timeout 2 s); it was at: start" in result["msg"]
    life = json.loads((tmp_path / "slow" / "process").read_text())
    assert not Path(f"/proc/{life['pid']}/exe").exists()


@pytest.mark.full
def test_a_job_whose_run_was_killed_ends_by_itself_and_leaves_no_secret(
    jars: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "UNWATCHED_SECONDS", 20)
    given = {
        **{name: option.get("default") for name, option in SPEC.items()},
        "output_dir": str(tmp_path),
        "job_dir": str(tmp_path / "left"),
        "package": str(ROOT / "spark_validation"),
        "job": "smoke",
        "secret_properties": dict.fromkeys(SECRET, "not-for-others"),
        "master": "local[2]",
        "python": sys.executable,
        "spark_submit": str(BIN / "spark-submit"),
        "jars": jars,
        # No broker is there, and the job would wait for one for ten minutes.
        "arguments": {"run_id": "left", "mode": "run", "bootstrap_servers": ["127.0.0.1:1"], "timeout_seconds": 600},
    }
    group = run.start(given)["pid"]
    until(lambda: not (tmp_path / "left" / "args.json").exists(), "the job to read its arguments", 120)
    until(lambda: not living(group), "the job to end", 120)
    kept = {path.name: path.read_text(errors="replace") for path in (tmp_path / "left").iterdir() if path.is_file()}
    assert "no run has watched it for 20 s" in kept["spark.log"]
    assert [name for name, text in kept.items() if "not-for-others" in text] == []


def living(group: int) -> list[int]:
    """The processes of a group that have not ended."""
    stats = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            stats.append((int(path.parent.name), path.read_text().rpartition(")")[2].split()))
    return [pid for pid, fields in stats if fields[0] != "Z" and int(fields[2]) == group]


@pytest.mark.full
def test_check_mode_starts_nothing_and_says_so(jars: list[str], tmp_path: Path) -> None:
    result = submit(tmp_path, jars, ["127.0.0.1:1"], check=True)
    assert result["skipped"]
    assert "skipped in check mode" in result["msg"]
    assert not list(tmp_path.iterdir())

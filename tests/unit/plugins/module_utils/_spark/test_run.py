"""Start, look at and stop a job: real processes, with a shell script in the place of spark-submit."""

from __future__ import annotations

import json
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import processes
from ansible_collections.streamops.kafka.plugins.module_utils._spark import run as job
from spark_validation import __file__ as package_file

PACKAGE = str(Path(package_file).parent)
RESULT = {"schema": "s", "run_id": "r1", "verdict": "pass", "checks": [], "figures": {}}


@pytest.fixture
def params(tmp_path: Path) -> dict[str, Any]:
    return {
        "output_dir": str(tmp_path),
        "job_dir": str(tmp_path / "r1"),
        "package": PACKAGE,
        "job": "smoke",
        "arguments": {"run_id": "r1"},
        "client_properties": {"a": "b"},
        "secret_properties": {"ssl.key.password": "s3cret"},
        "source_client_properties": {},
        "source_secret_properties": None,
        "master": "local[2]",
        "deploy_mode": "client",
        "shared_dir": None,
        "hadoop_conf_dir": None,
        "krb5_file": None,
        "worker_python": None,
        "python": sys.executable,
        "spark_submit": str(tmp_path / "spark-submit"),
        "java_home": None,
        "jars": [],
        "conf": {},
    }


def spark_submit(params: dict[str, Any], script: str) -> None:
    """Put a script in the place of spark-submit; it runs in the job's directory."""
    path = Path(params["spark_submit"])
    path.write_text("#!/bin/sh\n" + script)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def ended(params: dict[str, Any]) -> dict[str, Any]:
    for _ in range(100):
        found = job.observe(params["job_dir"], 0, 0.2)
        if not found["running"]:
            return found
    raise AssertionError("the job did not end")


def test_a_job_runs_detached_to_its_verdict(params: dict[str, Any]) -> None:
    line = json.dumps({"t": 1.0, "phase": "write", "done": 1, "total": 2, "unit": "records", "message": "half"})
    spark_submit(params, f"echo '{line}' > progress.jsonl; echo '{json.dumps(RESULT)}' > result.json; exit 0\n")
    started = job.start(params)
    found = ended(params)
    assert (found["exit_code"], found["result"]["verdict"]) == (0, "pass")
    assert [row["message"] for row in found["progress"]] == ["half"]
    assert started["command"][0] == params["spark_submit"]
    assert os.readlink(Path(params["output_dir"]) / "latest") == "r1"


def test_secrets_reach_the_job_in_a_private_file_that_does_not_outlive_it(params: dict[str, Any]) -> None:
    spark_submit(params, "stat -c %a args.json > mode; cat args.json > seen; tr '\\0' ' ' < /proc/$$/cmdline > argv\n")
    job.start(params)
    ended(params)
    job_dir = Path(params["job_dir"])
    assert json.loads((job_dir / "seen").read_text())["kafka"] == {"a": "b", "ssl.key.password": "s3cret"}
    assert (job_dir / "mode").read_text().strip() == "600"
    assert "s3cret" not in (job_dir / "argv").read_text()
    assert not (job_dir / "args.json").exists()


def test_an_audit_of_a_mirror_gets_the_secrets_of_both_clusters_the_same_way(params: dict[str, Any]) -> None:
    spark_submit(params, "stat -c %a args.json > mode; cat args.json > seen; tr '\\0' ' ' < /proc/$$/cmdline > argv\n")
    source = {"source_client_properties": {"c": "d"}, "source_secret_properties": {"sasl.jaas.config": "s3cret too"}}
    arguments = {"run_id": "r1", "source": {"alias": "dc_a"}, "target": {"alias": "dc_b"}}
    job.start({**params, **source, "job": "mirror_audit", "arguments": arguments})
    ended(params)
    job_dir = Path(params["job_dir"])
    seen = json.loads((job_dir / "seen").read_text())
    assert seen["source"] == {"alias": "dc_a", "kafka": {"c": "d", "sasl.jaas.config": "s3cret too"}}
    assert seen["target"] == {"alias": "dc_b", "kafka": {"a": "b", "ssl.key.password": "s3cret"}}
    assert "kafka" not in seen
    assert (job_dir / "mode").read_text().strip() == "600"
    assert "s3cret" not in (job_dir / "argv").read_text()
    assert not (job_dir / "args.json").exists()


def until_gone(pid: int, seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while processes.stat(pid)[0] not in ("", *processes.GONE):
        assert time.monotonic() < deadline, f"process {pid} goes on"
        time.sleep(0.1)


def written(path: Path) -> str:
    """What a job writes into a file, as soon as it is there."""
    for _ in range(200):
        if path.exists() and path.read_text().strip():
            return path.read_text().strip()
        time.sleep(0.05)
    raise AssertionError(f"{path} is not written")


def test_the_arguments_are_on_no_disk_before_the_job_reads_them_and_not_after(params: dict[str, Any]) -> None:
    spark_submit(params, "while [ ! -e go ]; do sleep 0.1; done; cat args.json > /dev/null; echo read > up; sleep 63\n")
    pid = job.start(params)["pid"]
    job_dir = Path(params["job_dir"])
    assert stat.S_ISFIFO((job_dir / "args.json").stat().st_mode)
    (job_dir / "go").touch()
    written(job_dir / "up")
    # Killed without a chance to clean up, as a machine that goes down does it.
    os.killpg(pid, 9)
    os.waitpid(pid, 0)
    kept = [path for path in job_dir.iterdir() if path.is_file() and b"s3cret" in path.read_bytes()]
    assert kept == []


def test_arguments_larger_than_a_pipe_reach_the_job_whole(params: dict[str, Any]) -> None:
    params["arguments"]["layout"] = {"brokers": ["x" * 1000] * 500}
    spark_submit(params, "cat args.json > seen\n")
    job.start(params)
    ended(params)
    seen = json.loads((Path(params["job_dir"]) / "seen").read_text())
    assert seen["layout"] == params["arguments"]["layout"]


def test_a_job_that_no_run_watches_any_more_ends_by_itself_and_says_so(
    params: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "UNWATCHED_SECONDS", 4)
    spark_submit(params, "sleep 64 & echo $! > child; wait\n")
    pid = job.start(params)["pid"]
    child = int(written(Path(params["job_dir"]) / "child"))
    # Watched, it outlives that time.
    for _ in range(6):
        assert job.observe(params["job_dir"], 0, 1.0)["running"]
    until_gone(pid)
    until_gone(child)
    found = job.observe(params["job_dir"], 0, 0.0)
    assert (found["running"], found["exit_code"]) == (False, None)
    assert "ended this job: no run has watched it for 4 s" in found["log_tail"][-1]
    assert not (Path(params["job_dir"]) / "args.json").exists()


def test_a_job_that_has_ended_leaves_no_process(params: dict[str, Any]) -> None:
    spark_submit(params, "sleep 65 & echo $! > child; exit 3\n")
    pid = job.start(params)["pid"]
    assert ended(params)["exit_code"] == 3
    until_gone(pid)
    until_gone(int(written(Path(params["job_dir"]) / "child")))


def test_progress_is_read_from_where_the_last_look_ended_and_only_in_whole_lines(params: dict[str, Any]) -> None:
    spark_submit(params, "sleep 60\n")
    job.start(params)
    progress = Path(params["job_dir"]) / "progress.jsonl"
    progress.write_text('{"n": 1}\n{"n": 2}\n{"n":')
    first = job.observe(params["job_dir"], 0, 0.0)
    assert [row["n"] for row in first["progress"]] == [1, 2]
    progress.write_text('{"n": 1}\n{"n": 2}\n{"n": 3}\n')
    second = job.observe(params["job_dir"], first["offset"], 0.0)
    assert [row["n"] for row in second["progress"]] == [3]
    job.stop(params["job_dir"])


def test_stopping_ends_the_whole_group_of_the_job_and_nothing_else(params: dict[str, Any]) -> None:
    spark_submit(params, "echo up > up; sleep 61 & echo $! > child; wait\n")
    pid = job.start(params)["pid"]
    child_file = Path(params["job_dir"]) / "child"
    for _ in range(100):
        if child_file.exists() and child_file.read_text().strip():
            break
        time.sleep(0.05)
    child = int(child_file.read_text())
    assert job.stop(params["job_dir"])["stopped"]
    for process in (pid, child):
        assert processes.stat(process)[0] in ("", *processes.GONE)
    assert not job.stop(params["job_dir"])["stopped"]


def test_a_process_that_took_over_the_id_is_left_alone(params: dict[str, Any]) -> None:
    job_dir = Path(params["job_dir"])
    job_dir.mkdir()
    (job_dir / "process").write_text(json.dumps({"pid": os.getpid(), "start_time": 1}))
    assert not job.stop(str(job_dir))["stopped"]
    assert not job.observe(str(job_dir), 0, 0.0)["running"]


def test_a_job_that_was_killed_from_outside_is_over_without_exit_code(params: dict[str, Any]) -> None:
    spark_submit(params, "sleep 62\n")
    pid = job.start(params)["pid"]
    os.killpg(pid, 9)
    os.waitpid(pid, 0)
    found = job.observe(params["job_dir"], 0, 5.0)
    assert (found["running"], found["exit_code"], found["result"]) == (False, None, None)


def test_the_directory_of_an_earlier_run_is_refused(params: dict[str, Any]) -> None:
    spark_submit(params, "exit 0\n")
    job.start(params)
    ended(params)
    with pytest.raises(job.JobStartError, match="holds an earlier run"):
        job.start(params)


def test_the_directory_of_a_start_that_failed_before_its_job_began_is_refused(
    params: dict[str, Any], tmp_path: Path
) -> None:
    spark_submit(params, "cat args.json > seen\n")
    (tmp_path / "ca.pem").symlink_to("/proc/self/mem")  # A file by its looks that cannot be read.
    properties = {"ssl.truststore.location": str(tmp_path / "ca.pem")}
    with pytest.raises(OSError, match="Input/output error"):
        job.start({**params, "master": "spark://127.0.0.1:7077", "client_properties": properties})
    with pytest.raises(job.JobStartError, match=r"holds an earlier run \(args.json is there\)"):
        job.start(params)


def test_a_missing_file_is_named_before_anything_starts(params: dict[str, Any]) -> None:
    with pytest.raises(job.JobStartError, match=r"spark-submit does not exist; install PySpark.*Nothing was started"):
        job.start(params)
    assert not (Path(params["job_dir"]) / "process").exists()


def test_files_travel_as_private_copies_that_do_not_outlive_the_job(params: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("certificate")
    properties = {"ssl.truststore.location": str(tmp_path / "ca.pem")}
    params.update(master="spark://127.0.0.1:7077", client_properties=properties)
    spark_submit(params, "cat args.json > seen; stat -c '%a %n' carried-* > copies; cat carried-0-ca.pem >> copies\n")
    started = job.start(params)
    ended(params)
    job_dir = Path(params["job_dir"])
    assert json.loads((job_dir / "seen").read_text())["kafka"]["ssl.truststore.location"] == "carried-0-ca.pem"
    assert (job_dir / "copies").read_text() == "600 carried-0-ca.pem\ncertificate"
    assert started["command"][3:5] == ["--files", str(job_dir / "carried-0-ca.pem")]
    assert not list(job_dir.glob("carried-*"))


def test_workers_and_hadoop_are_named_by_the_environment(params: dict[str, Any]) -> None:
    params.update(master="yarn", worker_python="/there/python", hadoop_conf_dir="/etc/hadoop/conf")
    spark_submit(params, "cat args.json; echo $PYSPARK_PYTHON $PYSPARK_DRIVER_PYTHON $HADOOP_CONF_DIR > names\n")
    job.start(params)
    ended(params)
    names = (Path(params["job_dir"]) / "names").read_text().split()
    assert names == ["/there/python", sys.executable, "/etc/hadoop/conf"]


def test_a_deploy_mode_that_cannot_be_leaves_nothing_behind(params: dict[str, Any]) -> None:
    params.update(master="spark://127.0.0.1:7077", deploy_mode="cluster", shared_dir="hdfs:///tmp")
    with pytest.raises(job.JobStartError, match=r"standalone master .*Nothing was started"):
        job.start(params)
    assert not Path(params["job_dir"]).exists()

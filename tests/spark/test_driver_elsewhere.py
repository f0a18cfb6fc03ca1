"""How the result of a driver on another machine comes back: the real Hadoop client, on a mounted file system."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_validation import bring
from spark_validation.core.session import jvm
from spark_validation.shared import FILES, SharedDirectory
from tests.support.cluster import until
from tests.support.modules import REPOSITORY

RESULT = {"verdict": "fail", "exit_code": 1}
#: In the place of spark-submit: shows what it was given, leaves files as a driver does, and ends as YARN's client does.
DRIVER = f"""
cat $output/arguments.json $output/arguments.json > $output/seen
echo '{{"phase": "write"}}' > $shared/progress.jsonl
echo '{json.dumps(RESULT)}' > $shared/result.json
exit 1
"""


@pytest.fixture
def shared(spark: SparkSession, tmp_path: Path) -> SharedDirectory:
    return SharedDirectory(jvm(spark), (tmp_path / "shared").as_uri())


def escort(tmp_path: Path, script: str) -> subprocess.Popen[str]:
    """Start it as the job's wrapper does, with a script in the place of spark-submit."""
    output, there = tmp_path / "output", tmp_path / "shared"
    output.mkdir()
    (output / "args.json").write_text('{"secret": 1}')
    given = ["--shared-dir", there.as_uri(), "--args-file", str(output / "args.json"), "--output", str(output), "--"]
    command = [sys.executable, "-m", "spark_validation", "escort", *given, "/bin/sh", "-c"]
    return subprocess.Popen(
        [*command, script],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "output": str(output), "shared": str(there)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )


def test_the_directory_holds_whole_files_and_is_there_as_long_as_somebody_waits(
    shared: SharedDirectory, tmp_path: Path
) -> None:
    assert shared.renewed() is None
    shared.renew(0)
    first = shared.renewed()
    (tmp_path / "result.json").write_text("one")
    shared.put(tmp_path / "result.json")
    (tmp_path / "result.json").write_text("another")
    shared.put(tmp_path / "result.json")
    assert shared.get("result.json", tmp_path / "came")
    assert (tmp_path / "came").read_text() == "another"
    assert not shared.get("report.html", tmp_path / "none")
    time.sleep(0.01)
    shared.renew(1)
    assert first is not None
    assert (shared.renewed() or 0) > first
    shared.remove()
    assert shared.renewed() is None
    assert sorted(path.name for path in tmp_path.iterdir()) == ["came", "result.json"]


def test_a_driver_brings_its_progress_while_it_works_and_the_rest_at_its_end(
    spark: SparkSession, shared: SharedDirectory, tmp_path: Path
) -> None:
    output, there = tmp_path / "out", tmp_path / "shared"
    output.mkdir()
    shared.renew(0)
    with bring.brought(output, there.as_uri()):
        (output / "progress.jsonl").write_text("{}\n")
        until(lambda: (there / "progress.jsonl").exists(), "the progress", 20)
        for name in FILES[1:]:
            (output / name).write_text(name)
        assert not (there / "result.json").exists()
    assert {name: (there / name).read_text() for name in FILES[1:]} == {name: name for name in FILES[1:]}


def test_a_driver_ends_itself_when_nobody_waits(
    spark: SparkSession, shared: SharedDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends: list[str] = []
    monkeypatch.setattr(bring, "_end", ends.append)
    with bring.brought(tmp_path, (tmp_path / "shared").as_uri()):
        pass
    assert ends == ["the run that submitted this job was ended"]
    shared.renew(0)
    with bring.brought(tmp_path, (tmp_path / "shared").as_uri()):
        monkeypatch.setattr(bring, "ALONE_SECONDS", 0.0)
        until(lambda: len(ends) > 1, "the end", 20)
    assert ends[1].startswith("the run that submitted this job has not been heard of")


def test_the_escort_shows_arguments_that_no_disk_holds_and_fetches_what_the_driver_left(tmp_path: Path) -> None:
    process = escort(tmp_path, DRIVER)
    said, output = process.communicate(timeout=120)[0], tmp_path / "output"
    assert process.returncode == RESULT["exit_code"], said
    assert (output / "seen").read_text() == '{"secret": 1}' * 2
    assert json.loads((output / "result.json").read_text()) == RESULT
    assert sorted(path.name for path in output.iterdir()) == ["args.json", "progress.jsonl", "result.json", "seen"]
    assert not (tmp_path / "shared").exists()


def test_a_driver_without_a_result_is_told_with_where_its_words_are(tmp_path: Path) -> None:
    process = escort(tmp_path, "echo Submitted application_17_0001 > $output/spark.log; exit 0\n")
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 2
    assert "the driver left no result; what it said: yarn logs -applicationId application_17_0001" in said


def test_ending_the_escort_ends_the_submission_and_removes_what_the_driver_looks_for(tmp_path: Path) -> None:
    process = escort(tmp_path, "echo $$ > $output/seen; exec sleep 300\n")
    seen = tmp_path / "output" / "seen"
    until(lambda: seen.exists() and seen.read_text().strip(), "the submission", 60)
    assert (tmp_path / "shared" / "awaited").exists()
    os.killpg(process.pid, signal.SIGTERM)
    process.communicate(timeout=30)
    assert process.returncode == 143
    assert not Path(f"/proc/{seen.read_text().strip()}/exe").exists()
    assert not (tmp_path / "shared").exists()


def test_a_directory_that_cannot_be_written_to_is_refused_before_anything_is_submitted(tmp_path: Path) -> None:
    (tmp_path / "shared").write_text("a file")
    process = escort(tmp_path, "touch $output/seen\n")
    said = process.communicate(timeout=120)[0]
    assert process.returncode == 2
    assert "spark_validation_shared_dir), so nothing was submitted" in said
    assert not (tmp_path / "output" / "seen").exists()

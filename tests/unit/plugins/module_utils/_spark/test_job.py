"""The command of a Spark job, its place, and how a watched run stands."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING
from ansible_collections.streamops.kafka.plugins.module_utils._spark.job import (
    SHORT,
    Tracker,
    command,
    complaint,
    failure,
    left_alone,
    place,
    refusal,
    split_secrets,
    summary,
)


def look(**found: Any) -> dict[str, Any]:
    return {"running": True, "exit_code": None, "progress": [], "offset": 0, **found}


def result(verdict: str = "pass", *checks: dict[str, Any]) -> dict[str, Any]:
    return summary({"run_id": "r1", "verdict": verdict, "checks": list(checks)})


def test_secrets_are_parted_from_plain_properties_by_name() -> None:
    plain, secret = split_secrets(
        {"security.protocol": "SASL_SSL", "sasl.jaas.config": "x", "ssl.key.password": "y", "ssl.keystore.key": "z"}
    )
    assert plain == {"security.protocol": "SASL_SSL"}
    assert set(secret) == {"sasl.jaas.config", "ssl.key.password", "ssl.keystore.key"}


def test_values_become_the_text_that_kafka_reads() -> None:
    assert split_secrets({"enable.x": True, "linger.ms": 5})[0] == {"enable.x": "true", "linger.ms": "5"}


def test_the_command_names_files_and_settings_only() -> None:
    argv = command(submitted(jars=["/a.jar", "/b.jar"], conf={"b": 2, "a": 1}), "/j/p.zip", "/j/args.json")
    assert argv == [
        *("/v/bin/spark-submit", "--master", "local[2]", "--jars", "/a.jar,/b.jar", "--conf", "a=1", "--conf", "b=2"),
        *("--py-files", "/j/p.zip", "/p/__main__.py", "smoke", "--args-file", "/j/args.json"),
    ]


def submitted(**given: Any) -> dict[str, Any]:
    """What a job is submitted with."""
    names = {"spark_submit": "/v/bin/spark-submit", "package": "/p", "job": "smoke", "audit_run_id": None}
    return {**names, "master": "local[2]", "jars": [], "conf": {}, "arguments": {}, **given}


@pytest.mark.parametrize(
    ("given", "short"),
    [
        ({"arguments": {"records": SHORT}}, True),
        ({"arguments": {"records": SHORT + 1}}, False),
        ({"arguments": {}}, False),
        ({"arguments": {"records": 5}, "master": "spark://a:7077"}, False),
        # How much an earlier run wrote stands in its ledger.
        ({"arguments": {"records": 5}, "audit_run_id": "old"}, False),
        ({"arguments": {"records": 5}, "job": "mirror_audit"}, False),
    ],
)
def test_a_short_local_job_does_without_the_second_compiler_of_java(given: dict[str, Any], short: bool) -> None:
    said = " ".join(command(submitted(**given), "/j/p.zip", "/j/args.json"))
    assert ("-XX:TieredStopAtLevel=1" in said, "-XX:ReservedCodeCacheSize=240m" in said) == (short, short)


def test_what_a_user_sets_wins() -> None:
    name = "spark.driver.defaultJavaOptions"
    argv = command(submitted(arguments={"records": 5}, conf={name: "-Xlog:gc"}), "/j/p.zip", "/j/args.json")
    assert [word for word in argv if "JavaOptions" in word] == [f"{name}=-Xlog:gc"]


def test_a_run_gets_a_directory_of_its_own_named_by_its_id() -> None:
    options = {"job": "smoke", "output_dir": "/out/", "run_id": None, "audit_run_id": None, "arguments": {"records": 5}}
    assert place(options, "T", "ab") == ("/out/T-ab", {"records": 5, "mode": "run", "run_id": "T-ab"})
    assert place({**options, "run_id": "mine"}, "T", "ab")[0] == "/out/mine"


@pytest.mark.parametrize("name", ["../../etc", "..", "a/b", "-a", "a b", "a" * 33])
def test_a_run_whose_name_is_no_directory_is_refused(name: str) -> None:
    for option in ("run_id", "audit_run_id"):
        said = refusal({"job": "smoke", "run_id": None, "audit_run_id": None, option: name})
        assert said.startswith(
            f"{option} cannot be the name of a directory (found: {name!r}, allowed: up to 32 letters"
        )
    assert refusal({"job": "smoke", "run_id": "mine", "audit_run_id": "20260101T000000-ab12"}) == ""


def test_an_audit_lies_within_the_run_that_it_audits_and_takes_its_ledger() -> None:
    options = {"job": "smoke", "output_dir": "/out", "run_id": None, "audit_run_id": "old", "arguments": {}}
    job_dir, arguments = place(options, "T", "ab")
    assert job_dir == "/out/old/audit-T-ab"
    assert arguments == {"mode": "audit", "run_id": "old", "ledger_file": "/out/old/ledger.json"}


def test_an_audit_of_a_mirror_has_no_mode_and_no_ledger() -> None:
    options = {"job": "mirror_audit", "output_dir": "/out", "run_id": None, "audit_run_id": None, "arguments": {"a": 1}}
    assert place(options, "T", "ab") == ("/out/T-ab", {"a": 1, "run_id": "T-ab"})


def test_a_running_job_shows_its_last_line_with_rate_and_time_left() -> None:
    line = {"phase": "write", "unit": "records", "total": 1000}
    lines = [
        {"t": 0.0, "phase": "write", "message": "write", "done": None, "total": None, "unit": ""},
        {"t": 1.0, "message": "100 of 1,000 records", "done": 100, **line},
        {"t": 2.0, "message": "400 of 1,000 records", "done": 400, **line},
    ]
    step = Tracker().step(look(progress=lines, offset=7))
    assert (step.state, step.text) == (GOING, "write: 400 of 1,000 records, 300 records/s, ETA 2s")


def test_a_look_without_news_keeps_the_last_line() -> None:
    tracker = Tracker()
    line = {"t": 0.0, "phase": "start", "message": "start Spark", "done": None, "total": None, "unit": ""}
    first = tracker.step(look(progress=[line], offset=9))
    assert tracker.step(look(offset=9)).text == first.text == "start: start Spark"
    assert tracker.offset == 9


@pytest.mark.parametrize(
    ("code", "verdict", "state"), [(0, "pass", DONE), (1, "fail", FAILED), (1, "pass", FAILED), (137, None, FAILED)]
)
def test_only_a_pass_that_also_ended_with_zero_is_done(code: int, verdict: str | None, state: str) -> None:
    found = look(running=False, exit_code=code, result=result(verdict) if verdict else None)
    assert Tracker().step(found).state == state


def test_a_failure_names_the_failing_checks_and_the_report() -> None:
    lost = {
        "name": "lost",
        "status": "fail",
        "expected": 0,
        "actual": 3,
        "unit": "records",
        "suggests": "look at disks",
    }
    fine = {"name": "corrupt", "status": "pass", "expected": 0, "actual": 0, "unit": "records", "suggests": ""}
    found = {"result": result("fail", lost, fine), "report": "/out/r1/report.html", "exit_code": 1}
    found["result"]["findings"] = ["topic t: 3 records lost: partition 1: 3 (offsets 4 to 6)"]
    said = failure({**found, "log_tail": ["a"] * 40}, "/out/r1")
    assert said["msg"] == (
        "topic t: 3 records lost: partition 1: 3 (offsets 4 to 6). Verdict fail of run r1. Report: /out/r1/report.html"
    )
    # No screens of what passed and of a log that says nothing else.
    assert [check["name"] for check in said["result"]["checks"]] == ["lost"]
    assert "log_tail" not in said


def test_a_run_says_beforehand_what_becomes_of_its_job_when_it_is_interrupted() -> None:
    assert left_alone({"pid": 17, "unwatched_seconds": 60}, "/out/r1") == (
        "Spark job in /out/r1: if this run is interrupted, the job ends 60 s later; to end it at once, on its host: "
        "kill -- -17"
    )


def test_a_job_without_result_is_told_by_its_last_lines() -> None:
    message = complaint({"result": None, "exit_code": 1, "log_tail": ["a", "java: not found"]}, "/out/r1")
    assert "exit code 1 and no result.json" in message
    assert "java: not found" in message
    last = failure({"result": None, "exit_code": 1, "log_tail": [str(line) for line in range(40)]}, "/out/r1")
    assert last["log_tail"] == [str(line) for line in range(30, 40)]


def test_the_summary_leaves_examples_and_histograms_to_the_file() -> None:
    check = {"name": "lost", "status": "fail", "examples": [1, 2]}
    short = summary({"checks": [check], "figures": {"latency": {"p50": 3, "histogram": [1]}, "partitions": [1]}})
    assert "examples" not in short["checks"][0]
    assert short["figures"] == {"latency": {"p50": 3}}

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
    deploy_refusal,
    failure,
    left_alone,
    place,
    refusal,
    split_secrets,
    summary,
    travelling,
    with_properties,
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
    where = {"master": "local[2]", "deploy_mode": "client", "shared_dir": None, "worker_python": None, "python": "/py"}
    properties = {"client_properties": {}, "secret_properties": None, "source_client_properties": {}}
    places = {"output_dir": "/j", "job_dir": "/j/r1", "source_secret_properties": None, "krb5_file": None}
    return {**names, **where, **properties, **places, "jars": [], "conf": {}, "arguments": {}, **given}


ON_YARN = {"master": "yarn", "deploy_mode": "cluster", "shared_dir": "hdfs:///tmp/proofs/", "output_dir": "/j/orders"}


def test_in_cluster_mode_everything_travels_and_the_result_comes_back_to_the_escort() -> None:
    params = submitted(**ON_YARN, job_dir="/j/orders/r1", jars=["/a.jar"], conf={"spark.files": "/mine"})
    argv = command(params, "/j/p.zip", "/j/args.json", ["/j/orders/r1/carried-0-ca.pem"])
    shared = "hdfs:///tmp/proofs/streamops-orders-r1"
    assert argv == [
        *("/usr/bin/env", "PYTHONPATH=/j/p.zip", "/py", "-m", "spark_validation", "escort", "--shared-dir", shared),
        *("--args-file", "/j/args.json", "--output", "/j/orders/r1", "--"),
        *("/v/bin/spark-submit", "--master", "yarn", "--deploy-mode", "cluster", "--jars", "/a.jar"),
        *("--files", "/j/orders/r1/arguments.json,/j/orders/r1/carried-0-ca.pem,/mine"),
        *("--conf", "spark.pyspark.python=/py", "--conf", "spark.yarn.maxAppAttempts=1"),
        *("--py-files", "/j/p.zip", "/p/__main__.py", "smoke"),
        *("--args-file", "arguments.json", "--bring-to", shared),
    ]


def test_kubernetes_uploads_to_the_shared_directory_unless_told_otherwise() -> None:
    params = submitted(**{**ON_YARN, "master": "k8s://https://a:6443", "worker_python": "/there/python"})
    said = " ".join(command(params, "/j/p.zip", "/j/args.json"))
    assert "spark.kubernetes.file.upload.path=hdfs:///tmp/proofs/" in said
    assert "spark.pyspark.python=/there/python" in said
    assert "maxAppAttempts" not in said


def test_no_secret_is_in_any_command() -> None:
    secrets = {"ssl.key.password": "s3cret", "sasl.jaas.config": "s3cret too"}
    for where in ({}, {"master": "yarn"}, ON_YARN):
        params, names = travelling(submitted(**{**where, "secret_properties": secrets}), lambda _path: False)
        assert "s3cret" not in " ".join(command(params, "/j/p.zip", "/j/args.json", list(names.values())))
        assert set(with_properties(params)["kafka"].values()) == set(secrets.values())


def test_files_that_properties_name_travel_to_other_machines_under_names_of_their_own() -> None:
    source, target = (
        {"ssl.truststore.location": "/a/ca.pem"},
        {"ssl.truststore.location": "/b/ca.pem", "linger.ms": "5"},
    )
    given = {"client_properties": target, "source_client_properties": source, "secret_properties": {"ssl.key.x": "y"}}
    params, names = travelling(submitted(master="spark://m:7077", **given), lambda path: path.endswith("/ca.pem"))
    assert names == {"/b/ca.pem": "carried-0-ca.pem", "/a/ca.pem": "carried-1-ca.pem"}
    assert params["client_properties"] == {"ssl.truststore.location": "carried-0-ca.pem", "linger.ms": "5"}
    assert params["source_client_properties"] == {"ssl.truststore.location": "carried-1-ca.pem"}


def test_files_stay_where_they_are_for_a_local_master_and_when_they_are_not_on_this_host() -> None:
    given = {"client_properties": {"ssl.keystore.location": "/a/keys"}}
    for master, there in (("local[2]", True), ("yarn", False)):
        params, names = travelling(submitted(master=master, **given), lambda _path, there=there: there)
        assert (params["client_properties"], names) == (given["client_properties"], {})


def test_the_ledger_of_an_audit_travels_to_a_driver_elsewhere_only() -> None:
    again = {"arguments": {"ledger_file": "/j/r0/ledger.json"}}
    params, names = travelling(submitted(**ON_YARN, **again), lambda _path: True)
    assert names == {"/j/r0/ledger.json": "carried-0-ledger.json"}
    assert with_properties(params) == {"ledger_file": "carried-0-ledger.json", "output_dir": "out", "kafka": {}}
    assert travelling(submitted(master="yarn", **again), lambda _path: True)[1] == {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"master": "spark://m:7077"}, "a standalone master of Spark runs no Python driver in cluster mode"),
        ({"master": "local[2]"}, "a master local[2] runs no Python driver in cluster mode"),
        ({"shared_dir": None}, "deploy_mode cluster needs shared_dir"),
        ({}, ""),
        ({"deploy_mode": "client", "shared_dir": None}, ""),
    ],
)
def test_a_deploy_mode_that_cannot_be_is_refused_in_one_line(given: dict[str, Any], said: str) -> None:
    refused = deploy_refusal(submitted(**{**ON_YARN, **given}))
    assert refused.startswith(said) if said else refused == ""
    assert "\n" not in refused


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


def test_the_reader_of_a_proof_has_no_mode_and_one_cluster() -> None:
    options = {"job": "proof", "output_dir": "/out", "run_id": None, "audit_run_id": None, "arguments": {"topic": "t"}}
    assert place(options, "T", "ab") == ("/out/T-ab", {"topic": "t", "run_id": "T-ab"})
    given = with_properties(submitted(job="proof", arguments={"topic": "t"}, client_properties={"a": "b"}))
    assert given == {"topic": "t", "kafka": {"a": "b"}, "output_dir": "/j/r1"}
    assert "job smoke" in refusal({**options, "audit_run_id": "old"})


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


def test_another_phase_and_more_that_is_done_are_progress_and_a_repeated_line_is_none() -> None:
    tracker = Tracker()
    line = {"t": 0.0, "message": "m", "total": 1000, "unit": "records"}

    def progress(phase: str, done: int | None) -> str:
        """Return the progress behind a line of this phase."""
        return tracker.step(look(progress=[{**line, "phase": phase, "done": done}], offset=9)).progress

    assert tracker.step(look(offset=0)).progress == "", "spark-submit has said nothing yet"
    phases = [progress("start", None), progress("write", 100), progress("write", 400)]
    assert len({"", *phases}) == 4
    assert progress("write", 400) == progress("write", 100) == phases[-1], "back and forth is none"
    assert progress("start", None) == tracker.step(look(offset=9)).progress == phases[-1]
    assert progress("read", 0) != phases[-1]


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


@pytest.mark.parametrize("master", ["spark://m:7077", "yarn"])
def test_the_keytab_in_a_login_travels_to_other_machines(master: str) -> None:
    login = 'Krb5LoginModule required useKeyTab=true keyTab="{}" principal="smoke@EXAMPLE.COM";'
    given = {"secret_properties": {"sasl.jaas.config": login.format("/keys/smoke.keytab")}}
    params, names = travelling(submitted(master=master, **given), lambda path: path == "/keys/smoke.keytab")
    assert names == {"/keys/smoke.keytab": "carried-0-smoke.keytab"}
    assert params["secret_properties"] == {"sasl.jaas.config": login.format("carried-0-smoke.keytab")}
    assert travelling(submitted(master=master, **given), lambda _path: False)[1] == {}
    assert travelling(submitted(**given), lambda _path: True)[1] == {}


def test_a_driver_on_this_host_reads_the_krb5_conf_of_the_job() -> None:
    argument = "-Djava.security.krb5.conf=/j/krb5.conf"
    given = {"krb5_file": "/j/krb5.conf", "client_properties": {"sasl.oauthbearer.token.endpoint.url": "https://id/t"}}
    driver = next(word for word in command(submitted(**given), "/j/p.zip", "/a") if "driver.default" in word)
    assert driver.endswith(f"allowed.urls=https://id/t {argument}")
    assert not [word for word in command(submitted(**{**ON_YARN, **given}), "/j/p.zip", "/a") if argument in word]


def test_a_job_may_ask_its_issuers_for_tokens_and_nobody_else() -> None:
    argument = "-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls="
    urls = [{"sasl.oauthbearer.token.endpoint.url": f"https://{host}/token"} for host in ("id2", "id1")]
    given = {"client_properties": urls[0], "source_client_properties": urls[1], "arguments": {"records": 5}}
    argv = command(submitted(**given), "/j/p.zip", "/j/args.json")
    driver, executor = sorted(word for word in argv if "JavaOptions" in word)
    assert executor == f"spark.executor.defaultJavaOptions={argument}https://id1/token,https://id2/token"
    assert driver.startswith("spark.driver.defaultJavaOptions=-XX:TieredStopAtLevel=1 ")
    assert driver.endswith(f" {argument}https://id1/token,https://id2/token")
    assert not [word for word in command(submitted(), "/j/p.zip", "/j/args.json") if "allowed.urls" in word]

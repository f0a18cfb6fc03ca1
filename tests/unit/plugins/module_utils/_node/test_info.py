"""node_info puts its parts together for fresh, running and foreign nodes."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._migration.modes import FLAG
from ansible_collections.streamops.kafka.plugins.module_utils._node.adopted import claimed, dump
from ansible_collections.streamops.kafka.plugins.module_utils._node.generations import Generations
from ansible_collections.streamops.kafka.plugins.module_utils._node.info import changes, last_change, node_info
from ansible_collections.streamops.kafka.plugins.module_utils._node.processes import stat
from ansible_collections.streamops.kafka.plugins.module_utils._node.restart_reasons import reason_line

DEFAULTS: dict[str, Any] = {
    "log_dir": "",
    "login_log": "",
    "log_dirs": [],
    "metadata_dir": "",
    "watch_quorum": False,
    "state_dir": "",
    "config_file": "",
    "jvm_file": "",
    "config_dir": "",
    "wanted": None,
    "ports": [],
    "names": [],
    "java": "/nowhere/java",
    "release_dir": "",
    "clock": False,
    "network_seconds": 0,
    "certificate_files": [],
    "trace_files": [],
    "beside": None,
    "adopted_file": "",
    "claim": None,
}


def info(**params: Any) -> dict[str, Any]:
    return node_info({**DEFAULTS, **params}, lambda command, seconds: (0, "", 'openjdk version "17.0.1"'))


def record(tmp_path: Path, **files: str) -> str:
    """A start record that names this very process."""
    place = tmp_path / "started"
    place.mkdir()
    texts = {"pid": str(os.getpid()), "start_time": str(stat(os.getpid())[1]), **files}
    for name, text in texts.items():
        (place / name.replace("_properties", ".properties").replace("_options", ".options")).write_text(text)
    return str(tmp_path)


def test_a_fresh_host_needs_a_start_and_has_nothing(tmp_path: Path) -> None:
    found = info(log_dirs=[str(tmp_path / "data")], state_dir=str(tmp_path / "run"), release_dir=str(tmp_path / "rel"))
    assert (found["needs_start"], found["installed"], found["restart_reasons"]) == (True, False, [])
    assert found["disks"][0]["exists"] is False


@pytest.mark.parametrize(("flag", "migrates"), [("true", True), (" TRUE ", True), ("false", False), (None, False)])
def test_a_node_migrates_that_was_last_started_with_the_flag(tmp_path: Path, flag: str | None, migrates: bool) -> None:
    text = "broker.id=1\n" + (f"{FLAG}={flag}\n" if flag else "")
    # Whether it runs or not: a controller that is down would be started without it.
    for alive in ({}, {"pid": "0", "start_time": "1"}):
        place = tmp_path / str(len(alive))
        place.mkdir()
        assert (
            info(state_dir=record(place, server_properties=text, jvm_options="-Xmx1g", **alive))["migrates"] is migrates
        )
    assert info(state_dir=str(tmp_path / "none"))["migrates"] is False


def test_copies_are_those_of_the_last_start_whether_it_runs_or_not(tmp_path: Path) -> None:
    assert info(state_dir=str(tmp_path))["copies"] == {}
    text = """
default.replication.factor=3
min.insync.replicas=2
transaction.state.log.min.isr=2
share.coordinator.state.topic.replication.factor=3
num.replica.fetchers=4
"""
    found = info(state_dir=record(tmp_path, server_properties=text, jvm_options="-Xmx1g", pid="0", start_time="1"))
    assert found["process"]["running"] is False
    assert found["copies"] == {
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        "transaction.state.log.min.isr": "2",
        "share.coordinator.state.topic.replication.factor": "3",
    }


def test_where_a_running_process_advertises_its_listeners(tmp_path: Path) -> None:
    text = "advertised.listeners=CLIENT://a:1, BROKER://[fd00::1]:2"
    assert info(state_dir=str(tmp_path))["advertised"] == {}
    runs, ended = tmp_path / "runs", tmp_path / "ended"
    runs.mkdir()
    ended.mkdir()
    found = info(state_dir=record(runs, server_properties=text, jvm_options="-Xmx1g"))
    assert found["advertised"] == {"CLIENT": "a:1", "BROKER": "[fd00::1]:2"}
    gone = record(ended, server_properties=text, jvm_options="-Xmx1g", pid="0", start_time="1")
    assert info(state_dir=gone)["advertised"] == {}


def test_by_which_mechanisms_clients_may_log_in_and_do(tmp_path: Path) -> None:
    text = "listener.name.client.sasl.enabled.mechanisms=SCRAM-SHA-512, PLAIN\nsasl.enabled.mechanisms=GSSAPI"
    log = tmp_path / "logins.log"
    found = info(state_dir=record(tmp_path, server_properties=text, jvm_options="-Xmx1g"), login_log=str(log))
    assert found["mechanisms"] == {"client": ["SCRAM-SHA-512", "PLAIN"]}
    assert found["logins"] is None
    log.write_text("")
    assert info(login_log=str(log))["logins"] == []
    assert info(login_log=str(log))["mechanisms"] == {}, "nothing runs"


def test_traces_are_files_that_are_there_with_something_in_them(tmp_path: Path) -> None:
    (tmp_path / "note").write_text("x")
    (tmp_path / "empty.log").write_text("")
    paths = [str(tmp_path / name) for name in ("note", "empty.log", "nowhere", "note/below")]
    assert info(trace_files=paths)["traces"] == paths[:1]


def test_what_cannot_be_looked_at_is_taken_for_a_trace(tmp_path: Path) -> None:
    (tmp_path / "circle").symlink_to("circle")
    assert info(trace_files=[str(tmp_path / "circle")])["traces"] == [str(tmp_path / "circle")]


def test_a_release_is_installed_when_its_manifest_is_there(tmp_path: Path) -> None:
    (tmp_path / "MANIFEST.sha256").write_text("")
    assert info(release_dir=str(tmp_path))["installed"] is True


@pytest.mark.parametrize("damage", [lambda jar: jar.unlink(), lambda jar: jar.write_bytes(b"")])
def test_a_release_that_lacks_a_file_is_not_installed(tmp_path: Path, damage: Callable[[Path], object]) -> None:
    jar = tmp_path / "libs" / "a.jar"
    jar.parent.mkdir()
    jar.write_bytes(b"PK")
    (tmp_path / "MANIFEST.sha256").write_text(f"{'0' * 64}  libs/a.jar\n")
    assert info(release_dir=str(tmp_path))["installed"] is True
    damage(jar)
    assert info(release_dir=str(tmp_path))["installed"] is False


def test_a_running_node_is_compared_with_what_is_wanted(tmp_path: Path) -> None:
    state = record(tmp_path, server_properties="a=1\n", jvm_options="-Xmx1g\n")
    found = info(state_dir=state, wanted={"properties": {"a": 2}, "jvm": ["-Xmx1g"], "files": None})
    assert (found["needs_start"], found["process"]["recorded"]) == (False, True)
    assert [one["name"] for one in found["restart_reasons"]] == ["a"]


def test_an_incomplete_or_damaged_record_of_a_running_node_is_a_reason(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    incomplete = record(tmp_path / "one", server_properties="a=1\n")
    damaged = record(tmp_path / "two", server_properties="a=\\u1\n", jvm_options="")
    for state in (incomplete, damaged):
        assert [one["kind"] for one in info(state_dir=state, wanted={})["restart_reasons"]] == ["record"]


def test_a_watched_file_without_a_digest_means_the_file_as_it_is_now(tmp_path: Path) -> None:
    key = tmp_path / "key.pem"
    key.write_text("old")
    digest = hashlib.sha256(b"old").hexdigest()
    texts = {"server_properties": "", "jvm_options": "", "files.sha256": f"{digest}  {key}\n"}
    state = record(tmp_path, **texts)
    wanted = {"files": {str(key): ""}}
    assert info(state_dir=state, wanted=wanted)["restart_reasons"] == []
    key.write_text("new")
    assert [one["kind"] for one in info(state_dir=state, wanted=wanted)["restart_reasons"]] == ["file"]
    key.unlink()
    assert info(state_dir=state, wanted=wanted)["restart_reasons"][0]["to"] == "missing"


def test_a_process_without_a_record_is_a_reason_of_its_own(tmp_path: Path) -> None:
    # This test process is no Kafka: nothing is found for a file that no process names.
    found = info(state_dir=str(tmp_path), config_file=str(tmp_path / "server.properties"), wanted={"properties": {}})
    assert (found["needs_start"], found["restart_reasons"]) == (True, [])


def test_a_store_is_compared_with_what_the_running_process_was_started_with(tmp_path: Path) -> None:
    store, missing = tmp_path / "truststore.pem", tmp_path / "none.pem"
    store.write_text("-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\nsomething else\n")
    state = record(tmp_path, server_properties="", jvm_options="", **{"files.sha256": f"{'ab' * 32}  {store}\n"})
    found = info(state_dir=state, certificate_files=[str(store), str(missing)])["certificate_files"]
    assert found[str(store)]["certificates"] == ["-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----"]
    assert found[str(store)]["sha256"] == hashlib.sha256(store.read_bytes()).hexdigest()
    assert (found[str(store)]["started"], found[str(missing)]["started"]) == ("ab" * 32, "")
    assert (found[str(store)]["exists"], found[str(missing)]["exists"]) == (True, False)
    stopped = info(certificate_files=[str(store)])["certificate_files"][str(store)]
    assert stopped["started"] is None


def test_the_version_is_that_of_the_last_start_and_else_of_the_next_one(tmp_path: Path) -> None:
    jvm = "-cp\n/opt/releases/kafka-{}-077aaa0428e8/libs/*\n"
    state = record(tmp_path, server_properties="", jvm_options=jvm.format("4.3.1"))
    wanted = tmp_path / "jvm.options"
    wanted.write_text(jvm.format("3.9.2"))
    assert info(state_dir=state, jvm_file=str(wanted))["version"] == "4.3.1"
    assert info(state_dir=str(tmp_path / "none"), jvm_file=str(wanted))["version"] == "3.9.2"
    assert info(jvm_file=str(tmp_path / "nowhere"))["version"] is None


OLD = {
    "server.properties": "a=1\nssl.keystore.password=old\n",
    "jvm.options": "-cp\n/o/kafka-4.3.1-0123456789ab/libs/*\n",
}
NEW = {**OLD, "server.properties": "a=1\nmax.connections=2\nssl.keystore.password=new\n"}


def taken_up(directory: Path, name: str, texts: dict[str, str]) -> Generations:
    found = Generations(str(directory))
    found.stage(name, lambda at: [Path(at, one).write_text(text) for one, text in texts.items()])
    found.switch()
    return found


def test_each_property_and_each_other_file_is_a_line() -> None:
    lines = changes(OLD, {**NEW, "start": "exec java\n"})
    assert lines == [
        "property max.connections: (not set) -> 2",
        "property ssl.keystore.password: (secret) -> (another secret)",
        "file start",
    ]
    assert changes(OLD, OLD) == []


def test_properties_that_cannot_be_read_are_a_file_that_differs() -> None:
    assert changes({"server.properties": "a=\\u12\n"}, {"server.properties": "a=1\n"}) == ["file server.properties"]


def test_it_is_told_of_what_is_not_proven_and_of_what_was_proven_last(tmp_path: Path) -> None:
    found = taken_up(tmp_path, "20261126T100000Z", OLD)
    found.prove()
    assert last_change(found) is None
    found = taken_up(tmp_path, "20261126T144501Z", NEW)
    unproven = last_change(found)
    assert unproven is not None
    assert (unproven["since"], unproven["same_release"]) == ("20261126T144501Z", True)
    found.prove()
    assert last_change(found) == unproven


def test_another_release_is_told(tmp_path: Path) -> None:
    taken_up(tmp_path, "1", {"jvm.options": "-cp\n/o/kafka-4.2.0-0123456789ab/libs/*\n"}).prove()
    found = taken_up(tmp_path, "2", OLD)
    assert (last_change(found) or {})["same_release"] is False


def test_the_system_of_the_machine_is_always_told() -> None:
    assert set(info()["system"]) == {"name", "java_package", "selinux", "config_type"}


def test_the_clock_is_read_where_it_is_asked_for() -> None:
    assert info()["clock"] is None
    assert set(info(clock=True)["clock"]) == {"synchronized", "service", "problem"}


def test_a_node_that_its_old_service_runs_says_so_and_what_it_will_have_differently(tmp_path: Path) -> None:
    # As another installation has it: a file of its own, and a property on the command line.
    properties = tmp_path / "server.properties"
    properties.write_text("node.id=1\nlog.retention.hours=72\n")
    words = ["kafka.Kafka", str(properties), "--override", "ssl.key.password=secret"]
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)", *words])
    claim = {
        "manager": "systemd",
        "name": "kafka.service",
        "enabled": True,
        "control": "",
        "main_class": "kafka.Kafka",
        "properties_file": str(properties),
    }
    wanted = {"properties": {"node.id": "1", "log.retention.hours": "168"}}
    try:
        found = info(state_dir=str(tmp_path / "run"), wanted=wanted, claim=claim)
    finally:
        child.kill()
        child.wait()
    assert (found["process"]["pid"], found["process"]["recorded"], found["needs_start"]) == (child.pid, False, False)
    assert (found["adopted"]["phase"], found["adopted"]["runs"]) == ("claimed", "old")
    lines = [reason_line(one) for one in found["restart_reasons"]]
    assert lines[0] == "record process: it is run by systemd kafka.service -> this run takes it over"
    assert "property log.retention.hours: 72 -> 168" in lines
    assert not any("node.id" in line or "secret" in line.replace("(secret)", "") for line in lines)


def test_a_file_that_cannot_be_read_ends_the_look(tmp_path: Path) -> None:
    (tmp_path / "adopted.json").write_text("{")
    with pytest.raises(StreamopsError, match="does not say who ran this node before"):
        info(adopted_file=str(tmp_path / "adopted.json"))


def test_a_node_that_was_taken_over_is_ours_and_can_be_given_back(tmp_path: Path) -> None:
    taken = replace(claimed({"manager": "systemd", "name": "k", "enabled": True, "control": "",
                             "main_class": "kafka.Kafka", "properties_file": "/x"}), phase="taken")  # fmt: skip
    (tmp_path / "adopted.json").write_text(dump(taken))
    texts = {"server_properties": "node.id=1\n", "jvm_options": "-Xmx1g\n"}
    found = info(state_dir=record(tmp_path, **texts), adopted_file=str(tmp_path / "adopted.json"))
    assert (found["adopted"]["phase"], found["adopted"]["runs"], found["restart_reasons"]) == ("taken", "ours", [])

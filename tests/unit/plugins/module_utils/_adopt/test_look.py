"""Installations that are not ours, on the real /proc: a child process has the command line of a JVM."""

from __future__ import annotations

import hashlib
import json
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._adopt import look as subject
from ansible_collections.streamops.kafka.plugins.module_utils._adopt import service_look, units
from ansible_collections.streamops.kafka.plugins.module_utils._adopt.file_look import Files
from ansible_collections.streamops.kafka.plugins.module_utils._core import commands as programs
from ansible_collections.streamops.kafka.plugins.module_utils._release.lock import Artifact, Jar, Lock
from tests.support import other_jvm

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start a process with the command line of a JVM and an environment; ends it behind the test."""
    processes: list[subprocess.Popen[bytes]] = []

    def begin(argv: Sequence[str], directory: Path, env: Mapping[str, str], **more: Any) -> subprocess.Popen[bytes]:
        processes.append(other_jvm.start(argv, directory, env, **more))
        return processes[-1]

    yield begin
    for process in processes:
        process.kill()
        process.wait()


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """A release under /opt, as it were, with its properties, stores and data."""
    for name in ("libs", "config", "data"):
        (tmp_path / name).mkdir()
    for jar in ("kafka_2.13-4.3.1.jar", "kafka-clients-4.3.1.jar"):
        (tmp_path / "libs" / jar).write_bytes(jar.encode())
    (tmp_path / "config" / "trust.jks").write_bytes(b"\xfe\xed\xfe\xed\x00\x00\x00\x02")
    (tmp_path / "config" / "server.properties").write_text(
        "node.id=1\nprocess.roles=broker,controller\nlog.dirs=data,data/none\n"
        "ssl.truststore.location=config/trust.jks\nssl.truststore.password=hunter2\n"
        "ssl.keystore.location=config/gone.p12\nssl.key.password=${env:KEY_PASS}\n"
    )
    (tmp_path / "data" / "meta.properties").write_text("version=1\ncluster.id=abcdefghijklmnopqrstuv\nnode.id=1\n")
    return tmp_path


def argv(home: Path, *arguments: str) -> list[str]:
    """The words that kafka-server-start.sh puts together, some of them."""
    return [
        *("java", "-Xmx1G", "-Dkafka.logs.dir=logs", "-Djavax.net.ssl.keyStorePassword=hunter2"),
        *("-cp", f"{home}/bin/../libs/*", "kafka.Kafka", "config/server.properties", *arguments),
    ]


def described(process: subprocess.Popen[bytes], locks: Sequence[Lock] = ()) -> tuple[dict[str, Any], Files]:
    files = Files()
    entry = subject.process(process.pid, files, locks)
    assert entry is not None
    return entry, files


def test_a_process_that_was_started_by_hand_is_found_and_read(installed: Path, start: Start) -> None:
    command = argv(installed, "--override", "broker.id=3", "--override", "ssl.keystore.password=hunter2")
    env = {"KAFKA_OPTS": "-Djavax.net.ssl.keyStorePassword=hunter2", "KEY_PASS": "hunter2", "UNRELATED": "hunter2"}
    process = start(command, installed, env)
    everything = subject.look([])
    entry = next(one for one in everything["processes"] if one["pid"] == process.pid)
    assert (entry["product"], entry["main_class"], entry["cwd"]) == ("kafka", "kafka.Kafka", str(installed))
    assert abs(entry["since"] - time.time()) < 120
    assert entry["user"] == pwd.getpwuid(os.geteuid()).pw_name
    assert entry["java"]["path"] == os.path.realpath(sys.executable)
    assert entry["java"]["error"] == "it is not called java, so it is not asked"
    assert entry["properties_file"] == str(installed / "config/server.properties")
    assert entry["properties"]["node.id"] == "1"
    assert entry["overrides"] == {"broker.id": "3", "ssl.keystore.password": "********"}
    assert entry["origins"]["broker.id"] == "--override"
    assert entry["origins"]["node.id"] == f"{installed}/config/server.properties:1"
    assert [one["name"] for one in entry["secrets"]] == [
        "ssl.key.password",
        "ssl.keystore.password",
        "ssl.truststore.password",
        "javax.net.ssl.keyStorePassword",
    ]
    assert [(one["name"], one["value"]) for one in entry["environment"]] == [
        ("KAFKA_OPTS", "-Djavax.net.ssl.keyStorePassword=********"),
        ("KEY_PASS", "********"),
    ]
    assert entry["limits"]["nofile"]["soft"] > 0
    dirs = {one["path"]: one for one in entry["dirs"]}
    assert dirs[f"{installed}/data"]["meta_properties"]["cluster.id"] == "abcdefghijklmnopqrstuv"
    assert dirs[f"{installed}/data"]["metadata"]
    assert not dirs[f"{installed}/data/none"]["exists"]
    assert entry["stores"] == [
        {"path": f"{installed}/config/trust.jks", "kind": "JKS", "error": None},
        {"path": f"{installed}/config/gone.p12", "kind": None, "error": "No such file or directory"},
    ]
    assert {"path": f"{installed}/config/gone.p12", "why": "No such file or directory"} in everything["unread"]
    assert (entry["release"]["version"], entry["release"]["dir"]) == ("4.3.1", str(installed))
    assert entry["ours"] is None
    assert "hunter2" not in json.dumps(everything)


def test_its_jars_are_compared_with_a_lock(installed: Path, start: Start) -> None:
    names = {"kafka_2.13-4.3.1.jar": b"kafka_2.13-4.3.1.jar", "kafka-clients-4.3.1.jar": b"another"}
    jars = [Jar(Artifact("g", "a", "1"), name, hashlib.sha256(text).hexdigest(), 1) for name, text in names.items()]
    entry, _files = described(start(argv(installed), installed, {}), [Lock("kafka", "4.3.1", True, (), tuple(jars))])
    assert entry["release"]["differing"] == ["kafka-clients-4.3.1.jar"]
    assert entry["release"]["compared"]


def test_the_ports_that_it_listens_on(installed: Path, start: Start) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        process = start(argv(installed), installed, {}, pass_fds=[listener.fileno()])
        assert described(process)[0]["ports"] == [listener.getsockname()[1]]


def test_a_service_of_supervisord_is_read(installed: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    (installed / "supervisord.conf").write_text("[include]\nfiles=conf.d/*.conf\n")
    (installed / "conf.d").mkdir()
    (installed / "conf.d" / "k.conf").write_text(
        '[program:kafka]\ncommand=/start --override x.password=hunter2\nenvironment=LOG_DIR=/l,KAFKA_OPTS="-Da=b"\n'
    )
    monkeypatch.setattr(service_look, "_SUPERVISOR_FILES", (str(installed / "supervisord.conf"),))
    env = {"SUPERVISOR_PROCESS_NAME": "kafka", "SUPERVISOR_GROUP_NAME": "kafka", "LOG_DIR": "/l"}
    entry, _files = described(start(argv(installed), installed, env))
    assert (entry["service"]["manager"], entry["service"]["name"]) == ("supervisor", "kafka")
    assert entry["service"]["commands"] == ["/start --override x.password=********"]
    origin = f"{installed}/conf.d/k.conf"
    assert [(one["name"], one["origin"], one["differs"]) for one in entry["environment"]][:2] == [
        ("KAFKA_OPTS", origin, True),
        ("LOG_DIR", origin, False),
    ]


def test_a_unit_of_systemd_is_asked_for(installed: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    (installed / "kafka.env").write_text("KAFKA_HEAP_OPTS=-Xmx4g\n")
    unit = (
        "# /etc/systemd/system/kafka.service\n[Service]\nUser=kafka\nExecStart=/x\nRestart=always\n"
        f"Environment=KAFKA_HEAP_OPTS=-Xmx1g\nEnvironmentFile={installed}/kafka.env\nEnvironmentFile=-/none\n"
        f"EnvironmentFile={installed}/none\n"
    )
    answers = {"cat": (0, unit, ""), "show": (0, "UnitFileState=enabled\nNeedDaemonReload=yes\n", "")}
    monkeypatch.setattr(programs, "run", lambda words, _seconds: answers[words[1]])
    monkeypatch.setattr(units, "manager", lambda *_facts: units.Manager("systemd", "kafka.service"))
    entry, files = described(start(argv(installed), installed, {"KAFKA_HEAP_OPTS": "-Xmx4g"}))
    service = entry["service"]
    assert (service["name"], service["user"], service["restart"]) == ("kafka.service", "kafka", "always")
    assert (service["enabled"], service["needs_reload"]) == ("enabled", True)
    assert entry["environment"] == [
        {"name": "KAFKA_HEAP_OPTS", "value": "-Xmx4g", "origin": f"{installed}/kafka.env", "differs": False}
    ]
    assert f"{installed}/none" in files.unread
    assert "/none" not in files.unread


def test_a_container_is_named_and_left_alone(installed: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    name = units.Manager("container", "docker 0123456789ab")
    monkeypatch.setattr(units, "manager", lambda *_facts: name)
    entry, files = described(start(argv(installed), installed, {}))
    assert (entry["service"]["manager"], entry["service"]["name"]) == ("container", "docker 0123456789ab")
    assert (entry["properties"], entry["dirs"], entry["stores"], files.unread) == ({}, [], [], {})


def test_our_own_node_is_named(installed: Path, start: Start) -> None:
    process = start([*argv(installed)[:-1], f"{installed}/config/server.properties"], installed, {})
    assert described(process)[0]["ours"] is None
    (installed / "config" / "start").write_text(f"#!/bin/sh\nstate='{installed}/state'\n")
    record = installed / "state" / "started"
    record.mkdir(parents=True)
    (record / "pid").write_text(f"{process.pid}\n")
    (record / "start_time").write_text("1\n")
    assert described(process)[0]["ours"] is None
    ticks = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
    (record / "start_time").write_text(f"{ticks}\n")
    assert described(process)[0]["ours"] == {"product": "kafka", "node_id": None, "cluster": None}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root becomes another user")
def test_another_user_is_told_what_it_may_not_read(installed: Path, start: Start) -> None:
    process = start(argv(installed), installed, {"KAFKA_OPTS": "-Da=b"})
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            os.write(theirs, json.dumps(subject.look([])).encode())
        finally:
            os._exit(0)
    os.close(theirs)
    with os.fdopen(ours, "rb") as answer:
        everything = json.loads(answer.read())
    os.waitpid(child, 0)
    entry = next(one for one in everything["processes"] if one["pid"] == process.pid)
    assert (entry["product"], entry["cwd"], entry["user"]) == ("kafka", None, "root")
    assert (entry["properties"], entry["environment"], entry["dirs"], entry["ports"]) == ({}, [], [], [])
    assert entry["java"]["error"] == "this user may not see which java runs"
    assert entry["limits"]["nofile"]["soft"] > 0
    unread = {one["path"]: one["why"] for one in everything["unread"]}
    assert {f"/proc/{process.pid}/{name}" for name in ("cwd", "environ", "exe", "fd")} <= unread.keys()
    assert unread[f"/proc/{process.pid}/environ"] == "Permission denied"
    assert unread["config/server.properties"] == "it is relative, and this user may not see where the process works"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may read the files of others")
def test_root_shows_no_file_that_the_process_may_not_read(installed: Path, start: Start, tmp_path: Path) -> None:
    # Anybody may call a process of theirs java, and name files of others as its settings.
    hidden = tmp_path / "shadow"
    hidden.write_text("root=a-hash\n")
    with tempfile.TemporaryDirectory() as seen_by_all:
        theirs = Path(seen_by_all) / "opt"
        shutil.copytree(installed, theirs)
        for directory in (Path(seen_by_all), theirs):
            directory.chmod(0o755)
        (theirs / "data" / "meta.properties").unlink()
        (theirs / "data" / "meta.properties").symlink_to(hidden)
        command = [*argv(theirs)[:-1], str(hidden), "--override", f"log.dirs={theirs}/data"]
        entry, files = described(start(command, theirs, {}, user=65534, group=65534, extra_groups=[]))
    assert entry["properties"] == {"log.dirs": f"{theirs}/data"}
    assert "a-hash" not in json.dumps(entry)
    assert "Permission denied" in files.unread[str(hidden)]
    assert [row["meta_properties"] for row in entry["dirs"]] == [None]
    # What it may read is shown, and our own rights are back.
    assert entry["release"]["version"] == "4.3.1"
    assert os.geteuid() == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes the root directory")
def test_a_process_with_another_root_directory_is_named_and_left_alone(installed: Path, start: Start) -> None:
    process = start(argv(installed), installed, {}, is_rooted=True)
    entry, files = described(process)
    assert entry["service"]["manager"] == "container"
    assert entry["service"]["name"] == "of an unknown engine (it has a root directory of its own)"
    assert (entry["properties"], files.unread) == ({}, {})


def test_a_process_that_ends_meanwhile_is_none(installed: Path, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    process = start(argv(installed), installed, {})
    real = subject.limits

    def ends(text: str) -> dict[str, dict[str, int | None]]:
        process.kill()
        process.wait()
        return real(text)

    monkeypatch.setattr(subject, "limits", ends)
    assert subject.process(process.pid, Files()) is None
    assert subject.process(process.pid, Files()) is None


def test_other_processes_are_none_of_ours() -> None:
    assert subject.process(os.getpid(), Files()) is None
    assert subject.process(1 << 22, Files()) is None


def test_properties_that_java_refuses_are_named(installed: Path, start: Start) -> None:
    path = installed / "config" / "server.properties"
    path.write_text("a=\\u12\n")
    entry, files = described(start(argv(installed, "--override", "node.id=7"), installed, {}))
    assert entry["properties"] == {"node.id": "7"}
    assert files.unread[str(path)].startswith("line 1")


def test_limits_of_a_process() -> None:
    text = "Limit                     Soft Limit           Hard Limit           Units\n"
    text += "Max open files            1024                 unlimited            files\nMax processes\n"
    assert subject.limits(text) == {"nofile": {"soft": 1024, "hard": None}}


def test_a_pipe_and_a_huge_file_are_not_read(tmp_path: Path) -> None:
    files = Files()
    os.mkfifo(tmp_path / "pipe")
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(1 << 30)
    assert files.text(str(tmp_path / "pipe")) is None
    assert files.text(str(tmp_path / "huge")) is None
    assert files.digest(str(tmp_path / "pipe")) is None
    assert files.text(str(tmp_path)) is None
    assert (files.text("relative"), files.digest("relative"), list(files.names("relative"))) == (None, None, [])
    assert files.unread.pop("relative").startswith("it is relative")
    assert sorted(files.unread) == [str(tmp_path), str(tmp_path / "huge"), str(tmp_path / "pipe")]
    assert files.text(str(tmp_path / "none"), is_optional=True) is None
    assert str(tmp_path / "none") not in files.unread

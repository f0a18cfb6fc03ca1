# SPDX-License-Identifier: GPL-3.0-or-later
"""What Java or Kafka would not take is refused by the node itself, before anything of it is written."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core import commands
from ansible_collections.streamops.kafka.plugins.module_utils._node.trial import TrialError, trial
from tests.support.cluster import Cluster
from tests.support.forms import short
from tests.support.modules import run_module
from tests.support.trials import try_files

#: No rule of this collection finds these: two values that do not go together, an option that this Java does not have.
BROKEN: list[tuple[list[str], dict[str, Any], str]] = [
    (
        [],
        {"kafka_config": {"replica.fetch.wait.max.ms": 20000, "replica.lag.time.max.ms": 10000}},
        "would not start with what this run would write: Kafka does not take its properties:",
    ),
    (
        [],
        # Two of the three would have something to write.
        {"kafka_jvm_options": "{{ ['-XX:+UseFoo'] if inventory_hostname == 'kafka3' else ['-Da=b'] }}"},
        "kafka3 would not start with what this run would write: Java does not take its arguments: Unrecognized VM",
    ),
    (
        ["--check"],
        {"kafka_jvm_options": ["-XX:+UseFoo"]},
        "would not start with what this run would write: Java does not take its arguments: Unrecognized VM option",
    ),
]


#: The properties of a node of KRaft that Kafka takes.
OWN = (
    "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.voters=1@localhost:9093\n"
    "controller.listener.names=C\nlisteners=P://:9092,C://:9093\n"
    "listener.security.protocol.map=P:PLAINTEXT,C:PLAINTEXT\ninter.broker.listener.name=P\n"
)


@pytest.mark.parametrize(("arguments", "variables", "said"), short(BROKEN, BROKEN[0]), ids=["kafka", "one", "java"])
def test_a_value_that_would_stop_a_node_reaches_none(
    combined: Cluster, arguments: list[str], variables: dict[str, Any], said: str
) -> None:
    pids, written = combined.pids(), contents(combined)
    run = combined.playbook("site.yml", *arguments, **variables)
    assert run.rc != 0
    assert said in " ".join(run.output.split()), run.output[-3000:]
    assert (combined.pids(), contents(combined)) == (pids, written)


def contents(cluster: Cluster) -> dict[Path, bytes]:
    """What the nodes are started with, by file."""
    found = [path for node in cluster.nodes for path in (cluster.directory / "config" / node).rglob("*")]
    return {path: path.read_bytes() for path in found if path.is_file()}


@pytest.mark.parametrize("version", short(["3.9.2", "4.3.1"], "4.3.1"))
@pytest.mark.parametrize("mode", short(["kraft", "zookeeper"], "kraft"))
def test_each_release_judges_its_own_properties(
    tmp_path: Path, kafka_release: Callable[[str], Path], version: str, mode: str
) -> None:
    if (version, mode) == ("4.3.1", "zookeeper"):
        return
    own = {
        "kraft": OWN,
        "zookeeper": "broker.id=1\nzookeeper.connect=localhost:2181\nlisteners=PLAINTEXT://:9092\n",
    }[mode]
    libs = kafka_release(version) / "libs"
    jvm = {"path": str(tmp_path / "jvm.options"), "content": f'-Xmx256m\n-cp\n"{libs}/*"\n'}
    for more, good in (("", True), ("queued.max.requests=0\n", False)):
        text = f"{own}log.dirs={tmp_path}/data\n{more}"
        given = {"name": "n", "jvm_options": jvm, "properties": {"path": str(tmp_path / "p"), "content": text}}
        judged = try_files(**given)
        assert judged["failed"] is not good, judged
        if not good:
            assert "Invalid value 0 for configuration queued.max.requests" in judged["msg"]
    assert not (tmp_path / "data").exists()


@pytest.mark.full
def test_what_is_wrong_with_the_machine_alone_refuses_no_node(
    tmp_path: Path, kafka_release: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseFoo")
    (tmp_path / "failed-disk" / "meta.properties").mkdir(parents=True)
    text = f"broker.id=1\nzookeeper.connect=localhost:2181\nlog.dirs={tmp_path}/failed-disk\n"
    libs = kafka_release("3.9.2") / "libs"
    jvm = f'-Xmx256m\n-XX:+HeapDumpOnOutOfMemoryError\n-XX:HeapDumpPath={tmp_path}/dump\n-cp\n"{libs}/*"\n'
    given = {
        "name": "n",
        "java": "",
        "jvm_options": {"path": str(tmp_path / "jvm.options"), "content": jvm},
        "properties": {"path": str(tmp_path / "p"), "content": text},
        "start": None,
    }
    assert trial(given) == {"changed": False, "judged": True, "warnings": []}
    files = [{**given[name], "mode": "0640"} for name in ("jvm_options", "properties")]
    names = {name: given[name]["path"] for name in ("jvm_options", "properties")}
    judged_by = {"name": "n", "java": "/no/java", **names}
    asked = {"path": str(tmp_path), "state": "staged", "files": files, "trial": judged_by}
    tried = run_module("streamops.kafka.node_generation", asked, check=True)
    assert "could not judge" in str(tried["warnings"]), tried
    assert not tried.get("deprecations"), "ansible-core deprecates warnings that are in a result"
    given["jvm_options"]["content"] = jvm.replace("256m", "8m")
    # Too little for Kafka. How much of that Java can still say depends on where its memory ends.
    with contextlib.suppress(TrialError):
        trial(given)
    assert sorted(one.name for one in tmp_path.iterdir() if one.is_file()) == []
    with_limit = partial(_with_little_memory, run=commands.run)
    given["jvm_options"]["content"] = jvm.replace("256m", "8g")
    found = trial(given, with_limit)
    assert "no room for a second JVM" in found["warnings"][0], found


def _with_little_memory(argv: list[str], seconds: float, run: Callable[..., Any], **more: Any) -> Any:
    """Run a program with 4 GB of address space, as a machine that gives out no more than it has."""
    return run(["sh", "-c", 'ulimit -v 4000000; exec "$@"', "sh", *argv], seconds, **more)


def test_files_that_kafka_does_not_take_are_not_staged_and_nothing_beside_them_is_written(
    tmp_path: Path, kafka_release: Callable[[str], Path]
) -> None:
    libs = kafka_release("4.3.1") / "libs"
    conf = tmp_path / "config"

    def generation(threads: int, **trial: Any) -> dict[str, Any]:
        texts = {"jvm.options": f'-Xmx256m\n-cp\n"{libs}/*"\n', "server.properties": f"{OWN}num.io.threads={threads}\n"}
        names = {"jvm_options": "jvm.options", "properties": "server.properties"}
        given = {
            "path": str(conf),
            "state": "staged",
            "files": [{"path": str(conf / name), "content": text, "mode": "0640"} for name, text in texts.items()],
            "directories": [{"path": str(conf), "mode": "0750"}],
            "trial": {"name": "n", **{option: str(conf / name) for option, name in names.items()}, **trial},
        }
        made: dict[str, Any] = run_module("streamops.kafka.node_generation", given)
        return made

    refused = generation(0)
    assert "n would not start with what this run would write" in refused["msg"]
    assert "num.io.threads" in refused["msg"]
    assert "is none of the given files" in generation(8, start=str(conf / "start"))["msg"]
    assert not conf.exists()
    staged = generation(8)
    assert (staged["judged"], staged["changed"]) == (True, True)
    again = generation(8)
    assert (again["judged"], again["changed"]) == (True, False), "they wait, and are not on the node yet"


@pytest.fixture
def without_programs(tmp_path: Path) -> Iterator[Path]:
    """A directory on a mount with noexec, as /tmp often is."""
    if os.geteuid():
        pytest.skip("only root can mount")
    place = tmp_path / "noexec"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", str(place)], check=False)
    if mounted.returncode:
        pytest.skip("this machine does not let root mount")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def judge(tmp_path: Path, libs: Path, *words: str, properties: str = "") -> dict[str, Any]:
    """Have a node judge these arguments of Java, and properties."""
    content = "".join(f"{word}\n" for word in ("-Xmx256m", *words, "-cp", f'"{libs}/*"'))
    given: dict[str, Any] = {"name": "n", "jvm_options": {"path": str(tmp_path / "jvm.options"), "content": content}}
    if properties:
        given["properties"] = {"path": str(tmp_path / "p"), "content": f"{properties}log.dirs={tmp_path}/data\n"}
    return try_files(**given)


@pytest.mark.parametrize("version", short(["3.9.2", "4.3.1", "4.4.0"], "4.3.1"))
def test_what_producers_need_is_tried(tmp_path: Path, kafka_release: Callable[[str], Path], version: str) -> None:
    libs = kafka_release(version) / "libs"
    good = judge(tmp_path, libs)
    assert (good["failed"], good["judged"], good.get("warnings", [])) == (False, True, []), good
    missing = judge(tmp_path, libs, f"-Djava.io.tmpdir={tmp_path}/none")
    assert f"the temporary directory {tmp_path}/none of Java is missing. fix: give kafka_jvm_options" in missing["msg"]
    assert not (tmp_path / "none").exists(), "a library of a codec would make it"
    small = judge(tmp_path, libs, "-XX:MaxDirectMemorySize=512k")
    assert "direct memory (-XX:MaxDirectMemorySize) has no room for one message" in small["msg"], small


def test_a_temporary_directory_without_programs_is_refused(
    tmp_path: Path, kafka_release: Callable[[str], Path], without_programs: Path
) -> None:
    refused = judge(tmp_path, kafka_release("4.3.1") / "libs", f"-Djava.io.tmpdir={without_programs}")
    assert "Kafka cannot read the codec snappy" in refused["msg"], refused
    assert f"the temporary directory of Java is {without_programs}, which is mounted noexec" in refused["msg"]


@pytest.mark.full
def test_classes_that_a_node_loads_are_tried(tmp_path: Path, kafka_release: Callable[[str], Path]) -> None:
    libs = kafka_release("4.3.1") / "libs"
    for key in ("authorizer.class.name", "principal.builder.class"):
        refused = judge(tmp_path, libs, properties=f"{OWN}{key}=org.example.Missing\n")
        assert "org.example.Missing" in refused["msg"], refused
    # One that is there, and is no authorizer of ours to know.
    loaded = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
    assert not judge(tmp_path, libs, properties=f"{OWN}principal.builder.class={loaded}\n")["failed"]
    assert not judge(tmp_path, libs, properties=f"{OWN}authorizer.class.name={loaded}\n")["failed"]

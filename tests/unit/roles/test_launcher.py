"""The launcher alone: a fake release and a fake Java that prints what it was called with."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._release.layout import tool_names

LAUNCHER = Path(__file__).parents[3] / "roles/_common/files/launcher"
JAVA = '#!/bin/sh\nfor word in "$@"; do printf \'%s\\n\' "$word"; done\n'


class Release:
    """An unpacked release of a version, with links for its tools, and a Java beside it."""

    def __init__(self, root: Path, version: str) -> None:
        self.home = root / f"kafka-{version}"
        for directory in ("bin", "libs", "config"):
            (self.home / directory).mkdir(parents=True)
        (self.home / f"libs/kafka_2.13-{version}.jar").touch()
        shutil.copy(LAUNCHER, self.home / "bin/launcher")
        for tool in tool_names(LAUNCHER.read_text(), version):
            (self.home / "bin" / tool).symlink_to("launcher")
        self.java_home = root / "java home"
        (self.java_home / "bin").mkdir(parents=True, exist_ok=True)
        (self.java_home / "bin/java").write_text(JAVA)
        (self.java_home / "bin/java").chmod(0o755)

    def run(self, command: str | Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        env = {"PATH": os.environ["PATH"], "JAVA_HOME": str(self.java_home), **environment}
        path = self.home / "bin" / command
        return subprocess.run([path, *arguments], env=env, capture_output=True, text=True, check=False)

    def java_arguments(self, command: str | Path, *arguments: str, **environment: str) -> list[str]:
        done = self.run(command, *arguments, **environment)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()


@pytest.fixture(params=["4.3.1", "3.9.2"])
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Release:
    return Release(tmp_path, request.param)


def test_arguments_reach_java_unchanged(release: Release) -> None:
    words = release.java_arguments("kafka-topics.sh", "--topic", "two words", "*", "")
    at = words.index("-cp")
    assert words[at:] == [
        "-cp",
        f"{release.home}/libs/*",
        "org.apache.kafka.tools.TopicCommand",
        "--topic",
        "two words",
        "*",
        "",
    ]
    assert words[0] == "-Xmx256M"


def test_classes_that_moved_follow_the_version(tmp_path: Path) -> None:
    moved = {"4.3.1": "org.apache.kafka.tools.AclCommand", "3.9.2": "kafka.admin.AclCommand"}
    for version, name in moved.items():
        assert Release(tmp_path / version, version).java_arguments("kafka-acls.sh")[-1] == name
    again = dict.fromkeys(("3.9.2", "4.0.2", "4.3.1"), "kafka.admin.ConfigCommand")
    for version, name in {**again, "4.4.0": "org.apache.kafka.tools.ConfigCommand"}.items():
        assert Release(tmp_path / f"c{version}", version).java_arguments("kafka-configs.sh")[-1] == name


def test_logging_is_configured_for_the_version(tmp_path: Path) -> None:
    new, old = Release(tmp_path / "new", "4.3.1"), Release(tmp_path / "old", "3.9.2")
    expected = f"-Dlog4j2.configurationFile={new.home}/config/tools-log4j2.properties"
    assert expected in new.java_arguments("kafka-topics.sh")
    assert f"-Dlog4j.configuration=file:{old.home}/config/tools-log4j.properties" in old.java_arguments(
        "kafka-topics.sh"
    )


def test_kafkas_own_variables_override(release: Release) -> None:
    words = release.java_arguments(
        "kafka-topics.sh", KAFKA_HEAP_OPTS="-Xms1g -Xmx1g", KAFKA_OPTS="-Da=b -Dc=d", KAFKA_LOG4J_OPTS="-Dx=y"
    )
    assert words[:2] == ["-Xms1g", "-Xmx1g"]
    assert [word for word in words if word.startswith("-D")] == ["-Dx=y", "-Da=b", "-Dc=d"]


def test_a_link_from_elsewhere_finds_the_release(release: Release, tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "far/kafka-topics.sh").symlink_to(release.home / "bin/kafka-topics.sh")
    assert f"{release.home}/libs/*" in release.java_arguments(tmp_path / "far/kafka-topics.sh")


def test_a_release_below_a_path_with_blanks_works(tmp_path: Path) -> None:
    release = Release(tmp_path / "a b  c", "4.3.1")
    words = release.java_arguments("kafka-topics.sh")
    assert f"{release.home}/libs/*" in words
    assert f"-Dlog4j2.configurationFile={release.home}/config/tools-log4j2.properties" in words


def test_the_launcher_takes_the_tool_as_its_first_argument(release: Release) -> None:
    for name in ("kafka-topics.sh", "kafka-topics"):
        assert release.java_arguments("launcher", name, "--list")[-2:] == [
            "org.apache.kafka.tools.TopicCommand",
            "--list",
        ]


def test_any_class_can_be_run(release: Release) -> None:
    assert release.java_arguments("kafka-run-class.sh", "my.Class", "a")[-2:] == ["my.Class", "a"]
    assert release.run("kafka-run-class.sh").returncode == 64


@pytest.mark.parametrize("name", ["kafka-nonsense.sh", ""])
def test_an_unknown_name_lists_the_tools_of_the_version(release: Release, name: str) -> None:
    done = release.run("launcher", name)
    listed = {line.strip() for line in done.stderr.splitlines()[1:]}
    expected = set(tool_names(LAUNCHER.read_text(), release.home.name[len("kafka-") :])) - {"kafka-run-class.sh"}
    assert done.returncode == 64
    assert listed == expected
    assert done.stdout == ""


def test_a_tool_of_another_version_is_unknown(tmp_path: Path) -> None:
    release = Release(tmp_path, "3.9.2")
    assert 'no tool "kafka-groups.sh" in Kafka 3.9.2' in release.run("launcher", "kafka-groups.sh").stderr


def test_a_wrong_java_home_and_a_missing_java_are_said(release: Release, tmp_path: Path) -> None:
    assert "has no bin/java" in release.run("kafka-topics.sh", JAVA_HOME=str(tmp_path)).stderr
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "readlink", "dirname", "cat"):
        (tools / name).symlink_to(str(shutil.which(name)))
    done = release.run("kafka-topics.sh", JAVA_HOME="", PATH=str(tools))
    assert done.returncode == 69
    assert "no java on the path" in done.stderr


def test_the_launcher_outside_a_release_says_so(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    shutil.copy(LAUNCHER, tmp_path / "bin/launcher")
    done = subprocess.run([tmp_path / "bin/launcher", "kafka-topics.sh"], capture_output=True, text=True, check=False)
    assert done.returncode == 66
    assert "no Kafka in" in done.stderr

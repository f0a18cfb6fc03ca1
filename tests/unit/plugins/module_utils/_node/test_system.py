"""Java is found where it should be and its version understood; a system is known by what such systems write."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node import system
from ansible_collections.streamops.kafka.plugins.module_utils._node.system import (
    describe_java,
    describe_system,
    find_java,
    java_package,
    major,
    new_type,
    os_release,
    selinux,
    type_of,
)

#: os-release as these systems have it, from public reports of their users.
RECORDED = Path(__file__).parent / "os_release"


@pytest.mark.parametrize(
    ("recorded", "package"),
    [
        ("debian-12", "openjdk-17-jre-headless"),
        ("debian-13", "openjdk-21-jre-headless"),
        ("ubuntu-24.04", "openjdk-17-jre-headless"),
        ("rhel-8.10", "java-17-openjdk-headless"),
        ("rhel-9.4", "java-17-openjdk-headless"),
        ("rhel-10.0", "java-21-openjdk-headless"),
        ("rocky-10.1", "java-21-openjdk-headless"),
        ("oracle-9.4", "java-17-openjdk-headless"),
        ("amazon-2023", "java-17-amazon-corretto-headless"),
        ("sles-15.6", "java-17-openjdk-headless"),
        # Of these no package is known that brings a Java which Kafka 4 runs with.
        ("amazon-2", ""),
        ("fedora-38", ""),
    ],
)
def test_the_package_of_java_is_that_of_the_system(recorded: str, package: str) -> None:
    assert java_package(os_release((RECORDED / recorded).read_text())) == package


@pytest.mark.parametrize("text", ["", "ID=debian", "ID=debian\nVERSION_CODENAME=sid", 'ID="alpine"\nVERSION_ID=3.22.1'])
def test_a_system_that_is_not_known_has_no_package(text: str) -> None:
    assert java_package(os_release(text)) == ""


def test_values_are_quoted_as_a_shell_does() -> None:
    text = """# ID=comment\nID='one'\nNAME="A \\"b\\" c"\nEMPTY=\nPLAIN=a-b.c\nbroken="open\nno line\n"""
    fields = {"ID": "one", "NAME": 'A "b" c', "EMPTY": "", "PLAIN": "a-b.c", "broken": '"open'}
    assert os_release(text) == fields


@pytest.mark.parametrize(
    ("enforce", "mode"), [(None, "disabled"), ("1", "enforcing"), ("1\n", "enforcing"), ("0", "permissive")]
)
def test_what_selinux_does(enforce: str | None, mode: str) -> None:
    assert selinux(enforce) == mode


@pytest.mark.parametrize(
    ("label", "kind"),
    [
        ("system_u:object_r:etc_t:s0\0", "etc_t"),
        ("unconfined_u:object_r:bin_t:s0:c0.c3", "bin_t"),
        ("", ""),
        ("a:b", ""),
    ],
)
def test_the_type_of_a_label(label: str, kind: str) -> None:
    assert type_of(label) == kind


def labelled(monkeypatch: pytest.MonkeyPatch, labels: dict[str, str]) -> None:
    """Let these directories alone be there, each with its label; "" for a file system without any."""

    def getxattr(path: str, name: str) -> bytes:
        if path not in labels:
            raise FileNotFoundError(path)
        if not labels[path]:
            raise OSError(errno.ENODATA, path)
        return labels[path].encode()

    monkeypatch.setattr(os, "getxattr", getxattr)


def test_what_is_not_there_gets_the_type_of_the_nearest_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = {"/": "system_u:object_r:root_t:s0", "/etc": "system_u:object_r:etc_t:s0\0"}
    labelled(monkeypatch, labels)
    assert new_type("/etc/kafka/broker1") == "etc_t"
    assert new_type("/srv/kafka") == "root_t"
    labelled(monkeypatch, {**labels, "/etc/kafka": "system_u:object_r:bin_t:s0"})
    assert new_type("/etc/kafka/broker1") == "bin_t"
    labelled(monkeypatch, {**labels, "/etc/kafka": ""})
    assert new_type("/etc/kafka/broker1") == ""
    labelled(monkeypatch, {})
    assert (new_type("/etc/kafka"), new_type("relative"), new_type("")) == ("", "", "")


def test_this_machine_says_what_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "enforce").write_text("1")
    monkeypatch.setattr(system, "ENFORCE", str(tmp_path / "enforce"))
    monkeypatch.setattr(system, "OS_RELEASE", (str(tmp_path / "nowhere"), str(RECORDED / "rhel-9.4")))
    labelled(monkeypatch, {"/": "", "/etc": "system_u:object_r:etc_t:s0"})
    assert describe_system("/etc/kafka") == {
        "name": "Red Hat Enterprise Linux 9.4 (Plow)",
        "java_package": "java-17-openjdk-headless",
        "selinux": "enforcing",
        "config_type": "etc_t",
    }
    monkeypatch.setattr(system, "ENFORCE", str(tmp_path / "nowhere"))
    monkeypatch.setattr(system, "OS_RELEASE", (str(tmp_path / "nowhere"),))
    nothing = {"name": "an unknown system", "java_package": "", "selinux": "disabled", "config_type": ""}
    assert describe_system("/etc/kafka") == nothing


@pytest.mark.parametrize(
    ("full", "expected"),
    [("17.0.15", 17), ("21", 21), ("1.8.0_392", 8), ("11.0.2", 11), ("24-ea", 24), ("none", None)],
)
def test_major_version(full: str, expected: int | None) -> None:
    assert major(full) == expected


def program(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    path.chmod(0o755)
    return str(path)


def test_the_given_java_wins_then_java_home_then_the_search_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_home, on_path = program(tmp_path / "home/bin/java"), program(tmp_path / "path/java")
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert find_java("") == on_path
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find_java("") == at_home
    assert find_java("/opt/java") == "/opt/java"


def answers(code: int, out: str, err: str) -> Any:
    return lambda command, seconds: (code, out, err)


def test_reads_the_version_behind_other_output(tmp_path: Path) -> None:
    err = 'Picked up JAVA_TOOL_OPTIONS: -Dx\nopenjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime ...'
    found = describe_java(program(tmp_path / "java"), answers(0, "", err))
    assert (found["version"], found["full"], found["error"]) == (17, "17.0.15", None)


def test_says_why_java_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "java")
    assert "failed with 1: broken" in describe_java(path, answers(1, "", "broken"))["error"]
    assert "no program" in describe_java(str(tmp_path / "missing"), answers(0, "", ""))["error"]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "no java" in describe_java("", answers(0, "", ""))["error"]

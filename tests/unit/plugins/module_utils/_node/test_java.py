"""Java is found where it should be, and its version is understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.java import describe, find, major


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
    assert find("") == on_path
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    assert find("") == at_home
    assert find("/opt/java") == "/opt/java"


def answers(code: int, out: str, err: str) -> Any:
    return lambda command, seconds: (code, out, err)


def test_reads_the_version_behind_other_output(tmp_path: Path) -> None:
    err = 'Picked up JAVA_TOOL_OPTIONS: -Dx\nopenjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime ...'
    found = describe(program(tmp_path / "java"), answers(0, "", err))
    assert (found["version"], found["full"], found["error"]) == (17, "17.0.15", None)


def test_says_why_java_does_not_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = program(tmp_path / "java")
    assert "failed with 1: broken" in describe(path, answers(1, "", "broken"))["error"]
    assert "no program" in describe(str(tmp_path / "missing"), answers(0, "", ""))["error"]
    monkeypatch.setenv("PATH", str(tmp_path / "nothing"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    assert "no java" in describe("", answers(0, "", ""))["error"]

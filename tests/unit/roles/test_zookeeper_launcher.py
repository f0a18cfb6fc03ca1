"""The launcher of ZooKeeper's operator tools, with a java that only says what it was asked."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

LAUNCHER = Path(__file__).resolve().parents[3] / "roles/_common/files/zookeeper-launcher"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An unpacked release, and a java beside it."""
    for directory in ("bin", "libs", "java/bin"):
        (tmp_path / directory).mkdir(parents=True)
    shutil.copy(LAUNCHER, tmp_path / "bin/launcher")
    (tmp_path / "bin/zkCli.sh").symlink_to("launcher")
    java = tmp_path / "java/bin/java"
    java.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    return tmp_path


def run(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run something of the release."""
    environment = {**os.environ, "JAVA_HOME": str(home / "java")}
    return subprocess.run([home / "bin" / words[0], *words[1:]], env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("words", [("zkCli.sh",), ("launcher", "zkCli"), ("launcher", "zkCli.sh")])
def test_a_tool_runs_its_class_with_all_its_arguments(home: Path, words: tuple[str, ...]) -> None:
    said = run(home, *words, "-server", "a b").stdout.splitlines()
    assert said[-3:] == ["org.apache.zookeeper.ZooKeeperMain", "-server", "a b"]
    assert f"{home}/libs/*" in said


def test_an_unknown_tool_is_refused_with_those_there_are(home: Path) -> None:
    done = run(home, "launcher", "zkNonsense.sh")
    assert done.returncode == 64
    assert "zkCleanup.sh zkCli.sh zkSnapShotToolkit.sh zkTxnLogToolkit.sh" in done.stderr

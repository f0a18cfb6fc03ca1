# SPDX-License-Identifier: GPL-3.0-or-later
"""Each guarantee of docs/development/guarantees.md has a test that fails when its mechanism is taken out."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
GUARANTEES: list[dict[str, str]] = yaml.safe_load((ROOT / "tests" / "guarantees.yml").read_text())
#: The one that `./test` tries in its plain form, so that the trying itself is known to work.
PLAIN = "stops a node while another broker of the inventory is down"


def test_the_page_is_made_of_the_table() -> None:
    made = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "make_guarantees"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (made.returncode, made.stdout + made.stderr) == (0, "")


@pytest.mark.parametrize("one", GUARANTEES, ids=lambda one: one["promise"])
def test_a_mechanism_stands_where_the_table_says(one: Mapping[str, str]) -> None:
    assert (ROOT / one["file"]).read_text().count(one["without"]) == 1
    assert (ROOT / "tests" / "unit" / "plugins" / one["test"]).exists()
    for real in one["real"].replace(" (long form)", "").split(", "):
        assert (ROOT / "tests" / "integration" / real).exists()


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of this checkout that its unit tests need, to be changed."""
    folder = tmp_path_factory.mktemp("without")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    for name in filter(None, listed.stdout.split("\0")):
        source, target = ROOT / name, folder / name
        if source.exists() or source.is_symlink():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)
    return folder


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, id=one["promise"], marks=() if one["promise"] == PLAIN else (pytest.mark.full,))
        for one in GUARANTEES
    ],
)
def test_its_test_fails_without_the_mechanism(one: Mapping[str, str], copy: Path, tmp_path: Path) -> None:
    file, test = copy / one["file"], f"tests/unit/plugins/{one['test']}"
    whole = file.read_text()
    quiet = ["-q", "-x", "-p", "no:cacheprovider", "--no-header", f"--basetemp={tmp_path / 'pytest'}"]
    command = [sys.executable, "-B", "-m", "pytest", *quiet, test]
    alone = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, cwd=copy, env=alone, capture_output=True, text=True, timeout=600, check=False)

    try:
        file.write_text(whole.replace(one["without"], one["instead"]))
        tried = run()
    finally:
        file.write_text(whole)
    # 1: tests failed. Another code is an error of the trying, such as a file that cannot be imported.
    assert tried.returncode == 1, tried.stdout[-3000:]

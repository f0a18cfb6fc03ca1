# SPDX-License-Identifier: GPL-3.0-or-later
"""./quickstart --adopt in a copy of this tree: a cluster that others made is taken over, given back, and wiped."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import ROOT, free_port_base
from tests.support.runs import heard

TOOL: dict[str, Any] = runpy.run_path(str(ROOT / "tools" / "adoption_tour"))
#: What belongs to a checkout and to no commit.
LEFT_OUT = (".git", ".venv", ".run", ".cache", "__pycache__", ".mypy_cache", ".pytest_cache", ".ruff_cache")


class Checkout:
    """A copy of this tree, with the environment of this one, and a range of ports of its own."""

    def __init__(self, directory: Path) -> None:
        shutil.copytree(ROOT, directory, symlinks=True, ignore=shutil.ignore_patterns(*LEFT_OUT))
        (directory / ".venv").symlink_to((ROOT / ".venv").resolve())
        self.directory, self.port_base = directory, free_port_base()
        self.others = TOOL["Others"](directory / ".run" / "adopt", self.port_base)

    def quickstart(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run it as in a shell that has set nothing of its own."""
        command = [str(self.directory / "quickstart"), "--adopt", "--port-base", str(self.port_base), *words]
        shell = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "JAVA_HOME") if name in os.environ}
        return heard(command, cwd=self.directory, env=shell)


@pytest.fixture
def checkout(tmp_path: Path) -> Iterator[Checkout]:
    """A copy in which nothing was started yet."""
    made = Checkout(tmp_path / "tree")
    try:
        yield made
    finally:
        made.quickstart("--clean")


@pytest.mark.full
def test_a_cluster_that_others_made_is_taken_over_given_back_and_wiped(checkout: Checkout) -> None:
    first = checkout.quickstart()
    if "this shell runs below a service" in first.stdout:
        pytest.skip("these tests themselves run below a service, which would be stopped")
    assert first.returncode == 0, first.stdout[-6000:]
    for said in (
        "kraft, combined; dynamic quorum",
        "kafka1 would restart",
        "kafka1, kafka2, kafka3 ran as processes",
        " 0 failed; all of them can be read.",
        "files of the old installation are as they were",
        "./quickstart --adopt --back",
    ):
        assert said in first.stdout, said
    assert set(checkout.others.run().values()) == {False}

    again = checkout.quickstart()
    assert again.returncode == 0, again.stdout[-6000:]
    assert "The nodes were ours already: nothing was stopped." in again.stdout

    back = checkout.quickstart("--back")
    assert back.returncode == 0, back.stdout[-6000:]
    assert "kafka1, kafka2, kafka3 run again as the processes of before" in back.stdout
    assert set(checkout.others.run().values()) == {True}

    # Down and taken over from there: nobody runs the nodes, and their data is that of before.
    assert checkout.quickstart("--down").returncode == 0
    assert set(checkout.others.run().values()) == {False}
    taken = checkout.quickstart()
    assert taken.returncode == 0, taken.stdout[-6000:]
    assert set(checkout.others.run().values()) == {False}
    wiped = checkout.quickstart("--clean")
    assert wiped.returncode == 0, wiped.stdout[-6000:]
    assert not checkout.others.directory.exists()
    assert not any(TOOL["listens"](node.port) for node in checkout.others.nodes)

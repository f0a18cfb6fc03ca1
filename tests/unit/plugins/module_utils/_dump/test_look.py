# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the records of a node are looked for, and what is said where there are none. The tool itself runs in
tests/integration/resources/test_dump.py."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.commands import Streamed
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._dump.asked import Asked
from ansible_collections.streamops.kafka.plugins.module_utils._dump.look import directories, log_dump, tree
from ansible_collections.streamops.kafka.plugins.module_utils._dump.tool_run import DumpError, Printed


@pytest.fixture
def disks(tmp_path: Path) -> dict[str, Any]:
    """Two disks of a node, and a release without jars."""
    for name in ("one/orders-3", "two/orders-11", "two/a-b-0", "two/__consumer_offsets-7", "one/__consumer_offsets-12"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "release" / "libs").mkdir(parents=True)
    return {
        "log_dirs": [str(tmp_path / "one"), str(tmp_path / "two")],
        "metadata_dir": "",
        "release_dir": str(tmp_path / "release"),
        "java": "/bin/false",
    }


def test_all_disks_are_searched(disks: dict[str, Any]) -> None:
    assert [name for name, _path in directories(Asked("orders-11", "orders", 11), disks)] == ["orders-11"]
    found = directories(Asked("offsets", "__consumer_offsets", None), disks)
    assert [name for name, _path in found] == ["__consumer_offsets-7", "__consumer_offsets-12"]


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (Asked("orders-4", "orders", 4), "It has partitions 3, 11 of this topic. fix: name one of these"),
        (Asked("none-0", "none", 0), "It has __consumer_offsets, a-b, orders. fix: choose a broker"),
        (Asked("metadata", "__cluster_metadata", 0), "A node of mode zookeeper has none"),
    ],
)
def test_what_is_not_on_the_node_is_said(disks: dict[str, Any], asked: Asked, said: str) -> None:
    with pytest.raises(DumpError, match=said):
        directories(asked, disks)


def test_a_disk_that_cannot_be_read_is_named(disks: dict[str, Any]) -> None:
    with pytest.raises(DumpError, match="/nowhere: No such file or directory"):
        directories(Asked("orders-3", "orders", 3), {**disks, "log_dirs": ["/nowhere"]})


def test_wrong_options_and_a_missing_release_end_it_before_anything_is_read(disks: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match="records is no whole number"):
        log_dump({**disks, "what": "orders-3", "records": "x"})
    with pytest.raises(DumpError, match="install it with playbook site"):
        log_dump({**disks, "what": "orders-3", "release_dir": "/nowhere"})


def test_an_empty_log_needs_no_tool(disks: dict[str, Any]) -> None:
    found = log_dump({**disks, "what": "orders-3"})
    assert (found["records"], found["notes"], found["changed"]) == ([], [], False)


def test_a_program_is_read_while_it_runs_and_ended_when_its_time_is_over(tmp_path: Path) -> None:
    with (tmp_path / "errors").open("wb") as errors:
        endless = "import time\nwhile True: print('x' * 99, flush=True); time.sleep(0.01)"
        with Streamed([sys.executable, "-c", endless], 1.0, errors) as running:
            assert b"".join(running.chunks()).startswith(b"xxx")
            assert running.is_over
        with Streamed(["/bin/sh", "-c", "echo out; echo err >&2; exit 3"], 10, errors) as running:
            assert b"".join(running.chunks()) == b"out\n"
            assert (running.is_over, running.code()) == (False, 3)
    assert (tmp_path / "errors").read_bytes() == b"err\n"


def printed(directory: Path, code: str) -> Printed:
    """What a program prints in place of the shell."""
    return Printed([sys.executable, "-c", code], 30.0, str(directory / "errors"))


def test_a_tree_that_is_too_large_says_that_it_is_cut(tmp_path: Path) -> None:
    asked = Asked("snapshot", "__cluster_metadata", 0)
    large = f"line = 'x' * 999 + chr(10); print(line * ({9 * 2**20} // len(line)))"
    lines, notes = tree(asked, printed(tmp_path, large))
    assert notes == ["stopped after 8,388,608 bytes of the tree: the rest of it is not shown"]
    assert set(lines) == {"x" * 999}
    assert tree(asked, printed(tmp_path, "print('image:')")) == (["image:"], [])


def test_a_tree_with_a_key_says_that_only_a_part_is_shown(tmp_path: Path) -> None:
    asked = Asked("snapshot", "__cluster_metadata", 0, key="orders")
    lines, notes = tree(asked, printed(tmp_path, "print('image:\\n  orders:\\n    id:')"))
    assert lines == ["  orders:"]
    assert notes == ["only the lines of the tree that have kafka_dump_key=orders are shown, not those around them"]


def test_what_the_login_gives_to_java_does_not_reach_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CLASSPATH", "KAFKA_OPTS")
    for name in names:
        monkeypatch.setenv(name, "of-the-login")
    monkeypatch.setenv("STAYS", "of-the-login")
    lines, _notes = tree(Asked("snapshot", "", 0), printed(tmp_path, "import os; print(*os.environ)"))
    assert [name for name in (*names, "STAYS") if name in lines[0].split()] == ["STAYS"]

"""Directories and files of a node, written for real: what differs, all of it or nothing."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.cluster import ROOT
from tests.support.modules import run_module


def wish(root: Path, content: str = "a=1\n") -> dict[str, Any]:
    return {
        "directories": [{"path": str(root / "conf"), "mode": "0750"}],
        "files": [{"path": str(root / "conf" / "server.properties"), "content": content, "mode": "0640"}],
    }


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


def test_files_are_written_once_and_kept_as_they_are(tmp_path: Path) -> None:
    planned = run_module("streamops.kafka.node_files", wish(tmp_path), check=True, diff=True)
    assert planned["changed"]
    assert not list(tmp_path.iterdir())
    assert [one["after"] for one in planned["diff"]] == ["directory\n", "a=1\n"]
    made = run_module("streamops.kafka.node_files", wish(tmp_path))
    assert made["changed"]
    assert "diff" not in made, "a diff comes only where one is asked for"
    written = tmp_path / "conf" / "server.properties"
    assert written.read_text() == "a=1\n"
    assert (mode(written), mode(written.parent)) == ("0o640", "0o750")
    assert not run_module("streamops.kafka.node_files", wish(tmp_path))["changed"]
    assert [path.name for path in written.parent.iterdir()] == ["server.properties"]


def test_parents_that_are_not_listed_are_passed_by_every_user_under_a_strict_umask(tmp_path: Path) -> None:
    # A process of its own: that of run_module keeps the umask with which the first test began.
    program = "import sys, json; sys.path[:0] = ['collections', '.']; from tests.support.modules import run_module; "
    program += "assert run_module('streamops.kafka.node_files', json.loads(sys.argv[1]))['changed']"
    wanted = json.dumps(wish(tmp_path / "etc" / "kafka"))
    subprocess.run([sys.executable, "-c", program, wanted], cwd=ROOT, umask=0o077, check=True, timeout=60)
    listed = tmp_path / "etc" / "kafka" / "conf"
    assert [mode(path) for path in (listed.parent.parent, listed.parent, listed)] == ["0o755", "0o755", "0o750"]


def test_an_edited_file_and_an_opened_mode_are_repaired_and_named(tmp_path: Path) -> None:
    run_module("streamops.kafka.node_files", wish(tmp_path))
    written = tmp_path / "conf" / "server.properties"
    written.write_text("a=2\n")
    written.chmod(0o666)
    result = run_module("streamops.kafka.node_files", wish(tmp_path), diff=True)
    assert result["changed_paths"] == [str(written)]
    assert (result["diff"][0]["before"], result["diff"][0]["after"]) == ("a=2\n", "a=1\n")
    assert mode(written) == "0o640"


def test_a_directory_where_a_file_belongs_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "conf" / "server.properties").mkdir(parents=True)
    (tmp_path / "conf").chmod(0o700)
    result = run_module("streamops.kafka.node_files", wish(tmp_path))
    assert result["failed"]
    assert f"{tmp_path}/conf/server.properties: something that is no file stands there" in result["msg"]
    assert mode(tmp_path / "conf") == "0o700"

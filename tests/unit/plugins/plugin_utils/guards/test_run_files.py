# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a report goes, and why one is refused before anything is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.run_files import report_paths, unwritable


def why(path: Any) -> str:
    """What is said of one path."""
    return " ".join(unwritable({"status_report": path}))


def test_a_report_and_its_data_are_beside_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/ops")
    assert report_paths("status.html") == (f"{tmp_path}/status.html", f"{tmp_path}/status.json")
    assert report_paths("~/a.b/now") == ("/home/ops/a.b/now", "/home/ops/a.b/now.json")
    assert report_paths("/r/x.y.html") == ("/r/x.y.html", "/r/x.y.json")
    stamped = (f"{tmp_path}/d/20261124T101500Z-status.html", f"{tmp_path}/d/20261124T101500Z-status.json")
    assert report_paths("d/", "2026-11-24T10:15:00Z") == stamped


@pytest.mark.parametrize("path", [None, "", "  "])
def test_no_path_is_no_report(path: str | None) -> None:
    assert why(path) == ""


def test_a_file_in_a_directory_that_is_there_may_be_written_also_anew(tmp_path: Path) -> None:
    (tmp_path / "status.html").write_text("of yesterday")
    assert why(f"{tmp_path}/status.html") == ""
    assert why(f"{tmp_path}/") == ""


def test_what_cannot_be_written_is_refused_with_a_fix(tmp_path: Path) -> None:
    (tmp_path / "taken.json").mkdir()
    for path, said in (
        (f"{tmp_path}", f"{tmp_path} is a directory. fix: name a file, as in {tmp_path}/status.html"),
        (f"{tmp_path}/none/", f"the directory {tmp_path}/none does not exist on the control node. fix: "),
        (f"{tmp_path}/status.html/", f"the directory {tmp_path}/status.html does not exist"),
        (f"{tmp_path}/none/status.html", f"the directory {tmp_path}/none does not exist on the control node. fix: "),
        (f"{tmp_path}/taken.html", "where the data of the report goes, is a directory. fix: "),
        (f"{tmp_path}/status.json", "a report cannot end in .json"),
        (["status.html"], "status_report is no path (found: ['status.html'])"),
        (7, "is no path (found: 7)"),
    ):
        assert said in why(path), path


def test_a_directory_that_may_not_be_written_to_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # The superuser may write anywhere, so that is what the operating system is made to say.
    monkeypatch.setattr("os.access", lambda *_: False)
    assert "cannot be written to by the user of this run" in why(f"{tmp_path}/status.html")


def test_a_file_without_data_beside_it_is_judged_by_its_own_rule(tmp_path: Path) -> None:
    def said(path: Any) -> str:
        return " ".join(unwritable({"kafka_dump_path": {"alone": path}}))

    (tmp_path / "taken.json").mkdir()
    for path in ("", None, f"{tmp_path}/x.json", f"{tmp_path}/taken.html"):
        assert said(path) == ""
    for path, why_not in (
        (f"{tmp_path}/taken.json", f"{tmp_path}/taken.json is a directory. fix: name a file in it."),
        (f"{tmp_path}/new/", f"{tmp_path}/new is a directory. fix: name a file in it."),
        (f"{tmp_path}/none/x.txt", f"the directory {tmp_path}/none does not exist on the control node. fix: "),
        (7, "kafka_dump_path is no path (found: 7). fix: give it as text, as in kafka_dump_path=records.txt."),
    ):
        assert why_not in said(path)

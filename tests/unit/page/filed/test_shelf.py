"""The directory of reports: what is in it is listed, what a link leads to is not, whatever others put there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from page.filed import shelf
from page.filed.shelf import Report, Shelf
from page.filed.told import UNKNOWN
from tests.support.reports_left import NAMES, left, put


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return left(tmp_path / "reports")


def by_name(root: Path) -> dict[str, Report]:
    return {"/".join(one.parts): one for one in Shelf(str(root)).look().reports}


def test_reports_of_all_kinds_are_there_with_what_they_tell(root: Path) -> None:
    found = by_name(root)
    kinds = {name: one.told.kind for name, one in found.items() if one.told.kind != UNKNOWN}
    assert kinds == {
        "all/status.html": "status",
        "mirror-orders-copy/1/report.html": "mirror audit",
        "orders/20261124T101500-000001-rebalance/report.html": "move",
        "orders/20261125T101500-000001-rebalance-plan/report.html": "move",
        "orders/20261125T120000-000001-validation/report.html": "validation",
    }
    assert {f"orders/{name}.html" for name in NAMES} <= found.keys()
    assert len({one.key for one in found.values()}) == len(found)


def test_no_link_is_followed_and_no_pipe_is_opened(root: Path) -> None:
    found = by_name(root)
    names = ("linked.html", "pipe.html", "linked-directory/report.html", "directory.html/report.html")
    assert not {f"orders/{one}" for one in names} & found.keys()
    assert not [one for one in found if one.startswith("linked/")]
    for name in ("linked-data", "pipe-data"):
        assert found[f"orders/{name}.html"].told.said.startswith("The JSON beside it cannot be read")
        assert Shelf(str(root)).data(found[f"orders/{name}.html"]) is None


def test_what_became_a_link_after_the_look_is_not_read(root: Path) -> None:
    one = Shelf(str(root))
    report = next(seen for seen in one.look().reports if seen.told.kind == "validation")
    assert (one.page(report) or b"").startswith(b"<!doctype html>")
    folder = root / "orders" / report.parts[1]
    folder.rename(root.parent / "elsewhere")
    folder.symlink_to(root.parent / "elsewhere")
    assert one.page(report) is None
    assert one.data(report) is None


def test_a_report_that_is_too_large_is_named_and_not_read(root: Path) -> None:
    found = by_name(root)["orders/large.html"]
    assert (found.size, found.is_served) == (20_000_001, False)
    assert Shelf(str(root)).page(found) is None


def test_data_that_is_too_large_is_not_read_and_says_so(root: Path) -> None:
    put(root / "orders", "huge", "x", " " * (shelf.LARGEST_DATA + 1))
    assert "4,000,001 bytes; at most 4,000,000 are read" in by_name(root)["orders/huge.html"].told.said


def test_what_was_told_is_remembered_until_the_file_is_another(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one, read = Shelf(str(root)), []
    monkeypatch.setattr(shelf, "told_of", lambda text: read.append(text) or shelf.Told())
    one.look()
    first = len(read)
    assert first > 5
    one.look()
    assert len(read) == first
    put(root / "orders", NAMES[0], "new", "{ }")
    one.look()
    assert read[first:] == ["{ }"]


def test_a_look_reads_so_much_and_the_next_one_the_rest(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shelf, "_AT_ONCE", 250_000)
    one = Shelf(str(root))
    put(root / "orders", "first", "x", "[" + "1," * 100_000 + "1]")
    put(root / "orders", "second", "x", "[" + "2," * 100_000 + "2]")
    said = [seen.told.said for seen in one.look().reports]
    assert [text for text in said if text.startswith("Not read yet")]
    for _look in range(3):
        said = [seen.told.said for seen in one.look().reports]
    assert not [text for text in said if text.startswith("Not read yet")]


def test_the_newest_reports_are_listed_and_names_are_counted(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        put(root / "many", f"r{number:02d}", "x")
        os.utime(root / "many" / f"r{number:02d}.html", (10**9 + number, 2 * 10**9 + number))
    monkeypatch.setattr(shelf, "MOST_REPORTS", 10)
    seen = Shelf(str(root)).look()
    assert [one.name for one in seen.reports] == [f"r{number:02d}.html" for number in range(29, 19, -1)]
    assert (seen.left_out > 20, seen.is_cut) == (True, False)
    monkeypatch.setattr(shelf, "MOST_NAMES", 15)
    cut = Shelf(str(root)).look()
    assert cut.is_cut
    assert len(cut.reports) <= 15


def test_a_directory_that_is_not_there_or_is_none_is_a_problem_with_its_cause(tmp_path: Path) -> None:
    assert Shelf("").look().problem == "no directory of reports is set"
    assert "No such file or directory" in Shelf(f"{tmp_path}/none").look().problem
    file = tmp_path / "file"
    file.touch()
    assert "Not a directory" in Shelf(str(file)).look().problem
    assert Shelf(str(tmp_path)).look() == shelf.Shelved([])


def test_files_stay_open_no_longer_than_a_look(root: Path) -> None:
    one = Shelf(str(root))
    before = os.listdir("/proc/self/fd")
    for report in one.look().reports:
        one.page(report)
        one.data(report)
    assert len(os.listdir("/proc/self/fd")) == len(before)

"""Every test is in exactly one part of the long forms, and no part is much longer than another."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.support import parts
from tests.support.schedule import minutes_table

MEASURED = st.dictionaries(st.sampled_from([f"integration:{n}" for n in "abcdefgh"] + ["unit"]), st.floats(0.1, 60))


@given(MEASURED, st.integers(1, 8))
def test_every_unit_is_in_exactly_one_part(measured: dict[str, float], count: int) -> None:
    work = [*parts.units(), *measured]
    found = parts.split(set(work), measured, count)
    assert len(found) == count
    assert sorted(unit for part in found for unit in part) == sorted(set(work))


@given(MEASURED, st.integers(1, 8))
def test_no_part_is_longer_than_the_mean_and_one_unit(measured: dict[str, float], count: int) -> None:
    found = parts.split(measured, measured, count)
    lengths = [sum(parts.minutes(unit, measured) for unit in part) for part in found]
    longest = max((parts.minutes(unit, measured) for unit in measured), default=0)
    assert max(lengths) <= sum(lengths) / count + longest + 1e-9


def test_each_file_of_integration_tests_belongs_to_a_unit() -> None:
    names = [unit.partition(":")[2] for unit in parts.units() if unit.startswith("integration:")]
    listed = sorted(file for name in names for file in parts.files(name))
    assert listed == sorted(
        str(path.relative_to(parts.ROOT)) for path in (parts.ROOT / "tests/integration").rglob("test_*.py")
    )


def test_a_part_prints_its_stages_in_their_order() -> None:
    part = ["molecule:b", "integration:x.py", "molecule:a", "lint"]
    assert parts.lines(part) == ["lint", "integration x.py", "molecule a b"]


@pytest.mark.parametrize("text", ["", "3", "0/4", "5/4", "a/b", "1/", "-1/4", "1/4/2"])
def test_what_is_no_part_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="--part wants K/N"):
        parts.read(text)


def test_minutes_are_learned_from_the_notes_and_the_rest_is_kept() -> None:
    notes = ["integration:a.py 60.0", "integration:a.py 30.0", "integration:b.py 300.0"]
    before = {"integration:a.py": 9.0, "unit": 2.0}
    assert list(parts.learned(notes, before).items()) == [
        ("integration:b.py", 5.0), ("unit", 2.0), ("integration:a.py", 1.5),
    ]  # fmt: skip


def test_the_table_of_minutes_names_units_of_this_repository_only() -> None:
    assert set(minutes_table()) <= set(parts.units())
    assert set(minutes_table(plain=True)) <= set(parts.units())


def test_the_slowest_files_are_told_with_the_minutes_of_all_their_tests() -> None:
    notes = [
        "integration:combined 59.6 tests/integration/a/test_one.py::test_x",
        "integration:combined 30.4 tests/integration/a/test_one.py::test_y[a b]",
        "integration:jobs 61.0 tests/integration/b/test_two.py::test_x",
        "integration:jobs 1.0 tests/integration/b/test_three.py::test_x",
    ]
    assert parts.slowest(notes, 2) == ["| a/test_one.py | 1:30 |", "| b/test_two.py | 1:01 |"]


def test_what_plain_and_long_forms_took_is_learned_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "NOTED", {plain: tmp_path / f"notes-{plain}" for plain in (False, True)})
    for name in ("TABLE", "PLAIN_TABLE"):
        monkeypatch.setattr(parts, name, tmp_path / name)
    test = "tests/integration/restart/test_rolling.py"
    for step in ("setup", "call"):
        parts.note_minutes(f"{test}::test_{step}", 60.0, plain=True)
    parts.main("learn")
    assert not (tmp_path / "TABLE").exists()
    assert yaml.safe_load((tmp_path / "PLAIN_TABLE").read_text())["integration:test_rolling.py"] == 2.0
    assert "in its plain form" in (tmp_path / "PLAIN_TABLE").read_text()
    parts.note_minutes(f"{test}::test_any", 600.0, plain=False)
    parts.main("learn")
    assert yaml.safe_load((tmp_path / "TABLE").read_text())["integration:test_rolling.py"] == 10.0
    assert list(tmp_path.glob("notes-*")) == []

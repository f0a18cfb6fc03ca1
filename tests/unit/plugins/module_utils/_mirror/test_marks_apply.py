# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept of an audit, and what is not."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import RECORD_BYTES
from ansible_collections.streamops.kafka.plugins.module_utils._mirror import marks_apply

MARK = {
    "topic": "t" * 60, "partition": 0, "source_id": "s" * 22, "target_id": "t" * 22, "offset": 2**40, "copy": 2**40,
    "fingerprint": -(2**63), "records": 2**40, "whole_ms": 1_795_000_000_000,
}  # fmt: skip


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The state of a target, by key."""
    values: dict[str, Any] = {}
    monkeypatch.setattr(marks_apply, "Session", lambda _connection: contextlib.nullcontext("session"))
    monkeypatch.setattr(marks_apply.Connection, "from_params", lambda _params: None)
    monkeypatch.setattr(marks_apply, "read_state", lambda _session, key: (values.get(key), 1))
    monkeypatch.setattr(marks_apply, "write_state", lambda _session, key, value: values.update({key: value}))
    monkeypatch.setattr(marks_apply, "made_state_topic", lambda _session: False)
    return values


def run(result: Path | None = None, check: bool = False) -> dict[str, Any]:
    params = {"source": "dc_a", "target": "dc_b", "result": str(result) if result else None}
    return marks_apply.mirror_marks(SimpleNamespace(params=params, check_mode=check))


def written(path: Path, marks: Any, target: str = "dc_b", began_ms: int = 0) -> Path:
    document: dict[str, Any] = {
        "started_ms": began_ms,
        "settings": {"source": {"alias": "dc_a"}, "target": {"alias": target}},
        "figures": {"marks": marks},
    }
    path.write_text(json.dumps(document))
    return path


def test_marks_of_an_audit_take_the_place_of_those_before(state: dict[str, Any], tmp_path: Path) -> None:
    nothing = {"changed": False, "partitions": 0, "left_out": 0, "taken_away": 0, "lines": []}
    assert run() == {**nothing, "marks": []}
    result = written(tmp_path / "result.json", [MARK])
    # Whoever keeps marks needs none of them.
    assert run(result, check=True) == {**nothing, "partitions": 1}
    assert state == {}
    assert run(result) == {**nothing, "partitions": 1}
    assert state == {"mirror_marks dc_a->dc_b": [MARK]}
    assert run()["marks"] == [MARK]
    # An audit that found nothing clean takes them away.
    assert run(written(tmp_path / "result.json", [])) == nothing
    assert state == {"mirror_marks dc_a->dc_b": []}


@pytest.mark.parametrize(("marks", "target"), [(None, "dc_b"), ([], "dc_c"), ("text", "dc_b"), (["text"], "dc_b")])
def test_a_result_without_marks_or_of_another_flow_changes_nothing(
    state: dict[str, Any], tmp_path: Path, marks: Any, target: str
) -> None:
    state["mirror_marks dc_a->dc_b"] = [MARK]
    assert run(written(tmp_path / "result.json", marks, target))["partitions"] == 1
    assert state == {"mirror_marks dc_a->dc_b": [MARK]}


def test_a_mark_that_another_audit_took_away_meanwhile_stays_away(state: dict[str, Any], tmp_path: Path) -> None:
    # Both partitions had a mark when this audit began. One that read all found the second not clean, and ended first.
    began = 1_795_000_000_001
    state["mirror_marks dc_a->dc_b"] = [MARK]
    renewed, again = {**MARK, "offset": 2**41}, {**MARK, "partition": 1}
    fresh = {**MARK, "partition": 2, "whole_ms": began}
    result = written(tmp_path / "result.json", [renewed, again, fresh], began_ms=began)
    kept = run(result)
    assert (kept["partitions"], kept["left_out"], kept["taken_away"]) == (2, 0, 1)
    assert kept["lines"] == [
        "Marks        clean partitions without one: 1; another audit has taken it away since this one began",
        "Note         the next audit compares partitions without a mark whole",
    ]
    assert state == {"mirror_marks dc_a->dc_b": [renewed, fresh]}


def test_marks_that_are_more_than_are_kept_are_counted_with_the_reason(
    state: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks_apply, "MOST", 1)
    few = {**MARK, "partition": 1, "records": 1}
    kept = run(written(tmp_path / "result.json", [few, MARK]))
    assert (kept["partitions"], kept["left_out"], kept["taken_away"]) == (1, 1, 0)
    assert kept["lines"][0] == (
        "Marks        clean partitions without one: 1; at most 1 are kept, those of the partitions with most records"
    )
    assert state == {"mirror_marks dc_a->dc_b": [MARK]}


@pytest.mark.parametrize("damaged", [{"schema": 2, "marks": [MARK]}, "text", ["text"], [None]])
def test_what_is_damaged_or_of_another_release_is_no_mark(state: dict[str, Any], tmp_path: Path, damaged: Any) -> None:
    state["mirror_marks dc_a->dc_b"] = damaged
    assert run()["marks"] == []
    run(written(tmp_path / "result.json", []))
    assert state == {"mirror_marks dc_a->dc_b": []}


@pytest.mark.parametrize("text", [None, "", "[]", '{"figures": {}}', '{"figures": {}, "settings": []}'])
def test_a_result_that_cannot_be_read_is_an_error_that_says_what_stays(
    state: dict[str, Any], tmp_path: Path, text: str | None
) -> None:
    path = tmp_path / "result.json"
    if text is not None:
        path.write_text(text)
    with pytest.raises(marks_apply.UnreadableResultError, match=r"cannot be read: .*kept as they are. Fix: run the"):
        run(path)


def test_the_most_marks_fit_into_a_record_and_are_those_that_save_most(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(json.dumps(MARK, separators=(",", ":"))) * marks_apply.MOST < RECORD_BYTES
    monkeypatch.setattr(marks_apply, "MOST", 2)
    assert [mark["records"] for mark in marks_apply.most_records([{"records": count} for count in (1, 3, 2)])] == [3, 2]

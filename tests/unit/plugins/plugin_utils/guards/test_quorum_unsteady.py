"""A quorum is unsteady when a majority of all its controllers says so; only a change of late is taken back for it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.quorum_unsteady import (
    changed_last,
    cut_off,
    taken_back,
    unsteady_quorum,
)

NOW = datetime(2026, 11, 26, 15, tzinfo=UTC).timestamp()


def info(first: int | None, last: int | None, unsteady: bool = True) -> dict[str, Any]:
    return {"quorum": {"unsteady": unsteady, "first_epoch": first, "last_epoch": last}}


def changed(since: str = "20261126T144501Z", same_release: bool = True, line: str = "property a: 1 -> 2") -> Any:
    change = {"since": since, "changes": [line], "same_release": same_release}
    return {**info(84, 87), "start_files": {"last_change": change}}


STEADY = info(90, 90, unsteady=False)


def test_a_majority_makes_an_unsteady_quorum() -> None:
    found = {"a": info(84, 86), "b": info(85, 87), "c": STEADY}
    seen = {"controllers": ["a", "b"], "epochs": "epochs 84 to 87 within seconds", "changed": []}
    assert unsteady_quorum(found) == seen
    assert cut_off(found) == []


@pytest.mark.parametrize("other", [STEADY, {"quorum": None}, {"quorum": {"leader": 1}}, {}, None])
def test_one_of_three_may_be_cut_off_or_alone(other: dict[str, Any] | None) -> None:
    found = {"a": info(84, 86), "b": other, "c": other}
    assert unsteady_quorum(found) == {}
    assert cut_off(found) == ["a"]


def test_half_is_no_majority_and_the_only_controller_is_one() -> None:
    assert unsteady_quorum({"a": info(1, 3), "b": STEADY}) == {}
    assert unsteady_quorum({"a": info(1, 3)})["controllers"] == ["a"]
    assert unsteady_quorum({}) == {}


def test_a_quorum_without_any_leader_is_told_as_that() -> None:
    assert unsteady_quorum({"a": info(4, 4)})["epochs"] == "no leader in epoch 4"
    assert unsteady_quorum({"a": info(None, None)})["epochs"] == "no leader"


def test_the_same_change_on_several_controllers_is_one_phrase() -> None:
    found = {"a": changed("20261126T144507Z"), "b": changed(), "c": changed(line="file jvm.options"), "d": STEADY}
    assert changed_last(found) == [
        "a, b since 20261126T144501Z: property a: 1 -> 2",
        "c since 20261126T144501Z: file jvm.options",
    ]


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (changed(), ["a"]),
        (changed("20261126T144501Z-2"), ["a"]),
        (changed("20261125T143000Z"), []),
        (changed("adopted"), []),
        (changed(same_release=False), []),
        (STEADY, []),
        ({"start_files": {"last_change": None}}, []),
        (None, []),
    ],
    ids=["today", "the second of one second", "older", "unknown", "another release", "none", "the first", "no answer"],
)
def test_only_a_change_of_late_with_the_same_release_is_taken_back(one: Any, expected: list[str]) -> None:
    assert taken_back({"a": one}, NOW) == expected

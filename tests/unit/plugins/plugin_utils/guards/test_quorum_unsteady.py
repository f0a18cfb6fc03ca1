"""A quorum is unsteady when a majority of all its controllers says so; a controller alone may be cut off."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.quorum_unsteady import cut_off, unsteady_quorum


def info(first: int | None, last: int | None, unsteady: bool = True) -> dict[str, Any]:
    return {"quorum": {"unsteady": unsteady, "first_epoch": first, "last_epoch": last}}


STEADY = info(90, 90, unsteady=False)


def test_a_majority_makes_an_unsteady_quorum() -> None:
    found = {"a": info(84, 86), "b": info(85, 87), "c": STEADY}
    assert unsteady_quorum(found) == {"controllers": ["a", "b"], "first_epoch": 84, "last_epoch": 87}
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

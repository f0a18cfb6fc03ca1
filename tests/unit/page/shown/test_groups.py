"""Which part of the list of groups each group is in."""

from __future__ import annotations

from array import array
from dataclasses import replace
from typing import Any

import pytest

from page.known.picture import Picture
from page.known.standing import Standing
from page.shown.groups import KINDS, with_stopped
from tests.support.status_seen import group


def parts(one: dict[str, Any], seen: Picture | None = None) -> list[str]:
    return [key for key, number in KINDS.counts(with_stopped([one], seen)).items() if number]


@pytest.mark.parametrize(
    ("state", "part"),
    [("Stable", "stable"), ("PreparingRebalance", "rebalancing"), ("CompletingRebalance", "rebalancing"),
     ("Assigning", "rebalancing"), ("Reconciling", "rebalancing"), ("NotReady", "not_ready"), ("Empty", "empty"),
     ("Dead", "dead"), ("Unknown", "other"), ("PREPARING_REBALANCE", "rebalancing"), ("", "other")],
)  # fmt: skip
def test_each_state_is_in_one_part(state: str, part: str) -> None:
    assert parts(group("g", 0, state=state)) == [part]


def test_behind_without_members_and_untold_are_parts_beside_the_state() -> None:
    assert parts(group("g", 5)) == ["stable", "behind"]
    assert parts(group("g", 5, state="Empty", member_count=0)) == ["empty", "behind", "unread"]
    assert parts(group("g", None, error="timed out", member_count=0)) == ["stable", "untold"]


def test_a_group_has_stopped_as_the_finding_says_it() -> None:
    stands = Standing({"g": {"orders": array("d", [0.0, 99.0])}})
    seen = Picture(1000.0, 1.0, 1, 1, 0, {}, (), standing=stands)
    assert parts(group("g", 5), seen) == ["stable", "behind", "stopped"]
    assert with_stopped([group("g", 5)], seen)[0]["stopped_in"] == ["orders"]
    # Fifteen minutes are not over, or nobody is there to commit.
    assert "stopped" not in parts(group("g", 5), replace(seen, taken=998.0))
    assert "stopped" not in parts(group("g", 5, member_count=0), seen)
    elsewhere = [{"assignment": [{"topic": "other", "partitions": [0]}]}]
    assert "stopped" not in parts(group("g", 5, members=elsewhere), seen)
    assert "stopped" in parts(group("g", 5, members=elsewhere), replace(seen, watched=("g",)))

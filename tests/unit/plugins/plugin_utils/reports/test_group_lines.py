# SPDX-License-Identifier: GPL-3.0-or-later
"""Groups and moves of offsets as lines."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.group_lines import SHOWN, group_lines, move_lines


def group(name: str, lag: int | None, **more: Any) -> dict[str, Any]:
    """A group as group_info tells it, with its lag in one partition."""
    partitions = [{"partition": 3, "lag": lag}, {"partition": 4, "lag": None}]
    return {
        "name": name, "type": "consumer", "state": "Stable", "member_count": 2, "error": None, "lag": lag,
        "lag_unknown": 0, "topics": [{"name": "orders", "partitions": partitions}], **more,
    }  # fmt: skip


def test_the_largest_lag_comes_first_with_its_worst_partition() -> None:
    lines = group_lines({"groups": [group("a", 1), group("billing", 120), group("c", 0)]})
    assert lines == [
        "GROUP    TYPE      STATE   MEMBERS  LAG  WORST PARTITION",
        "billing  consumer  Stable  2        120  orders-3 120",
        "a        consumer  Stable  2        1    orders-3 1",
        "c        consumer  Stable  2        0",
    ]


def test_what_is_not_known_is_never_a_zero() -> None:
    unknown = group("a", None, error="coordinator 3 did not answer")
    found = {
        "groups": [unknown, group("b", 5, lag_unknown=2)],
        "missing": ["no\nsuch"],
        "silent_brokers": [{"id": 2, "why": "timed out"}],
    }
    lines = group_lines(found)
    assert lines[1].split("  ")[0] == "b"
    assert "5 + 2 unknown" in lines[1]
    assert "?" in lines[2]
    assert lines[2].endswith("coordinator 3 did not answer")
    assert lines[3:] == ["no group of this name: no\\nsuch", "broker 2 did not tell its groups: timed out"]


def test_a_hostile_name_cannot_write_to_the_terminal() -> None:
    lines = group_lines({"groups": [group("a\x1b[31m\u202eb", 1)]})
    assert "\\x1b[31m\\u202eb" in lines[1]
    assert "\x1b" not in "".join(lines)


def test_no_group_and_many() -> None:
    assert group_lines({"groups": []}) == ["no group"]
    many = group_lines({"groups": [group(f"g{number}", number) for number in range(SHOWN + 7)]})
    assert many[-1] == "and 7 more"
    assert len(many) == SHOWN + 2


def move(**more: Any) -> dict[str, Any]:
    """A move of one partition."""
    return {"topic": "orders", "partition": 3, "from": 120, "to": 110, "records_skipped": 0, "read_again": 10,
            "clipped": None, **more}  # fmt: skip


def test_a_move_says_what_it_costs() -> None:
    done = {"moves": [move(), move(partition=4, to=None, records_skipped=None, read_again=None),
                      move(partition=5, to=200, records_skipped=80, read_again=0, clipped=900)],
            "records_skipped": 80, "read_again": 10, "unchanged": 2, "deleted": False}  # fmt: skip
    assert move_lines(done) == [
        "orders-3: 120 -> 110 (10 records read again)",
        "orders-4: 120 -> none",
        "orders-5: 120 -> 200 (80 records skipped, 900 was asked for and is outside of the log)",
        "3 partitions move: 80 records skipped, 10 read again; 2 partitions are as wanted",
    ]
    assert move_lines({**done, "deleted": True}) == ["the group and all its offsets are deleted"]

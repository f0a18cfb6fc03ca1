# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Groups and moves of their offsets as lines for people, from the results of group_info and group_offsets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

#: Groups and moves that are listed; the rest is counted.
SHOWN = 200

Row = Mapping[str, Any]


def group_lines(found: Row) -> list[str]:
    """Make a table of groups, the largest lag first, and say what is not known."""
    groups = sorted(found["groups"], key=lambda one: (-(one.get("lag") or 0), one["name"]))
    rows = [("GROUP", "TYPE", "STATE", "MEMBERS", "LAG", "WORST PARTITION"), *map(_row, groups[:SHOWN])]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    table = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return [*(table if groups else ["no group"]), *_rest(len(groups)), *_unknown(found)]


def move_lines(done: Row) -> list[str]:
    """Say of each partition from which offset it goes to which, and what the group skips or reads again."""
    moves = done["moves"]
    if done.get("deleted"):
        return ["the group and all its offsets are deleted"]
    lines = [f"{one['topic']}-{one['partition']}: {_offset(one['from'])} -> {_offset(one['to'])}{_cost(one)}"
             for one in moves[:SHOWN]]  # fmt: skip
    total = f"{len(moves)} partitions move: {done['records_skipped']} records skipped, {done['read_again']} read again"
    return [*lines, *_rest(len(moves)), f"{total}; {done['unchanged']} partitions are as wanted"]


def _row(group: Row) -> tuple[str, ...]:
    if group.get("error"):
        return (shown(group["name"]), group["type"], group["state"], "?", "?", shown(group["error"]))
    lag = "?" if group.get("lag") is None else str(group["lag"])
    more = f" + {group['lag_unknown']} unknown" if group.get("lag_unknown") else ""
    return (shown(group["name"]), group["type"], group["state"], str(group["member_count"]), lag + more, _worst(group))


def _worst(group: Row) -> str:
    lags = [
        (one["lag"], f"{topic['name']}-{one['partition']}")
        for topic in group.get("topics") or ()
        for one in topic["partitions"]
        if one["lag"]
    ]
    lag, name = max(lags, default=(0, ""))
    return f"{name} {lag}" if name else ""


def shown(name: str) -> str:
    """Make a name of clients harmless for a terminal: what is not printable, and marks of direction, as escapes."""
    return "".join(one if one.isprintable() else one.encode("unicode_escape").decode() for one in name)


def _rest(count: int) -> list[str]:
    return [f"and {count - SHOWN} more"] if count > SHOWN else []


def _unknown(found: Row) -> Iterator[str]:
    names: Sequence[str] = [*found.get("missing", ())]
    if names:
        yield f"no group of this name: {', '.join(map(shown, names))}"
    for broker in found.get("silent_brokers", ()):
        yield f"broker {broker['id']} did not tell its groups: {broker['why']}"


def _offset(offset: int | None) -> str:
    return "none" if offset is None else str(offset)


def _cost(move: Row) -> str:
    words = {"records_skipped": "skipped", "read_again": "read again"}
    cost = [f"{move[key]} records {word}" for key, word in words.items() if move[key]]
    clipped = [] if move.get("clipped") is None else [f"{move['clipped']} was asked for and is outside of the log"]
    return f" ({', '.join(cost + clipped)})" if cost or clipped else ""

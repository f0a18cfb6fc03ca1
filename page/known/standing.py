"""Remember since when groups commit nothing although they have records to read. Pure: the caller tells the time.

What a group had committed is in the picture of the poll before; only the times are kept beside it, eight bytes a
partition. A restart forgets them, and so does a poll in which the coordinator of a group does not answer.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import left
from ansible_collections.streamops.kafka.plugins.module_utils._health.group_rules import to_read

#: In place of a time: the partition has moved on, or has nothing to read.
_MOVES = 0.0

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Standing:
    """Times in seconds since 1970.

    C(positions): by group and topic, for each partition in the order of the picture, since when nothing was committed
    there although there were records to read. C(unread): by group, since when it has had records to read, no member,
    and no commit.
    """

    positions: Mapping[str, Mapping[str, array[float]]] = field(default_factory=dict)
    unread: Mapping[str, float] = field(default_factory=dict)


def stood(before: Standing, last: Sequence[Row], groups: Sequence[Row], now: float) -> Standing:
    """Return what stands now, of groups as group_info returns them; C(last) are those that C(before) belongs to."""
    known = {one["name"]: one for one in last}
    positions: dict[str, dict[str, array[float]]] = {}
    unread: dict[str, float] = {}
    for one in groups:
        name = one["name"]
        was = {topic["name"]: topic["partitions"] for topic in (known.get(name) or {}).get("topics") or ()}
        times = before.positions.get(name, {})
        here = {
            topic["name"]: _topic(was.get(topic["name"], ()), times.get(topic["name"], ()), topic["partitions"], now)
            for topic in one.get("topics") or ()
        }
        if stands := {topic: some for topic, some in here.items() if any(some)}:
            positions[name] = stands
        if not one["error"] and not one["member_count"] and to_read(one) and not _has_moved(was, one):
            unread[name] = min(before.unread.get(name, now), now)
    return Standing(positions, unread)


def seconds_of(standing: Standing, now: float) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return for how long groups stand in topics, by group and topic, and for how long groups are unread."""
    stands = {
        group: {topic: now - min(filter(None, times)) for topic, times in topics.items()}
        for group, topics in standing.positions.items()
    }
    return stands, {group: now - since for group, since in standing.unread.items()}


def _topic(was: Sequence[Row], times: Sequence[float], positions: Sequence[Row], now: float) -> array[float]:
    """Return since when each position of a topic stands; partitions are never taken away from a topic, only added."""
    found = array("d", [_MOVES]) * len(positions)
    for at, one in enumerate(positions):
        records = left(one)
        if one["committed"] is None or records == 0:
            continue
        same = at < len(was) and all(was[at][key] == one[key] for key in ("partition", "committed"))
        since = min(times[at], now) if same and at < len(times) else _MOVES
        # Where the lag is unknown, nothing begins.
        found[at] = since or (now if records else _MOVES)
    return found


def _has_moved(was: Mapping[str, Sequence[Row]], group: Row) -> bool:
    """Return whether a group has committed since the last picture: a consumer that assigns itself is no member."""
    for topic in group.get("topics") or ():
        before = was.get(topic["name"], ())
        for at, one in enumerate(topic["partitions"]):
            if at < len(before) and before[at]["committed"] != one["committed"]:
                return True
    return False

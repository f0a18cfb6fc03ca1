# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The lag of groups as time: how old the oldest record is that a group has not read. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .._logs.age import Place
from .model import BEFORE_START, KNOWN, NO_OFFSET


def first_unread(topic: str, position: Mapping[str, Any]) -> Place | None:
    """Return the place of the oldest record that is left to read in a partition; None without one that is known.

    Where the group has never committed, that is the first record of the log, as with C(auto.offset.reset=earliest).
    """
    if position["state"] not in (KNOWN, BEFORE_START, NO_OFFSET) or position["lag"] == 0:
        return None
    offset = max(position["start"], position["committed"] or 0)
    return ((topic, position["partition"]), offset) if offset < position["end"] else None


def unread(groups: Iterable[Mapping[str, Any]]) -> Iterator[Place]:
    """Yield the places whose ages the groups need, as C(shown) made them."""
    for group in groups:
        for topic in group["topics"]:
            yield from filter(None, (first_unread(topic["name"], one) for one in topic["partitions"]))


def with_ages(group: Mapping[str, Any], ages: Mapping[Place, int | None]) -> dict[str, Any]:
    """Return the group with C(lag_seconds) for itself, its topics and partitions: the largest that is known.

    A partition without an offset has C(lag_seconds_from_earliest), as it has C(lag_from_earliest).
    """
    topics = [_topic(topic, ages) for topic in group["topics"]]
    oldest = None if group["error"] else _oldest(topics)
    return {**group, "lag_seconds": oldest, "topics": topics}


def _topic(topic: Mapping[str, Any], ages: Mapping[Place, int | None]) -> dict[str, Any]:
    some = [_position(topic["name"], one, ages) for one in topic["partitions"]]
    return {**topic, "lag_seconds": _oldest(some), "partitions": some}


def _position(topic: str, position: Mapping[str, Any], ages: Mapping[Place, int | None]) -> dict[str, Any]:
    place = first_unread(topic, position)
    age = ages.get(place) if place else 0
    if position["state"] == NO_OFFSET:
        return {**position, "lag_seconds": None, "lag_seconds_from_earliest": age}
    return {**position, "lag_seconds": None if position["lag"] is None else age}


def _oldest(of: Iterable[Mapping[str, Any]]) -> int | None:
    known = [one["lag_seconds"] for one in of if one["lag_seconds"] is not None]
    return max(known) if known else None

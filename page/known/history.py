"""Keep how far each group was behind at the last polls in memory, within bounds. Pure: the caller tells the time."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Polls that are kept: two hours at one every 30 s. With eight bytes for each, GROUPS of them take 4 MB.
POLLS = 240
#: Groups of a cluster that are followed.
GROUPS = 2000
_UNKNOWN = -1


@dataclass(frozen=True)
class History:
    """The lag of groups at the last polls.

    C(times): of these polls, in seconds since 1970, ascending. C(lags): by group the records at the last of them, as
    far back as it was there, -1 where they were unknown.
    """

    times: tuple[float, ...] = ()
    lags: Mapping[str, array[int]] = field(default_factory=dict)

    def points(self, group: str) -> list[tuple[float, int | None]]:
        """Return time and lag of a group by poll, the oldest first; None where the lag was unknown."""
        found = self.lags.get(group, ())
        times = self.times[len(self.times) - len(found) :]
        return [(taken, None if lag == _UNKNOWN else lag) for taken, lag in zip(times, found, strict=True)]


def followed(history: History, groups: Sequence[Mapping[str, Any]], taken: float, is_partial: bool) -> History:
    """Return a history with one more poll; what it had is left as it is, for its readers.

    A group that is gone is forgotten. Where the clock went back, so are the polls that would come after C(taken).

    Args:
        history: That of before; an empty one after a start.
        groups: Those that the poll saw: name, behind (records, None where a part of them is unknown).
        taken: When, in seconds since 1970.
        is_partial: Whether a broker did not tell its groups: those that are missing then may not be gone.
    """
    kept = sum(time < taken for time in history.times)
    late = len(history.times) - kept
    seen = {one["name"]: _UNKNOWN if one.get("behind") is None else int(one["behind"]) for one in groups}
    if is_partial:
        seen = {**dict.fromkeys(history.lags, _UNKNOWN), **seen}
    # Those that have been followed stay; of new ones the most behind come in.
    names = sorted(seen, key=lambda name: (name not in history.lags, -seen[name], name))[:GROUPS]
    lags = {}
    for name in names:
        before = history.lags.get(name, array("q"))
        lags[name] = (before[: max(0, len(before) - late)] + array("q", [seen[name]]))[-POLLS:]
    return History((*history.times[:kept], taken)[-POLLS:], lags)

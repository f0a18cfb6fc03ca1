# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follow the lag of groups over many looks and say how the wait stands, in words for people. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .._core.looks import Looks
from .._core.names import capped
from .._core.progress import DONE, FAILED, GOING, Meter, Step, duration, pace
from .model import NO_OFFSET, left

#: Options of the wait: the module documents and checks them, the action that repeats the module reads them.
WAIT_OPTIONS: dict[str, dict[str, Any]] = {
    "groups": {"type": "list", "elements": "str", "required": True},
    "topics": {"type": "list", "elements": "str"},
    "max_lag": {"type": "int"},
    "max_lag_seconds": {"type": "int"},
    "timeout": {"type": "int", "default": 300},
    "interval": {"type": "float", "default": 5.0},
    "start_timeout": {"type": "int", "default": 30},
}


def waited_for(info: Mapping[str, Any], topics: Iterable[str] | None) -> dict[str, Any]:
    """What C(group_info) returned, as one look of a wait: the lag that is left, and what keeps it from being known."""
    lag, why = 0, []
    oldest: list[int] = []
    for group in info["groups"]:
        if group["error"]:
            why.append(f"group {group['name']}: {group['error']}")
        for topic in group["topics"]:
            lags = [left(one) for one in topic["partitions"]]
            lag += sum(one for one in lags if one is not None)
            if None in lags:
                why.append(f"group {group['name']}: lag of {lags.count(None)} partitions of {topic['name']} unknown")
            ages = [_age(one) for one in topic["partitions"] if left(one)]
            oldest += [one for one in ages if one is not None]
            if None in ages and "lag_seconds" in topic:
                why.append(f"group {group['name']}: {topic['name']} has records of unknown age")
        shown = {topic["name"] for topic in group["topics"]}
        missing = sorted(set(topics or ()) - shown)
        if missing and not group["error"]:
            why.append(f"group {group['name']}: has neither offset nor member in {capped(missing)}")
    why += [f"broker {one['id']} did not tell its groups: {one['why']}" for one in info["silent_brokers"]]
    absent = sorted({*info["missing"], *info["vanished"]})
    groups = [_brief(one) for one in info["groups"]]
    return {"lag": lag, "lag_seconds": max(oldest, default=0), "unknown": why, "missing": absent, "groups": groups}


def _age(position: Mapping[str, Any]) -> int | None:
    """How old the oldest record is that is left, in seconds; None where it is unknown, or was not asked for."""
    return position.get("lag_seconds_from_earliest" if position["state"] == NO_OFFSET else "lag_seconds")


def _brief(group: Mapping[str, Any]) -> dict[str, Any]:
    lag = sum(left(one) or 0 for topic in group["topics"] for one in topic["partitions"])
    return {"name": group["name"], "state": group["state"], "member_count": group["member_count"], "lag": lag}


class Tracker(Looks):
    """Takes what the module returned, look by look."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(f"group_wait {capped(list(options['groups']), 3)}", options["start_timeout"])
        #: Most seconds, and most records, that may be left; None where there is no such bound.
        self._max_seconds = options["max_lag_seconds"]
        self._max_lag = 0 if options["max_lag"] is self._max_seconds is None else options["max_lag"]
        self._meter = Meter()

    def _judge(self, elapsed: float) -> Step:
        """Judge the lag that is left."""
        found = self.last
        # What is not known is no lag of 0.
        self._advance.take(known=-len(found["unknown"]), lag=None if found["unknown"] else -found["lag"])
        self._meter.add(elapsed, -found["lag"])
        if found["missing"] and not found["unknown"]:
            self.error = f"no broker knows group {capped(found['missing'])}. Correct the name."
            return Step(FAILED, f"group_wait: {self.error}", self._facts())
        reached = not found["unknown"] and not found["missing"] and not self._too_much(found)
        return self._as_step(DONE if reached else GOING, self._text())

    def _too_much(self, found: Mapping[str, Any]) -> bool:
        """Whether a bound is exceeded by all groups together."""
        late = self._max_seconds is not None and found["lag_seconds"] > self._max_seconds
        return late or (self._max_lag is not None and found["lag"] > self._max_lag)

    def _text(self) -> str:
        """Say what is left, how fast it goes, and what keeps it."""
        found = self.last
        idle = [one["name"] for one in self._behind() if not one["member_count"]]
        parts = [
            self._lag(),
            pace(self._meter, self._goal(), "records"),
            f"no members in {capped(idle, 3)}" if idle else "",
            *found["unknown"][:3],
        ]
        return ", ".join(part for part in parts if part)

    def _lag(self) -> str:
        """What is left, in the measures that the wait is for."""
        text = f"{self.last['lag']:,} records behind"
        return text if self._max_seconds is None else f"{text}, the oldest {duration(self.last['lag_seconds'])} old"

    def _goal(self) -> float:
        """What the meter shall reach: records to go, counted downwards."""
        return -float(self._max_lag or 0)

    def _behind(self) -> list[dict[str, Any]]:
        """The groups that have more left than all groups may have together; with a bound of time, all that have any."""
        return [one for one in self.last["groups"] if one["lag"] > (self._max_lag or 0)]

    def _facts(self) -> dict[str, Any]:
        """One row of the history."""
        age = {} if self._max_seconds is None else {"lag_seconds": self.last.get("lag_seconds")}
        return {"lag": self.last.get("lag"), **age, "error": self.error or None}

    def failure(self, timeout: float) -> dict[str, Any]:
        """Return {msg, failure} of a wait that has not reached its goal within C(timeout) seconds."""
        failure = {"kind": "GroupWaitTimeout", "lag": self.last.get("lag"), "unknown": self.last.get("unknown", [])}
        if not self.last:
            return {"msg": f"{self._title}: {self.error}", "failure": failure}
        bounds = [
            *([] if self._max_lag is None else [f"{self._max_lag:,}"]),
            *([] if self._max_seconds is None else [duration(self._max_seconds)]),
        ]
        bound = " and ".join(bounds)
        lines = [f"{self._title}: lag is not at most {bound} within {duration(timeout)}: {self._lag()}."]
        behind = self._behind()
        lines += [
            f"- group {one['name']}: {one['lag']:,} records, state {one['state']}, {one['member_count']} member(s)"
            for one in sorted(behind, key=lambda one: -one["lag"])[:10]
        ]
        lines += [f"- {one}" for one in self.last["unknown"][:10]]
        lines += [f"- {self.error}"] if self.error else []
        return {"msg": "\n".join([*lines, self._way_out()]), "failure": failure}

    def _way_out(self) -> str:
        if self._meter.eta(self._goal()):
            return "It is catching up: run again, or raise timeout. Nothing was changed."
        return "Lag is not falling: consumers of the group are slow or stopped. Check them. Nothing was changed."

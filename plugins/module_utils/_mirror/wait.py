# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follows a mirror over many looks and says how it stands, in words for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.names import capped
from .._core.progress import DONE, FAILED, GOING, Advance, Meter, Step, duration, pace
from .flows import LEGACY
from .status import ALIVE, CAUGHT_UP, OBSERVED

#: Options of the wait: the module documents and checks them, the action that repeats the module reads them.
WAIT_OPTIONS: dict[str, dict[str, Any]] = {
    "source": {"type": "str", "required": True},
    "target": {"type": "str", "required": True},
    "engine": {"type": "str", "choices": ["mirror_maker_2", "legacy"], "default": "mirror_maker_2"},
    "state": {"type": "str", "choices": [OBSERVED, ALIVE, CAUGHT_UP], "default": OBSERVED},
    "timeout": {"type": "int", "default": 300},
    "interval": {"type": "float", "default": 5.0},
    "start_timeout": {"type": "int", "default": 30},
}
#: What may be no more than a broker that has just started and does not know every topic yet, once there was a look.
_PASSING_LATER = "NothingToMirrorError"


class Tracker:
    """Takes what the module returned, look by look."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._flow = f"{options['source']}->{options['target']}"
        self._engine = options["engine"]
        self._start_timeout = options["start_timeout"]
        self._goal = ALIVE if options["state"] == ALIVE else CAUGHT_UP
        self._meter = Meter()
        self._advance = Advance()
        self.last: dict[str, Any] = {}
        self.error = ""

    def step(self, found: Mapping[str, Any], elapsed: float) -> Step:
        """Judge one look at C(elapsed) seconds since the start of the wait."""
        if found.get("failed"):
            return self._failed(found, elapsed)
        self.error, self.last = "", dict(found)
        self._advance.take(
            sound=-len(found["problems"]),
            done=found.get("partitions_done"),
            lag=None if self._goal == ALIVE else -found["lag"],
        )
        if self._goal == CAUGHT_UP:
            self._meter.add(elapsed, -found["lag"])
        text = f"mirror_status {self._flow}: {self._text()}"
        return Step(DONE if found[self._goal] else GOING, text, self._facts(), str(self._advance))

    def _failed(self, found: Mapping[str, Any], elapsed: float) -> Step:
        self.error = str(found.get("msg", "the look failed"))
        failure = found.get("failure") or {}
        kind, passing = failure.get("kind"), failure.get("passing", False)
        passing = passing or kind == _PASSING_LATER if self.last else passing and elapsed < self._start_timeout
        if not passing:
            return Step(FAILED, self.error, self._facts())
        seen = f"{self._text()} when last seen, now" if self.last else "not seen yet,"
        why = {
            "MirrorNotBegunError": "MirrorMaker has not made its topic",
            "NothingToMirrorError": "topics are missing",
        }
        text = why.get(str(kind), f"{self.error.split(':', 1)[0]} does not answer")
        tolerated = f"mirror_status {self._flow}: {seen} {text} (tolerated, it may be starting)"
        return Step(GOING, tolerated, self._facts(), str(self._advance))

    def _text(self) -> str:
        """The line. It holds nothing that changes while nothing happens, so that it can be collapsed."""
        found = self.last
        if self._goal == ALIVE:
            return ", ".join(found["problems"]) or "a heartbeat came through"
        parts = [
            f"{found['lag']:,} records behind",
            f"{found['partitions_done']}/{found['partitions_total']} partitions done",
            pace(self._meter, 0.0, "records"),
            *found["problems"],
        ]
        return ", ".join(part for part in parts if part)

    def _facts(self) -> dict[str, Any]:
        """One row of the history."""
        names = ("lag", "partitions_done", "partitions_total", "heartbeat_age_ms", "checkpoint_age_ms")
        return {**{name: self.last.get(name) for name in names}, "error": self.error or None}

    def failure(self, timeout: float) -> dict[str, Any]:
        """Return {msg, failure} of a wait that has not reached its goal within C(timeout) seconds."""
        if not self.last:
            return {"msg": self.error, "failure": {"kind": "MirrorWaitTimeout", "error": self.error}}
        if self._goal == ALIVE:
            why = f"not alive within {duration(timeout)}: {self._text()}"
            failure = {"kind": "MirrorWaitTimeout", "problems": self.last["problems"]}
            return {"msg": f"mirror_status {self._flow}: {why}. {self._way_out()}", "failure": failure}
        behind = sorted((topic for topic in self.last["topics"] if topic["lag"]), key=lambda topic: -topic["lag"])
        topics = [f"{topic['source']} ({topic['lag']:,} records)" for topic in behind]
        lines = [
            f"mirror_status {self._flow}: not caught up within {duration(timeout)}: {self.last['lag']:,} records "
            f"behind, {self.last['partitions_done']} of {self.last['partitions_total']} partitions done."
        ]
        lines += [f"- behind: {capped(topics, 10)}"] if topics else []
        lines += [f"- {problem}" for problem in self.last["problems"]]
        lines += [f"- {self.error}"] if self.error else []
        failure = {"kind": "MirrorWaitTimeout", "lag": self.last["lag"], "problems": self.last["problems"]}
        return {"msg": "\n".join([*lines, self._way_out()]), "failure": failure}

    def _way_out(self) -> str:
        """What to look at."""
        if self._meter.eta(0.0):
            return (
                "It is catching up: run again, or raise timeout. While producers write, the position of a mirror is as "
                "old as its last flush of offsets; allow for that in max_lag. Nothing was changed."
            )
        if self._engine == LEGACY:
            return (
                "Nothing moves: check that the mirrors run, and look into their log and at their consumer group in the "
                "source. Nothing was changed."
            )
        return (
            "Nothing moves: check that the mirrors run, and look into their log for failed tasks and refused "
            "authorizations; a new topic is found only every refresh.topics.interval.seconds. Nothing was changed."
        )

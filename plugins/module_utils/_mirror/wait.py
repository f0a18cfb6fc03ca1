# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follows a mirror over many looks and says how it stands, in words for people. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from .._core.looks import Looks
from .._core.names import capped
from .._core.progress import DONE, GOING, Meter, Step, duration, pace
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


class Tracker(Looks):
    """Takes what the module returned, look by look."""

    MEANINGS: ClassVar[Mapping[str, str]] = {
        "MirrorNotBegunError": "MirrorMaker has not made its topic",
        "NothingToMirrorError": "topics are missing",
    }
    #: It may be no more than a broker that has just started and does not know every topic yet.
    PASSING_LATER: ClassVar[frozenset[str]] = frozenset({"NothingToMirrorError"})

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(f"mirror_status {options['source']}->{options['target']}", options["start_timeout"])
        self._engine = options["engine"]
        self._goal = ALIVE if options["state"] == ALIVE else CAUGHT_UP
        self._meter = Meter()

    def _judge(self, elapsed: float) -> Step:
        """Judge how far the mirror is."""
        found = self.last
        self._advance.take(
            sound=-len(found["problems"]),
            done=found.get("partitions_done"),
            lag=None if self._goal == ALIVE else -found["lag"],
        )
        if self._goal == CAUGHT_UP:
            self._meter.add(elapsed, -found["lag"])
        return self._as_step(DONE if found[self._goal] else GOING, self._text())

    def _text(self) -> str:
        """Say how far the mirror is, or whether it is alive."""
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
            return {"msg": f"{self._title}: {why}. {self._way_out()}", "failure": failure}
        behind = sorted((topic for topic in self.last["topics"] if topic["lag"]), key=lambda topic: -topic["lag"])
        topics = [f"{topic['source']} ({topic['lag']:,} records)" for topic in behind]
        lines = [
            f"{self._title}: not caught up within {duration(timeout)}: {self.last['lag']:,} records "
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
                "The mirror makes no progress: check that it runs, and look into its log and at its consumer group in "
                "the source. Nothing was changed."
            )
        return (
            "The mirror makes no progress: check that it runs, and look into its log for failed tasks and refused "
            "authorizations; a new topic is found only every refresh.topics.interval.seconds. Nothing was changed."
        )

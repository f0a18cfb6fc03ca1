# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The base of action plugins that repeat a module, which looks once, until its tracker says that it is enough."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from ...module_utils._core.progress import DONE, Followed, Step
from .action import ClusterAction


class Tracker(Protocol):
    """Judges look by look what the module returned: see the C(wait.py) of its room."""

    #: What the last look that succeeded returned; empty while there was none.
    last: dict[str, Any]

    def step(self, look: Mapping[str, Any], elapsed: float) -> Step:
        """Judge one look."""

    def failure(self, timeout: float) -> dict[str, Any]:
        """Return {msg, failure} of a wait that has not reached its goal."""


@dataclass(frozen=True)
class Waited:
    """How a wait ended. ``result`` is what the task returns, the module's own failure where it is ``broken``."""

    result: dict[str, Any]
    tracker: Tracker
    followed: Followed
    timeout: float
    broken: bool

    @property
    def reached(self) -> bool:
        """Return whether the last look reached the goal."""
        return self.followed.last.state == DONE

    def failure(self) -> dict[str, Any]:
        """Return {failed, msg, failure} of a wait that was to reach its goal and has not."""
        failure = self.tracker.failure(self.timeout)
        return {"failed": True, **failure, "msg": failure["msg"] + self.followed.prolonged()}


class WaitingAction(ClusterAction):
    """Repeats the module of its name."""

    def wait(
        self,
        make: Callable[[Mapping[str, Any]], Tracker],
        options: Mapping[str, Any],
        task_vars: dict[str, Any] | None,
        waiting: bool,
        quiet: bool = False,
    ) -> Waited:
        """Look until the tracker that ``make`` makes of the options has reached its goal or gives up.

        One look without ``waiting``, and no patience then with a cluster that is about to start. ``quiet`` shows no
        line of that one look. A module that fails ends the wait, unless the tracker takes its failure for passing.
        """
        tracker = make(options if waiting else {**options, "start_timeout": 0})
        found: dict[str, Any] = {}

        def look(elapsed: float) -> Step:
            """Run the module once."""
            found.clear()
            found.update(self.call(task_vars))
            return tracker.step(found, elapsed)

        timeout = float(options["timeout"]) if waiting else 0.0
        followed = self.follow(look, task_vars, timeout, options["interval"], quiet=quiet and not timeout)
        if found.get("failed") and not followed.timed_out:
            return Waited(found, tracker, followed, timeout, broken=True)
        tracker.last.pop("invocation", None)
        result = {**tracker.last, "changed": False, **followed.as_result()}
        return Waited(result, tracker, followed, timeout, broken=False)

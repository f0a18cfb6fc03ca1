# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module isr_wait, which observes for one interval, until its goal is reached; shows each interval."""

from __future__ import annotations

import time
from typing import Any

from ..module_utils._core.progress import DONE, Step, held
from ..module_utils._gate.isr import WAIT_OPTIONS, Goal
from ..plugin_utils.progress.action import ClusterAction
from ..plugin_utils.progress.isr import Tracker


class ActionModule(ClusterAction):
    """Waits for the ISR."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait, in check mode one look, and return what it found."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(WAIT_OPTIONS)
        goal = Goal.of(options)
        hold = held(options["hold"], options["held_since"], time.time(), options["consecutive"])
        tracker = Tracker(goal, hold, options["stuck_after"], options["start_timeout"])
        broken: dict[str, Any] = {}

        def look(elapsed: float) -> Step:
            """Run the module once, for one interval."""
            found = self.call(task_vars)
            if found.get("failed"):
                broken.update(found)
            return tracker.step(found, elapsed)

        least = options["hold"] + 2 * options["interval"] if options["hold"] else 0.0
        timeout = 0.0 if self._task.check_mode else max(float(options["timeout"]), least)
        followed = self.follow(look, task_vars, timeout, options["interval"])
        if broken:
            return dict(result, **broken)
        result.update(tracker.result(), **followed.as_result())
        now = time.time()
        result.update(held_since=now - hold.held, settled_until=now)
        result["settled_since"] = now - tracker.settled.held if tracker.settled.count else 0.0
        # Check mode does not wait, but it asks: an observation that was never made is no answer.
        if followed.last.state != DONE and (not self._task.check_mode or tracker.last is None):
            result.update(failed=True, msg=tracker.failure(timeout) + followed.prolonged())
        return result

# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module node_wait, which watches a node for one interval, until it is up or gone; shows each interval."""

from __future__ import annotations

from typing import Any

from ..module_utils._core.progress import DONE, Step
from ..module_utils._node.wait import WAIT_OPTIONS, Tracker
from ..plugin_utils.progress.action import ProgressAction


class ActionModule(ProgressAction):
    """Waits for a node."""

    _requires_connection = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; in check mode one look, which fails nothing."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(WAIT_OPTIONS)
        tracker = Tracker(options)
        checking = bool(self._task.check_mode)
        timeout = 0.0 if checking else float(options["timeout"])

        def look(elapsed: float) -> Step:
            """Run the module once, for one interval."""
            window = 0.0 if checking else options["interval"]
            return tracker.step(self.call(task_vars, interval=window, **tracker.overrides()), elapsed)

        followed = self.follow(look, task_vars, timeout, options["interval"])
        if tracker.last.get("failed"):
            return dict(result, **tracker.last)
        reached, found = followed.last.state == DONE, tracker.last
        result.update(
            changed=False, reached=reached, process=found["process"], ports=found["ports"], **followed.as_result()
        )
        tolerated = checking or (followed.timed_out and not options["fail_on_timeout"])
        if not reached and not tolerated:
            result.update(failed=True, **tracker.failure(followed))
        return result

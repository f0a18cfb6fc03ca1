# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module reassignment, which works for one interval, until it has ended; shows each interval."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

from ..module_utils._core.progress import DONE, Step
from ..plugin_utils.progress.action import ClusterAction
from ..plugin_utils.progress.moves import Tracker
from ..plugin_utils.run_names import names

#: The options that the loop itself needs; the module judges all of them.
OPTIONS = {
    "state": {"type": "str", "default": "planned"},
    "timeout": {"type": "int", "default": 3600},
    "interval": {"type": "int", "default": 5},
}
#: Where the roles keep what run_lock needs to take the lock of the run anew on the host of a task.
LOCK = "_common_lock_of_run"
#: How often in its own age at which it ends a lock is taken anew.
TIMES = 6


class ActionModule(ClusterAction):
    """Carries a reassignment out."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Plan, or go on until all has ended or the timeout has passed, and return what happened."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(OPTIONS)
        if options["state"] == "planned":
            return dict(result, **self.call(task_vars))
        tracker = Tracker(options["state"], bool(self._task.check_mode))
        keep_lock = self._lock_keeper(task_vars)

        def look(elapsed: float) -> Step:
            """Run the module once, for one interval."""
            keep_lock()
            return tracker.step(self.call(task_vars), elapsed)

        followed = self.follow(look, task_vars, float(options["timeout"]), options["interval"])
        result.update(tracker.result, **followed.as_result())
        if result.get("stage") == "stopped":
            result.update(failed=True, msg=tracker.stopped())
        elif tracker.stuck:
            result.update(failed=True, msg=tracker.stood_still())
        elif followed.last.state != DONE and not result.get("failed"):
            result.update(failed=True, msg=tracker.timed_out(float(options["timeout"])))
        return result

    def _lock_keeper(self, task_vars: dict[str, Any] | None) -> Callable[[], None]:
        """Return what takes the lock of the run anew when it is time: moves take longer than a lock lasts.

        That it cannot be reached or that another run has it by now ends no move: the moves are Kafka's by then.
        """
        lock = self._templar.template((task_vars or {}).get(LOCK)) or None
        if lock is None or self._task.check_mode:
            return lambda: None
        # The module itself runs on the control node, by another connection (cluster_action.py).
        host, due = self._connection, time.monotonic() + lock["max_age"] / TIMES
        run, arguments = os.getppid(), dict(lock, **names())

        def keep() -> None:
            """Take the lock anew when it is due."""
            nonlocal due
            # A worker that outlives its killed run keeps nobody away.
            if time.monotonic() < due or os.getppid() != run:
                return
            due = time.monotonic() + lock["max_age"] / TIMES
            here, self._connection = self._connection, host
            try:
                taken = self._execute_module("streamops.kafka.run_lock", arguments, task_vars=task_vars)
            finally:
                self._connection = here
            if taken.get("failed") or taken.get("unreachable"):
                self._display.warning(f"the lock of this run could not be taken anew: {taken.get('msg')}")

        return keep

# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module mirror_failback, which copies the surplus for some seconds, until its step is reached."""

from __future__ import annotations

from typing import Any

from ..module_utils._mirror_failover.wait import WAIT_OPTIONS, Tracker
from ..plugin_utils.progress.action import QUIET_SECONDS
from ..plugin_utils.progress.waiting_action import WaitingAction


class ActionModule(WaitingAction):
    """Takes a step of a failback, and shows how much is copied."""

    #: Seconds between two lines while a call lasts, which finishes the partition that it has begun.
    LINE_SECONDS = QUIET_SECONDS

    def call(self, task_vars: dict[str, Any] | None, **overrides: Any) -> dict[str, Any]:
        """Run the module once, and show a line again and again while it runs."""
        with self.heartbeat("mirror_failback: compares or copies records", task_vars, self.LINE_SECONDS):
            return super().call(task_vars, **overrides)

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Take the step and return what it returned last; one call in check mode and for the plan."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = {**self.own_options(WAIT_OPTIONS), "start_timeout": 0}
        waiting = options["step"] == "next" and not self._task.check_mode
        waited = self.wait(Tracker, options, task_vars, waiting, quiet=True)
        result.update(waited.result)
        if not waited.broken:
            result["changed"] = waiting or bool(waited.tracker.last.get("changed"))
            if waiting and not waited.reached:
                result.update(waited.failure())
        return result

# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module group_wait, which looks once, until the lag is small enough; shows each interval."""

from __future__ import annotations

from typing import Any

from ..module_utils._groups.wait import WAIT_OPTIONS, Tracker
from ..plugin_utils.progress.waiting_action import WaitingAction


class ActionModule(WaitingAction):
    """Waits for the lag of groups."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; one look in check mode."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        waiting = not self._task.check_mode
        waited = self.wait(Tracker, self.own_options(WAIT_OPTIONS), task_vars, waiting)
        if waited.broken:
            return dict(result, **waited.result)
        result.update(waited.result, reached=waited.reached)
        # Check mode does not wait, but a name that no broker knows is wrong there too.
        if not waited.reached and (waiting or not waited.followed.timed_out):
            result.update(waited.failure())
            if not waited.followed.timed_out:
                result["msg"] = waited.followed.last.text
        return result

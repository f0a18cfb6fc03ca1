# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module mirror_status, which looks once, until the mirror runs or has caught up; shows each interval."""

from __future__ import annotations

from typing import Any

from ..module_utils._mirror.status import OBSERVED
from ..module_utils._mirror.wait import WAIT_OPTIONS, Tracker
from ..plugin_utils.progress.waiting_action import WaitingAction


class ActionModule(WaitingAction):
    """Waits for a mirror."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; one look in check mode and with the state observed."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(WAIT_OPTIONS)
        waiting = options["state"] != OBSERVED and not self._task.check_mode
        waited = self.wait(Tracker, options, task_vars, waiting)
        result.update(waited.result)
        if waiting and not (waited.broken or waited.reached):
            result.update(waited.failure())
        return result

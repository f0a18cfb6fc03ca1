# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module metadata_compare, which compares once, until all nodes agree; a wait shows each interval."""

from __future__ import annotations

from typing import Any

from ..module_utils._metadata.wait import WAIT_OPTIONS, Tracker
from ..plugin_utils.progress.waiting_action import WaitingAction


class ActionModule(WaitingAction):
    """Waits until the nodes of a cluster agree on its metadata."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; one comparison in check mode."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options, waiting = self.own_options(WAIT_OPTIONS), not self._task.check_mode
        waited = self.wait(Tracker, options, task_vars, waiting, quiet=True)
        result.update(waited.result)
        # Without a last result no node could be asked, which is no answer in check mode either.
        if not (waited.broken or waited.reached) and ((waiting and options["must_agree"]) or not waited.tracker.last):
            result.update(waited.failure())
        return result

# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module mirror_status, which looks once, until the mirror runs or has caught up; shows each interval."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, Step
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import OBSERVED
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.wait import WAIT_OPTIONS, Tracker
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.cluster_action import ClusterAction


class ActionModule(ClusterAction):
    """Waits for a mirror."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; one look in check mode and with the state observed."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(WAIT_OPTIONS)
        waiting = options["state"] != OBSERVED and not self._task.check_mode
        tracker = Tracker(options if waiting else {**options, "start_timeout": 0})
        found: dict[str, Any] = {}

        def look(elapsed: float) -> Step:
            """Run the module once."""
            found.clear()
            found.update(self.call(task_vars))
            return tracker.step(found, elapsed)

        timeout = float(options["timeout"]) if waiting else 0.0
        followed = self.follow(look, task_vars, timeout, options["interval"])
        if found.get("failed") and not followed.timed_out:
            return dict(result, **found)
        tracker.last.pop("invocation", None)
        result.update(tracker.last, changed=False, **followed.as_result())
        if waiting and followed.last.state != DONE:
            result.update(failed=True, **tracker.failure(timeout))
        return result

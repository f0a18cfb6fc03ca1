# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module metadata_compare, which compares once, until all nodes agree; a wait shows each interval."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, Step
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.wait import WAIT_OPTIONS, Tracker
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.cluster_action import ClusterAction


class ActionModule(ClusterAction):
    """Waits until the nodes of a cluster agree on its metadata."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; one comparison in check mode."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(WAIT_OPTIONS)
        waiting = not self._task.check_mode
        tracker = Tracker(options if waiting else {**options, "start_timeout": 0})
        found: dict[str, Any] = {}

        def look(elapsed: float) -> Step:
            """Run the module once."""
            found.clear()
            found.update(self.call(task_vars))
            return tracker.step(found, elapsed)

        timeout = float(options["timeout"]) if waiting else 0.0
        followed = self.follow(look, task_vars, timeout, options["interval"], quiet=not timeout)
        if found.get("failed") and not followed.timed_out:
            return dict(result, **found)
        tracker.last.pop("invocation", None)
        result.update(tracker.last, changed=False, **followed.as_result())
        # Without a last result no node could be asked, which is no answer in check mode either.
        if followed.last.state != DONE and ((waiting and options["must_agree"]) or not tracker.last):
            result.update(failed=True, **tracker.failure(timeout))
        return result

# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module reassignment, which works for one interval, until it has ended; shows each interval."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, Step
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.cluster_action import ClusterAction
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.moves import Tracker

#: The options that the loop itself needs; the module judges all of them.
OPTIONS = {
    "state": {"type": "str", "default": "planned"},
    "timeout": {"type": "int", "default": 3600},
    "interval": {"type": "int", "default": 5},
}


class ActionModule(ClusterAction):
    """Carries a reassignment out."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Plan, or go on until all has ended or the timeout has passed, and return what happened."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(OPTIONS)
        if options["state"] == "planned":
            return dict(result, **self.call(task_vars))
        tracker = Tracker(options["state"])

        def look(elapsed: float) -> Step:
            """Run the module once, for one interval."""
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

# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the module mirror_drill, and shows each half minute that it still runs."""

from __future__ import annotations

from typing import Any

from ..plugin_utils.progress.action import ClusterAction


class ActionModule(ClusterAction):
    """Runs a drill of a failover."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module returns."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        does = "writes, copies and counts records of its own"
        if self._task.args.get("state") == "last":
            does = "reads how the last drill ended"
        elif self._task.check_mode:
            does = "looks for what hinders a failover"
        with self.heartbeat(f"mirror_drill: {does}", task_vars):
            return dict(result, **self.call(task_vars))

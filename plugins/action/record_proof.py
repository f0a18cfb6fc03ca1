# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells the module record_proof which run this is, so that the stream ends with it."""

from __future__ import annotations

from typing import Any

from ..plugin_utils.progress.action import ClusterAction
from ..plugin_utils.run_names import names


class ActionModule(ClusterAction):
    """Names the run and calls the module, on the control node where the task names no cluster."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module returns."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        # A process of another machine says nothing about this run.
        here = bool(self._of_role) and not self._task.delegate_to
        return dict(result, **self.call(task_vars, **({"run": names()["run"]} if here else {})))

# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module leader_election until each partition of an unclean election is led; a preferred one runs once.

Of that one it shows that it is under way, and what it could not prove.
"""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail

from ..module_utils._core.progress import Step
from ..plugin_utils.progress.action import ClusterAction
from ..plugin_utils.progress.election import Elections, unproven

#: The options that the loop itself needs; the module judges all of them.
OPTIONS = {"type": {"type": "str", "default": "preferred"}, "timeout": {"type": "int", "default": 60}}
#: Seconds between two attempts.
INTERVAL = 2.0


class ActionModule(ClusterAction):
    """Elects leaders."""

    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module once, or for an unclean election until nothing is left to elect, and return what it found."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(OPTIONS)
        if options["type"] != "unclean":
            with self.heartbeat("leader_election: waits for the elected replicas to lead", task_vars):
                found = self.call(task_vars)
            for line in unproven(found):
                self.show(line, task_vars)
            return dict(result, **found)
        if self._task.async_val:
            raise AnsibleActionFail("leader_election: an unclean election does not run with async. Leave async out.")
        elections = Elections(self._task.check_mode)

        def look(_elapsed: float) -> Step:
            """Run the module once."""
            return elections.step(self.call(task_vars))

        timeout = 0.0 if self._task.check_mode else float(options["timeout"])
        followed = self.follow(look, task_vars, timeout, INTERVAL)
        result.update(elections.result(), **followed.as_result())
        if followed.timed_out:
            result.update(failed=True, msg=elections.failure(timeout) + followed.prolonged())
        return result

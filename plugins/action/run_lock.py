# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells the module run_lock which run this is: user, control node, process and when that started.

A step of a workflow that nobody approved gets no lock, since all that changes a cluster takes it first.
"""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils.guards.run_start import unapproved
from ..plugin_utils.run_names import died, names

#: The kind of the failure of a run that no approval precedes; roles/_common/tasks/lock/machine.yml asks for it.
NOT_APPROVED = "NotApprovedError"


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Names the run and hands the work to the module on the host."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module does in the name of this run; a run of this machine that died keeps nobody away."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        # Only looking at the lock and giving it back need no approval, and neither does a plan.
        if not self._task.check_mode and self._task.args.get("state", "held") == "held":
            refusal = unapproved(self._task.get_play()._variable_manager.extra_vars)
            if refusal:
                return dict(result, failed=True, msg=refusal, failure={"kind": NOT_APPROVED})
        arguments = dict(self._task.args, **names())
        found = self._execute_module(module_args=arguments, task_vars=task_vars)
        # In check mode, which takes no lock, the module only warns of another run.
        other = str((found.get("failure") or {}).get("run") or found.get("holder") or "")
        if died(other):
            found = self._execute_module(module_args=dict(arguments, dead=other), task_vars=task_vars)
        return dict(result, **found)

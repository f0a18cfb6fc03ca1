# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tells the module run_lock which run this is: user, control node, process and when that started."""

from __future__ import annotations

from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.streamops.kafka.plugins.plugin_utils.run_identity import died
from ansible_collections.streamops.kafka.plugins.plugin_utils.run_names import names


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Names the run and hands the work to the module on the host."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module does in the name of this run; a run of this machine that died keeps nobody away."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = dict(self._task.args, **names())
        found = self._execute_module(module_args=arguments, task_vars=task_vars)
        # In check mode, which takes no lock, the module only warns of another run.
        other = str((found.get("failure") or {}).get("run") or found.get("holder") or "")
        if died(other):
            found = self._execute_module(module_args=dict(arguments, dead=other), task_vars=task_vars)
        return dict(result, **found)

# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The base of action plugins for modules that talk to a cluster: a task that names none acts on that of its host.

Then the module runs on the control node, as the administrator that the inventory names, and never with become: roles
write neither connection nor delegation. A task that names a cluster (or is delegated) runs where Ansible says.
"""

from __future__ import annotations

import sys
from functools import cached_property
from typing import Any

from .action import ProgressAction

#: The option that names a cluster or an ensemble, and the variable of the roles with all options that reach it.
KAFKA = ("bootstrap_servers", "_kafka_connection")
ZOOKEEPER = ("servers", "_zookeeper_access")


class ClusterAction(ProgressAction):
    """Adds the connection to the module's options where the task has none."""

    named_by = KAFKA

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Find the connection of the role, if the task needs it; plugins that wait go on from here."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        option, variable = self.named_by
        known = task_vars or {}
        self._of_role: dict[str, Any] = {}
        if option not in self._task.args and variable in known:
            self._of_role = dict(self._templar.template(known[variable]))
        return result

    def call(self, task_vars: dict[str, Any] | None, **overrides: Any) -> dict[str, Any]:
        """Run the module once, on the control node when the task names no cluster, and return its result."""
        arguments = {**self._of_role, **self._task.args, **overrides}
        name = self._task.resolved_action
        if self._of_role and not self._task.delegate_to and not self._task.async_val:
            self._connection = self._local
            here = {**(task_vars or {}), "ansible_python_interpreter": sys.executable}
            return dict(self._execute_module(name, arguments, task_vars=here))
        detached = self._task.async_val and not self._connection.has_native_async
        return dict(self._execute_module(name, arguments, task_vars=task_vars, wrap_async=detached))

    @cached_property
    def _local(self) -> Any:
        """A connection to the control node, without the become of the host."""
        local = self._shared_loader_obj.connection_loader.get("ansible.builtin.local", self._play_context)
        local.set_options()
        return local

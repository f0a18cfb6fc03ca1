# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Gives the module adoption_info the locks of this collection, with which it compares the jars of a process."""

from __future__ import annotations

import json
from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils.render.release import FILES

#: Of what a node runs; an agent of metrics is no release of Kafka.
PRODUCTS = ("kafka", "zookeeper")


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Adds the locks where the task gives none."""

    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module finds on the host."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        arguments = {"locks": locks(), **self._task.args}
        answer: dict[str, Any] = self._execute_module(module_args=arguments, task_vars=task_vars)
        # It repeats the locks, which would stand in the variables of every host for the rest of the run.
        answer.pop("invocation", None)
        return {**result, **answer}


def locks() -> list[dict[str, Any]]:
    """Return the locks of all releases that this collection has."""
    return [json.loads(path.read_text()) for name in PRODUCTS for path in sorted(FILES.glob(f"{name}-*.lock.json"))]

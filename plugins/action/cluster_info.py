# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs a module that looks at a cluster or changes it once; meta/runtime.yml leads all of them here."""

from __future__ import annotations

from typing import Any

from ..plugin_utils.progress.action import ClusterAction


class ActionModule(ClusterAction):
    """Calls the module."""

    _supports_async = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module returns."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        return dict(result, **self.call(task_vars))

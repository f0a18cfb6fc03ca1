# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module listener_check until all listeners answer, or no more of them do for a time; shows each change.

Where another node answers, the wait ends: a load balancer leads to the right one at times, and proves nothing by it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..module_utils._client.identity import IDENTITY
from ..module_utils._client.listener_options import LOOP_OPTIONS
from ..module_utils._core.progress import DONE, FAILED, GOING, Advance, Step
from ..plugin_utils.progress.action import ProgressAction


class ActionModule(ProgressAction):
    """Waits for listeners."""

    _requires_connection = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask until all answer or the time is over, and return what was found last."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(LOOP_OPTIONS)
        last: dict[str, Any] = {}
        advance = Advance()

        def look(elapsed: float) -> Step:
            """Run the module once."""
            last.clear()
            last.update(self.call(task_vars))
            # Nodes that start after each other: each listener that answers gives the others the whole time again.
            advance.take(answered=len(last.get("answered") or ()))
            return replace(step(last), progress=str(advance))

        followed = self.follow(look, task_vars, options["wait"], options["interval"])
        return dict(result, **last, **followed.as_result())


def step(found: dict[str, Any]) -> Step:
    """Return what one result of the module means to the loop."""
    if found.get("failed") or found.get("unreachable") or "unreached" not in found:
        return Step(FAILED, "")
    unreached = list(found["unreached"])
    if not unreached:
        return Step(DONE, f"{len(found['answered'])} listeners answer")
    listed = "; ".join(f"{silent['node']} {silent['listener']} ({silent['why']})" for silent in unreached)
    if any(silent["stage"] == IDENTITY for silent in unreached):
        return Step(FAILED, f"another node answers: {listed}", {"unreached": unreached})
    return Step(GOING, f"waiting for listeners: {listed}", {"unreached": unreached})

# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module quorum_voter until the controller has caught up and votes; shows what is waited for."""

from __future__ import annotations

from typing import Any

from ..module_utils._core.progress import DONE, FAILED, GOING, Advance, Step
from ..plugin_utils.progress.action import ClusterAction

#: The options that the loop itself needs; the module judges all of them.
OPTIONS = {"node_id": {"type": "int"}, "timeout": {"type": "int", "default": 120}}
FIX = "See that a majority of the controllers runs, and that this one reaches them if it is to vote. Then run again."
#: Seconds between two looks.
INTERVAL = 2.0


class ActionModule(ClusterAction):
    """Makes a controller a voter, or none."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the module until there is nothing to wait for, in check mode once, and return what it found."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(OPTIONS)
        found: dict[str, Any] = {}
        advance = Advance()

        def look(_elapsed: float) -> Step:
            """Run the module once."""
            found.clear()
            found.update(self.call(task_vars))
            waiting = found.get("waiting")
            state = FAILED if found.get("failed") else GOING if waiting else DONE
            lag = found.get("lag")
            advance.take(fetches=lag is not None, lag=None if lag is None else -lag)
            text = f"quorum_voter: {waiting or 'node ' + str(options['node_id']) + ' is as wanted'}"
            return Step(state, text, progress=str(advance))

        timeout = 0.0 if self._task.check_mode else float(options["timeout"])
        followed = self.follow(look, task_vars, timeout, INTERVAL)
        result.update(found, **followed.as_result())
        if followed.timed_out and not self._task.check_mode:
            why = f"quorum_voter: after {options['timeout']} s {found['waiting']}. This node's vote was not changed."
            result.update(failed=True, msg=f"{why} {FIX}{followed.prolonged()}")
        return result

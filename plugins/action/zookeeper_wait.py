# SPDX-License-Identifier: GPL-3.0-or-later
"""Repeats the module zookeeper_wait, which looks once, until the ensemble is as wanted; shows each interval."""

from __future__ import annotations

from typing import Any

from ..module_utils._core.progress import DONE, Advance, Step
from ..module_utils._zookeeper.wait import WAIT_OPTIONS, failure, step
from ..plugin_utils.progress.action import ZOOKEEPER, ClusterAction


class ActionModule(ClusterAction):
    """Waits for an ensemble."""

    named_by = ZOOKEEPER

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Run the wait and return what it found; in check mode one look, which fails nothing."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        options = self.own_options(WAIT_OPTIONS)
        checking = bool(self._task.check_mode)
        found: dict[str, Any] = {}
        advance = Advance()

        def look(elapsed: float) -> Step:
            """Run the module once."""
            found.clear()
            found.update(self.call(task_vars))
            return step(found, advance)

        followed = self.follow(look, task_vars, 0.0 if checking else float(options["timeout"]), options["interval"])
        if found.get("failed"):
            return dict(result, **found)
        reached = followed.last.state == DONE
        found.pop("invocation", None)
        result.update(found, changed=False, reached=reached, **followed.as_result())
        if not reached and not checking:
            result.update(failed=True, **failure(found, followed.elapsed, followed.prolonged()))
        return result

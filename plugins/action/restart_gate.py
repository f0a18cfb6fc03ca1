# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the module restart_gate until it allows the stop, or waiting makes no sense any more, and shows each look."""

from __future__ import annotations

import time
from typing import Any

from ..module_utils._client.connection import CONNECTION_SPEC
from ..module_utils._core.progress import DONE, HOLD_LOOKS, Hold, Step, duration, held
from ..module_utils._gate.stop import GATE_OPTIONS, GATE_WAIT_OPTIONS
from ..plugin_utils.progress.action import ClusterAction
from ..plugin_utils.progress.gate import Opening, failure, seconds_for, unanswered, with_pace


class ActionModule(ClusterAction):
    """Holds a roll at the gate of its next node."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Wait at the gate, in check mode look once, and return the judgement."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        limit_of_request = {"request_timeout": CONNECTION_SPEC["request_timeout"]}
        options = self.own_options({**GATE_OPTIONS, **GATE_WAIT_OPTIONS, **limit_of_request})
        nodes = options["node_ids"]
        answers: list[dict[str, Any]] = []

        timeout = 0.0 if self._task.check_mode else float(options["timeout"])
        hold = held(options["hold"], options["held_since"], time.time())
        # A gate that is open has the time to prove it.
        if options["hold"] and not self._task.check_mode:
            timeout = max(timeout, options["hold"] + HOLD_LOOKS * options["interval"])
        opening = Opening(nodes, Hold() if self._task.check_mode else hold)
        wanted = options["request_timeout"]

        def look(elapsed: float) -> Step:
            """Run the module once: one picture of the cluster."""
            # A gate that is open may take longer than its timeout.
            limit = seconds_for(max(timeout - elapsed, options["hold"]), wanted) if timeout else wanted
            found = self.call(task_vars, request_timeout=limit, times_metadata=False)
            judged = opening.step(found, any("allowed" in answer for answer in answers), elapsed)
            if judged.state == DONE and options["times_metadata"] and not self._task.check_mode:
                with self.heartbeat("restart_gate: times a change of metadata", task_vars):
                    found = with_pace(found, self.call(task_vars))
                # It has judged once more: a gate that is shut by now is waited for again.
                judged = opening.step(found, True, elapsed) if found["refusals"] else judged
            answers.append(found)
            return judged

        followed = self.follow(look, task_vars, timeout, options["interval"])
        found = answers[-1]
        now = time.time()
        result.update(settled_since=now - hold.held, settled_until=now)
        if found.get("not_timed"):
            self.show(f"restart_gate: no change of metadata was timed: {found['not_timed']}", task_vars)
        result.update({name: value for name, value in found.items() if name != "invocation"}, **followed.as_result())
        result["warnings"] = [*result.get("warnings", []), *found.get("notes", [])]
        if found.get("refusals") and not self._task.check_mode:
            waited = duration(followed.elapsed) if followed.timed_out else ""
            said = failure(nodes, found["refusals"], waited, answers[:-1])
            result.update(failed=True, allowed=False, msg="\n".join([said, *opening.flapping()]) + followed.prolonged())
        elif followed.timed_out and not found.get("failed") and not self._task.check_mode:
            result.update(failed=True, allowed=False, msg=opening.unsteady())
        elif found.get("failed"):
            result["msg"] = unanswered(found, answers[:-1])
            # Why the gate was shut when it could last be seen; a judgement of now it is not.
            result["refusals"] = next((one["refusals"] for one in reversed(answers) if "refusals" in one), [])
        return result

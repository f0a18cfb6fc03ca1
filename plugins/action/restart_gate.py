# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Asks the module restart_gate until it allows the stop, or waiting makes no sense any more, and shows each look."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import CONNECTION_SPEC
from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import Step, duration
from ansible_collections.streamops.kafka.plugins.module_utils._gate.rule import GATE_OPTIONS, GATE_WAIT_OPTIONS
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.cluster_action import ClusterAction
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.gate import (
    failure,
    seconds_for,
    step,
    unanswered,
)


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
        wanted = options["request_timeout"]

        def look(elapsed: float) -> Step:
            """Run the module once: one picture of the cluster."""
            limit = seconds_for(timeout - elapsed, wanted) if timeout else wanted
            found = self.call(task_vars, request_timeout=limit)
            judged = step(nodes, found, answered_before=any("allowed" in answer for answer in answers))
            answers.append(found)
            return judged

        followed = self.follow(look, task_vars, timeout, options["interval"])
        found = answers[-1]
        result.update({name: value for name, value in found.items() if name != "invocation"}, **followed.as_result())
        result["warnings"] = [*result.get("warnings", []), *found.get("notes", [])]
        if found.get("refusals") and not self._task.check_mode:
            waited = duration(followed.elapsed) if followed.timed_out else ""
            result.update(failed=True, msg=failure(nodes, found["refusals"], waited, answers[:-1]))
        elif found.get("failed"):
            result["msg"] = unanswered(found, answers[:-1])
            # Why the gate was shut when it could last be seen; a judgement of now it is not.
            result["refusals"] = next((one["refusals"] for one in reversed(answers) if "refusals" in one), [])
        return result

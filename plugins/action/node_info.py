# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads a host's clock over the connection itself, which is faster and so more certain than a module can."""

from __future__ import annotations

import time
from typing import Any

from ansible.module_utils.parsing.convert_bool import boolean
from ansible.plugins.action import ActionBase

from ..plugin_utils.clock_offset import narrowest, seconds

# The first question also opens the connection; of the others one is seldom disturbed twice.
_QUESTIONS = 3


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Times the question for the time; all else is found by the module."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what the module node_info finds on the host, and with C(clock) its offset from the control node."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        offset = self._offset() if boolean(self._task.args.get("clock", False), strict=False) else {}
        answer: dict[str, Any] = self._execute_module(task_vars=task_vars)
        if answer.get("clock") is not None:
            answer["clock"] = {**answer["clock"], **offset}
        return {**result, **answer}

    def _offset(self) -> dict[str, Any]:
        """Return the offset and its uncertainty in seconds, or why there is none."""
        questions = []
        for _question in range(_QUESTIONS):
            asked = time.time()
            answer = self._low_level_execute_command("LC_ALL=C date +%s.%N", sudoable=False)
            answered = time.time()
            said = seconds(answer["stdout"])
            if said is None:
                printed = (answer["stdout"] or answer["stderr"]).strip()[:200]
                return {"offset": None, "uncertainty": None, "problem": f"date printed {printed!r}"}
            questions.append((asked, said, answered))
        reading = narrowest(questions)
        return {"offset": round(reading.offset, 4), "uncertainty": round(reading.uncertainty, 4)}

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follows the step of a failback that copies the surplus, call by call. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._core.looks import Looks
from .._core.progress import DONE, GOING, Step, duration

#: Options of the wait: the module documents and checks them, the action that repeats the module reads them.
WAIT_OPTIONS: dict[str, dict[str, Any]] = {
    "source": {"type": "str", "required": True},
    "target": {"type": "str", "required": True},
    "step": {"type": "str", "choices": ["", "next", "back"], "default": ""},
    "timeout": {"type": "int", "default": 600},
    "interval": {"type": "float", "default": 0.5},
}


class Tracker(Looks):
    """Takes what the module returned, call by call."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        super().__init__(f"mirror_failback {options['source']}->{options['target']}", 0)
        # The partition that the first call keeps is progress too: that call may last longer than the whole timeout.
        self._advance.take(kept=0)

    def _judge(self, elapsed: float) -> Step:
        """Judge how much of the surplus is kept."""
        self._advance.take(kept=self.last["partitions_kept"])
        return self._as_step(DONE if self.last["is_over"] else GOING, self._text())

    def _text(self) -> str:
        """Say how much of the surplus is kept."""
        return f"{self.last['partitions_kept']}/{self.last['partitions_to_keep']} partitions kept"

    def _facts(self) -> dict[str, Any]:
        """Return one row of the history."""
        return {"partitions_kept": self.last.get("partitions_kept"), "error": self.error or None}

    def failure(self, timeout: float) -> dict[str, Any]:
        """Return {msg, failure} of a step whose copying made no progress for C(timeout) seconds."""
        why = f"{self._text()}, and no further one within {duration(timeout)}" if self.last else self.error
        return {
            "msg": f"{self._title}: {why}. Look at both clusters, then run it again: it goes on where it was. The "
            "source was only read.",
            "failure": {"kind": "MirrorWaitTimeout", "error": self.error},
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""A played cluster that notes what is done to it, and kills a run right before one of its acts."""

from __future__ import annotations


class Killed(Exception):
    """The run was killed."""


class Acts:
    """What was done, in its order; C(killed_at) is the act before which the next run is killed, once."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.killed_at = ""

    def do(self, what: str) -> None:
        """Note what is done; a run is killed right before it."""
        if what == self.killed_at:
            self.killed_at = ""
            raise Killed(what)
        self.done.append(what)

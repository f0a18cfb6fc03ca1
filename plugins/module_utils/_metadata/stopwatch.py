# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Tells the time that a node was waited for from the time that its answers were read here. Pure."""

from __future__ import annotations

from collections.abc import Callable


class Stopwatch:
    """Counts the seconds of one thread that are ours: between an answer and the next question.

    Large answers take long to read, the more so while other threads read theirs; that is not held against a node.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._began = clock()
        self._since: float | None = None
        self._ours = 0.0

    def answered(self) -> None:
        """Begin a time that is ours."""
        self._since = self._clock()

    def asks(self) -> float:
        """End a time that is ours, and return how long it was."""
        spent = 0.0 if self._since is None else self._clock() - self._since
        # In this order: another thread that looks in between holds too little against the node, never too much.
        self._ours += spent
        self._since = None
        return spent

    def waited(self) -> float:
        """Return the seconds since the beginning that were not ours; another thread may ask."""
        since, now = self._since, self._clock()
        return now - self._began - self._ours - (0.0 if since is None else now - since)

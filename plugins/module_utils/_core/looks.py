# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Follow a wait over many looks of a module, some of which may fail for a time. Pure."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from .progress import FAILED, GOING, Advance, Step


class Looks(ABC):
    """The base of trackers: C(last) is the last look that succeeded, C(error) why the latest one did not.

    A look that fails for what may pass by itself is tolerated once one has succeeded, and until then for the first
    C(start_timeout) seconds, since a cluster may be starting. Any other failure ends the wait.
    """

    #: What failures mean, by their kind, where it is not that somebody does not answer.
    MEANINGS: ClassVar[Mapping[str, str]] = {}
    #: Kinds of failures that pass by themselves once a look has succeeded.
    PASSING_LATER: ClassVar[frozenset[str]] = frozenset()

    def __init__(self, title: str, start_timeout: float) -> None:
        #: What lines of progress begin with.
        self._title = title
        self._start_timeout = start_timeout
        self._advance = Advance()
        self.last: dict[str, Any] = {}
        self.error = ""

    def step(self, look: Mapping[str, Any], elapsed: float) -> Step:
        """Judge one result of the module at C(elapsed) seconds since the start of the wait."""
        if not look.get("failed"):
            self.error, self.last = "", dict(look)
            return self._judge(elapsed)
        self.error = str(look.get("msg", "the look failed"))
        failure = look.get("failure") or {}
        kind = str(failure.get("kind"))
        passing = failure.get("passing", False) and elapsed < self._start_timeout
        if self.last:
            passing = failure.get("passing", False) or kind in self.PASSING_LATER
        if not passing:
            return Step(FAILED, self.error, self._facts())
        before = f"{self._text()} when last seen, now" if self.last else "not seen yet,"
        why = self.MEANINGS.get(kind, f"{self.error.partition(': ')[0]} does not answer")
        return self._as_step(GOING, f"{before} {why} (tolerated, it may be starting)")

    def _as_step(self, state: str, text: str) -> Step:
        """Return a step with its line, its row of the history and the progress so far."""
        return Step(state, f"{self._title}: {text}", self._facts(), str(self._advance))

    @abstractmethod
    def _judge(self, elapsed: float) -> Step:
        """Judge the look that has just become the last one."""

    @abstractmethod
    def _text(self) -> str:
        """Say how it stands, with nothing that changes while nothing happens, so that lines can be collapsed."""

    @abstractmethod
    def _facts(self) -> dict[str, Any]:
        """Return one row of the history."""

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What requests have really done, so that a module which fails half way reports it: C(changed), the diff, in words."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change, diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    RequestFailedError,
    StreamopsError,
    WaitTimeoutError,
    in_doubt,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped

_Key = TypeVar("_Key", bound=Hashable)


class Applied(Generic[_Key]):
    """Keeps which keys were done. A key is one thing that one request changes, as a credential or an ACL."""

    def __init__(self, what: str, label: Callable[[_Key], str] = str) -> None:
        self.done: list[_Key] = []
        #: What was asked for without a clear answer: it may be done or not.
        self.doubtful: list[_Key] = []
        self._what = what
        self._label = label

    def ask(
        self,
        keys: Iterable[_Key],
        request: Callable[[], Mapping[Any, Any] | None],
        answered: Callable[[_Key], Any] = lambda key: key,
    ) -> None:
        """Make one request about these keys and keep what it did; RequestFailedError when parts of it failed.

        The answer has None, or (Kafka's error name, why), by what C(answered) makes of a key. None: it would have
        raised what is refused.
        """
        self.doubtful = list(keys)
        try:
            outcome = request() or {}
        except StreamopsError as error:
            if error.unsent or (isinstance(error, RequestFailedError) and not in_doubt(error.code)):
                self.doubtful = []
            raise
        failed = [(key, outcome[answered(key)]) for key in self.doubtful if outcome.get(answered(key)) is not None]
        wrong = {key for key, _error in failed}
        self.done += [key for key in self.doubtful if key not in wrong]
        self.doubtful = [key for key, (code, _why) in failed if in_doubt(code)]
        refused = [(key, error) for key, error in failed if key not in self.doubtful]
        if failed:
            key, (code, why) = (refused or failed)[0]
            too = self._listed([one for one, _error in refused[1:]])
            others = f"; refused too: {too}" if too else ""
            raise RequestFailedError(self._what, self._label(key), code, f"{why}{others}")

    def settle(self) -> None:
        """Keep what had no clear answer as done: a look has shown it."""
        self.done += self.doubtful
        self.doubtful = []

    @contextlib.contextmanager
    def truthful(self, changes: Callable[[Sequence[_Key]], Iterable[Change]], diff: bool) -> Iterator[None]:
        """Have an error of the work inside carry what was changed before it; C(changes) says it of keys."""
        try:
            yield
        except StreamopsError as error:
            some = list(changes([*self.done, *self.doubtful]))
            error.done = {"changed": bool(some)}
            if diff:
                error.done["diff"] = diff_of(some)
            if not isinstance(error, WaitTimeoutError):  # It says itself that all was accepted.
                before = error.message.removesuffix("Nothing was changed.").rstrip(". ")
                error.message = f"{before}. {self._said()}"
            raise

    def _said(self) -> str:
        """What was done, in a sentence."""
        doubt = ""
        if self.doubtful:
            doubt = f" No clear answer came for {self._listed(self.doubtful)}, so these may be done or not."
        if not self.done:
            return f"{doubt.strip()} Run again to do the rest." if doubt else "Nothing was changed."
        return f"Done before that: {self._listed(self.done)}.{doubt} Run again to do the rest."

    def _listed(self, keys: Iterable[_Key]) -> str:
        """Keys for people, each once."""
        return capped(list(dict.fromkeys(map(self._label, keys))))

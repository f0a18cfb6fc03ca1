# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What requests have really done, so that a module which fails half way reports it: C(changed), the diff, in words."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeVar

from .diff import Change, diff_of
from .errors import RequestFailedError, StreamopsError, WaitTimeoutError, in_doubt, warn
from .names import capped

_Key = TypeVar("_Key", bound=Hashable)
_NOTHING, _REST = "Nothing was changed.", "Run again to do the rest."
#: How often work without a clear answer is done again, and the seconds before each time: a slow controller carries a
#: request out after its client has given up.
REPEATS, PAUSE = 2, 2.0


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
    def truthful(
        self,
        changes: Callable[[Sequence[_Key]], Iterable[Change]],
        diff: bool,
        partial: Callable[[Sequence[_Key]], Mapping[str, Any]] = lambda _keys: {},
        settle: Callable[[Any], None] | None = None,
    ) -> Iterator[None]:
        """Have an error of the work inside carry what was changed before it; C(changes) says it of keys.

        C(partial) says it in fields of the module's own result, which are lists, mappings or flags. C(settle) waits,
        with a session, until every broker knows all that the work is about: who looks again, finds it done and plans
        nothing more, still has to wait for that.
        """
        try:
            yield
        except StreamopsError as error:
            keys = [*self.done, *self.doubtful]
            some = list(changes(keys))
            error.partial = dict(partial(keys))
            error.unclear = bool(self.doubtful)
            error.settle = settle if keys else None
            error.done = {"changed": bool(some)}
            if diff:
                error.done["diff"] = diff_of(some)
            if not isinstance(error, WaitTimeoutError):  # It says itself that all was accepted.
                before = error.message.removesuffix(_NOTHING).rstrip(". ")
                error.message = f"{before}. {self._said()}"
            raise

    def _said(self) -> str:
        """Return what was done, in a sentence."""
        doubt = ""
        if self.doubtful:
            doubt = f" No clear answer came for {self._listed(self.doubtful)}, so these may be done or not."
        if not self.done:
            return f"{doubt.strip()} {_REST}" if doubt else _NOTHING
        return f"Done before that: {self._listed(self.done)}.{doubt} {_REST}"

    def _listed(self, keys: Iterable[_Key]) -> str:
        """Keys for people, each once."""
        return capped(list(dict.fromkeys(map(self._label, keys))))


def asked_again(work: Callable[[], Mapping[str, Any]], sleep: Callable[[float], None]) -> Mapping[str, Any]:
    """Do work that plans from the state of the cluster, and once more where it ended without a clear answer.

    What was done is no part of the next plan, and what was not is done then: C(changed), C(diff) and what errors carry
    as C(partial) are those of all times together. Raises the last StreamopsError, with what the first one said.
    """
    ended: list[StreamopsError] = []
    while True:
        try:
            result = work()
        except StreamopsError as error:
            ended.append(error)
            # What a late answer makes wrong, as a topic that is there by now, is seen at the next look.
            if not (ended[0].unclear and (error.unclear or error.passing)) or len(ended) > REPEATS:
                _say_all(ended)
                raise
            sleep(PAUSE)
        else:
            if ended:
                warn(f"{_without(ended[0].message, _REST)} So the cluster was asked again, and all is as wanted now.")
            together = _together([*(error.done for error in ended), result])
            return {**result, **_joined([error.partial for error in ended], result), **together}


def _say_all(ended: Sequence[StreamopsError]) -> None:
    """Have the last error tell of the first one too, and of all that was changed."""
    first, last = ended[0], ended[-1]
    if first is not last:
        last.message = f"{_without(first.message, _REST)} Asked again: {_without(last.message, _NOTHING)}"
        last.done = _together([error.done for error in ended])
        last.unclear = True


def _without(message: str, sentence: str) -> str:
    return message.removesuffix(sentence).rstrip()


def _together(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return C(changed), and C(diff) where there is one, of these results, the oldest first."""
    diffs = [result["diff"] for result in results if "diff" in result]
    together: dict[str, Any] = {"changed": any(result.get("changed") for result in results)}
    if diffs:
        sides = {"before": diffs[::-1], "after": diffs}
        together["diff"] = {side: _overlaid([diff[side] for diff in listed]) for side, listed in sides.items()}
    return together


def _joined(partial: Sequence[Mapping[str, Any]], result: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a result with what was done before: items of lists once, of two for the same the later."""
    fields: dict[str, Any] = {}
    for part in [*partial, {name: result[name] for some in partial for name in some}]:
        for name, value in part.items():
            before = fields.get(name)
            if isinstance(value, list):
                fields[name] = [*(before or []), *(item for item in value if item not in (before or []))]
            elif isinstance(value, dict):
                fields[name] = {**(before or {}), **value}
            else:
                fields[name] = bool(before or value)
    return fields


def _overlaid(sides: Sequence[Mapping[str, Mapping[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return values by name; of two for the same the later one counts."""
    values: dict[str, dict[str, Any]] = {}
    for side in sides:
        for name, fields in side.items():
            values[name] = {**values.get(name, {}), **fields}
    return values

"""Exceptions of the jobs. Each ends a run with verdict `error` and exit code 2; its text is what a person reads."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class CannotRunError(Exception):
    """The job could not judge the cluster at all; `what` names the step, `why` the reason."""

    def __init__(self, what: str, why: str) -> None:
        super().__init__(f"{what}: {why}")
        self.what = what
        self.why = why


class BadArgumentsError(CannotRunError):
    """The arguments file is unusable; `problems` lists every fault found in it, not only the first."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("arguments", "; ".join(problems))
        self.problems = problems


def asked(what: str, call: Callable[..., Any], *arguments: Any) -> Any:
    """Call Java; raises CannotRunError with `what` and the reason at the bottom of the exceptions."""
    try:
        return call(*arguments)
    except Exception as error:
        raise CannotRunError(what, root_cause(error)) from error


def root_cause(error: BaseException) -> str:
    """One line that says what went wrong at the bottom of a Python or Java exception chain.

    Spark wraps the client's own message ("Timed out waiting for a node assignment") several levels deep, and that
    message is the one which helps.
    """
    java: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    if java is None:
        deepest = error
        while deepest.__cause__ is not None:
            deepest = deepest.__cause__
        return _first_line(f"{type(deepest).__name__}: {deepest}")
    for _cause in range(20):
        cause = java.getCause()
        if cause is None or cause.equals(java):
            break
        java = cause
    return _first_line(str(java.toString()))


def _first_line(text: str) -> str:
    return (text.strip().splitlines() or ["unknown error"])[0][:500]

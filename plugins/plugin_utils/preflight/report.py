# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The result of a preflight task: one message for all violations, warnings as warnings, never changed."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from .check import failed
from .rule import ERROR, WARNING, Violation

_WIDTH = 110


def preflight_result(violations: Sequence[Violation], registered: bool) -> dict[str, Any]:
    """The keys of the task's result; with an error the message has the warnings too, else each is shown by itself.

    registered -- whether the task registers its result. A failed task prints all of its result, and the same once
    more as data would hide the message, so the list is left out where nothing can read it.
    """
    found: dict[str, Any] = {"violations": [violation.result() for violation in violations]}
    if failed(violations):
        return dict(found if registered else {}, changed=False, failed=True, msg=message(violations))
    warnings = [f"{one.name}: {one.sentence()}" for one in violations if one.level == WARNING]
    return dict(found, changed=False, warnings=warnings, msg=f"All checks passed, {len(warnings)} warnings.")


def message(violations: Sequence[Violation]) -> str:
    """All violations as one readable text: a count, then one paragraph for each rule."""
    errors = sum(violation.level == ERROR for violation in violations)
    warnings = len(violations) - errors
    count = f"{errors} error{'s' * (errors != 1)}"
    if warnings:
        count += f" and {warnings} warning{'s' * (warnings != 1)}"
    parts = [f"{count} found before any change; nothing was touched."]
    for level in (ERROR, WARNING):
        of_level = [violation for violation in violations if violation.level == level]
        for name in dict.fromkeys(one.name for one in of_level):
            lines = [_item(violation) for violation in of_level if violation.name == name]
            parts.append("\n".join([f"{level.upper()} {name}:", *lines]))
    return "\n\n".join(parts)


def _item(violation: Violation) -> str:
    return textwrap.fill(
        violation.sentence(),
        _WIDTH,
        initial_indent="  - ",
        subsequent_indent="    ",
        break_long_words=False,
        break_on_hyphens=False,
    )

# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The result of a preflight task: one message for all violations, warnings as warnings, never changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules import TITLES, failed
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import WARNING, Violation, message


def preflight_result(violations: Sequence[Violation], registered: bool) -> dict[str, Any]:
    """The keys of the task's result; with an error the message has the warnings too, else each is shown by itself.

    registered -- whether the task registers its result. A failed task prints all of its result, and the same once
    more as data would hide the message, so the list is left out where nothing can read it.
    """
    found: dict[str, Any] = {"violations": [violation.result() for violation in violations]}
    if failed(violations):
        return dict(found if registered else {}, changed=False, failed=True, msg=message(violations, TITLES))
    warnings = [f"{one.rule}, {TITLES[one.rule]}: {one.sentence()}" for one in violations if one.level == WARNING]
    return dict(found, changed=False, warnings=warnings, msg=f"All checks passed, {len(warnings)} warnings.")

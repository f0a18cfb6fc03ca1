# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What changes, from what to what: the one source of both C(changed) and C(diff)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Change:
    """One thing that changes. C(before) or C(after) is None where it does not exist then; else only what differs."""

    name: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


def diff_of(changes: Iterable[Change]) -> dict[str, dict[str, Any]]:
    """Ansible's before and after, each by name; what does not exist at one side is left out there."""
    listed = list(changes)
    return {
        "before": {change.name: change.before for change in listed if change.before is not None},
        "after": {change.name: change.after for change in listed if change.after is not None},
    }

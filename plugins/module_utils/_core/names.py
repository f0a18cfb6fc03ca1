# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Names in sentences: lists that are cut, and what somebody may have meant by a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def near(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: up to five names like it, nothing where there are none."""
    found = difflib.get_close_matches(name, sorted(known), n=5, cutoff=0.6)
    return f" (names like it: {', '.join(found)})" if found else ""


def nearest(name: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The one known name that is most like this one; None when none is as like as C(cutoff), from 0 to 1."""
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=cutoff)), None)


def capped(names: Sequence[str], limit: int = 20) -> str:
    """Return the names joined by commas, at most ``limit`` of them and then how many more there are."""
    text = ", ".join(names[:limit])
    return text if len(names) <= limit else f"{text} and {len(names) - limit} more"

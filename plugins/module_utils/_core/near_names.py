# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What somebody may have meant by a name that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about an unknown name: up to five names like it, nothing where there are none."""
    found = difflib.get_close_matches(name, sorted(known), n=5, cutoff=0.6)
    return f" (names like it: {', '.join(found)})" if found else ""

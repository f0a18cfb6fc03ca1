# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Names to IP addresses, as the control node resolves them."""

from __future__ import annotations

from collections.abc import Iterable

from ..module_utils._core.network import resolve


def addresses(name: str) -> list[str]:
    """The addresses of a name, sorted; empty when it has none or nobody answers."""
    try:
        found = resolve(name, None)
    except (OSError, UnicodeError):
        return []
    return sorted({str(entry[4][0]).partition("%")[0] for entry in found})


def resolved(names: Iterable[str]) -> dict[str, list[str]]:
    """Each name with its addresses."""
    return {name: addresses(name) for name in names}

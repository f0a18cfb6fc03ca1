# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The size of a heap as Java reads it. Pure."""

from __future__ import annotations

import re

_SIZE = re.compile(r"([1-9]\d*)([kKmMgG]?)")
_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def heap_bytes(text: str, variable: str) -> int:
    """Return the bytes of a heap such as 512m, 6G or a plain number, the value of a variable; ValueError else."""
    found = _SIZE.fullmatch(text)
    if not found:
        raise ValueError(f"{variable} is {text!r}, which Java cannot read; write it as 1g or 512m")
    return int(found[1]) * _UNITS[found[2].lower()]

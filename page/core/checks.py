"""Say what is wrong with a single value of the settings. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json

#: Characters of the longest name of a host (RFC 1035), and nodes of a cluster at most.
LONGEST_HOST, MOST_NODES = 255, 1000


def wrong_number(name: str, number: object, least: int, most: int) -> list[str]:
    """Say that a setting is no whole number within its bounds; nothing when it is one."""
    if isinstance(number, int) and not isinstance(number, bool) and least <= number <= most:
        return []
    return [f"{name} is {short(number)}. Set a whole number from {least} to {most}."]


def short(value: object) -> str:
    """Return a value for a message: of what could hold secrets only what it is, and never a long one whole."""
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:60]}..."

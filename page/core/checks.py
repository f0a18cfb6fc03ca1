"""Read the settings of a service from JSON, and say what is wrong with a single value of them. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError

#: Characters of the longest name of a host (RFC 1035), and nodes of a cluster at most.
LONGEST_HOST, MOST_NODES = 255, 1000


def settings_of(
    text: str, known: Collection[str], numbers: Mapping[str, tuple[int, int, int]], needed: str
) -> tuple[dict[str, Any], dict[str, int], list[str]]:
    """Return the settings in a JSON text, those that are numbers, and what is wrong with their names and numbers.

    A name that stands twice is wrong: JSON's parser would keep the last one silently. C(numbers) have default, least
    and most. Raises RefusedError for what is no object, in which C(needed) must stand.
    """
    wrong: list[str] = []

    def once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """Return an object of the text, with a complaint about each name that it has twice."""
        values: dict[str, Any] = {}
        for name, value in pairs:
            if name in values:
                wrong.append(f"{short(name)} stands twice in one object. Keep one of them.")
            values[name] = value
        return values

    try:
        given = json.loads(text, object_pairs_hook=once)
    except RecursionError:
        raise RefusedError("configuration", ["it is nested too deeply. Correct the file."]) from None
    except ValueError as error:
        raise RefusedError("configuration", [f"it is no JSON: {error}. Correct the file."]) from error
    if not isinstance(given, dict):
        raise RefusedError("configuration", [f"it is no object. Write one with {needed} in it."])
    wrong += [f"{short(name)} is unknown. Remove it." for name in sorted(given.keys() - known)]
    values = {name: given.get(name, default) for name, (default, _least, _most) in numbers.items()}
    for name, (_default, least, most) in numbers.items():
        wrong += wrong_number(name, values[name], least, most)
    return given, values, wrong


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

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What changed last in the start files of a node, in words for people; no secret is in them."""

from __future__ import annotations

from typing import Any

from .._core.compared import declare
from .._core.properties import PropertiesError, parse
from .._core.unordered import same
from .generations import CURRENT, Generations, differing
from .restart_reasons import reason, reason_line
from .start_record import JVM, PROPERTIES, version


def last_change(found: Generations) -> dict[str, Any] | None:
    """Return {since, changes, same_release} of the generation in use against the one behind it; None without one.

    since -- the name of the generation in use, which is the UTC time of its making. changes -- lines, one for each
    property and each other file. same_release -- whether both start the same version of Kafka.
    """
    link = found.doubted()
    before, now = found.texts(link) if link else None, found.texts(CURRENT)
    if before is None or now is None:
        return None
    return {
        "since": found.name(CURRENT),
        "changes": changes(before, now),
        "same_release": version(before.get(JVM)) == version(now.get(JVM)),
    }


def changes(before: dict[str, str], now: dict[str, str]) -> list[str]:
    """Return a line for each property that differs, and for each other file."""
    files = differing(before, now)
    try:
        properties = _properties(before.get(PROPERTIES, ""), now.get(PROPERTIES, ""))
    except PropertiesError:
        properties = []
    return properties + [f"file {one}" for one in files if one != PROPERTIES or not properties]


def _properties(before: str, now: str) -> list[str]:
    old, new = declare(parse(before)), declare(parse(now))
    return [
        reason_line(reason("property", key, old.get(key), new.get(key)))
        for key in sorted(old.keys() | new.keys())
        if not same(key, old.get(key), new.get(key))
    ]

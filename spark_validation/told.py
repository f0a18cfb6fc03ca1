"""What a run found, in one sentence for each check that did not pass: topic, partitions, offsets, how many. Pure.

The sentences stand in result.json (`findings`), so that the report, the output of the job and the run that submits it
say the same.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from spark_validation.core.result import ERROR, FAIL, INCONCLUSIVE, Check

_SHOWN = 5
_WORDS = {
    "range": "no longer there",
    "lost": "lost",
    "duplicated": "repeated",
    "out_of_order": "out of order",
    "misrouted": "misrouted",
    "corrupt": "corrupt",
    "phantom": "unexpected (not written by this job)",
    "tombstone": "without value",
}


def findings(checks: Sequence[Check], topic: str) -> list[str]:
    """One sentence for each check that decided the verdict or might have; what is wrong comes first."""
    order = (ERROR, FAIL, INCONCLUSIVE)
    bad = sorted((check for check in checks if check.status in order), key=lambda check: order.index(check.status))
    return [_sentence(check, topic) for check in bad]


def _sentence(check: Check, topic: str) -> str:
    if check.places and check.name in _WORDS:
        count = check.difference
        unit = check.unit.removesuffix("s") if count == 1 else check.unit
        return f"topic {topic}: {count:,} {unit} {_WORDS[check.name]}: {_where(check.places)}"
    if isinstance(check.actual, str):
        return check.actual
    found = f"{check.title}: expected {check.expected}, found {check.actual} {check.unit}".rstrip()
    return f"{found}: {check.suggests}" if check.suggests else found


def _where(places: list[dict[str, Any]]) -> str:
    most = sorted(places, key=lambda place: (-place["records"], place["partition"]))
    parts = [_place(place) for place in sorted(most[:_SHOWN], key=lambda place: place["partition"])]
    rest = len(places) - len(parts)
    return "; ".join([*parts, *([f"{rest} more partition{'s' if rest > 1 else ''}"] if rest else [])])


def _place(place: dict[str, Any]) -> str:
    first, last = place["first"], place["last"]
    span = f"offset {first}" if first == last else f"offsets {first} to {last}"
    return f"partition {place['partition']}: {place['records']:,} ({span})"

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Changes in bulk: how much one request may carry, and what failed in its answer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from .errors import RequestFailedError, in_doubt

_Item = TypeVar("_Item")
#: The controller refuses a request of more than 10,000 records (QuorumController.MAX_RECORDS_PER_USER_OP).
MAX_RECORDS = 9_500


def parts(items: Iterable[_Item], size: int) -> Iterator[list[_Item]]:
    """Cut items into lists of at most C(size); order is kept."""
    listed = list(items)
    for start in range(0, len(listed), size):
        yield listed[start : start + size]


def batches(sizes: Iterable[tuple[str, int]]) -> Iterator[list[str]]:
    """Cut names, each with its number of records, into lists of at most MAX_RECORDS records; order is kept."""
    batch: list[str] = []
    total = 0
    for name, size in sizes:
        if batch and total + size > MAX_RECORDS:
            yield batch
            batch, total = [], 0
        batch.append(name)
        total += size
    if batch:
        yield batch


def refused(judged: Iterable[tuple[str, str, str]]) -> list[str]:
    """Say what Kafka refuses, a sentence each, of (what, Kafka's error name, why), asked before any change.

    Raises RequestFailedError when one of them is no refusal: nothing, or nothing clear, was answered.
    """
    listed = list(judged)
    for what, code, why in listed:
        if in_doubt(code):
            raise RequestFailedError("no clear answer about", what, code, f"{why}; nothing was changed", unsent=True)
    return [f"{what}: refused by Kafka: {why} ({code})." for what, code, why in listed]


def failures(outcome: Mapping[_Item, Any]) -> dict[_Item, tuple[str, str]]:
    """Return what failed in the answer to a request about many things: Kafka's error name and why, by thing."""
    return {name: error for name, error in outcome.items() if error is not None}

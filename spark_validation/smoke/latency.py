"""A latency histogram that merges, and the percentiles read from it. Pure; all values in milliseconds.

Bucket b holds exactly b ms up to 63; from 64 ms on, 16 buckets per doubling (a percentile is right to 4.5 %). Bucket -1
holds negative values: two clocks that differ.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import math
from collections.abc import Mapping

EXACT = 64
PER_DOUBLING = 16
SKEWED = -1
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)


def bucket_of(latency_ms: int) -> int:
    """The bucket of a value; `audit.py` says the same in Spark SQL, and a test compares them."""
    if latency_ms < 0:
        return SKEWED
    if latency_ms < EXACT:
        return latency_ms
    return math.floor(EXACT + PER_DOUBLING * math.log2(latency_ms / EXACT))


def upper_bound(bucket: int) -> float:
    """The largest value that falls into a bucket (0 for the skewed one)."""
    if bucket < EXACT:
        return float(max(0, bucket))
    return float(math.ceil(EXACT * 2 ** ((bucket + 1 - EXACT) / PER_DOUBLING)) - 1)


def percentile(counts: Mapping[int, int], percent: float) -> float | None:
    """The smallest bucket bound that at least `percent` of the values do not exceed; None without values."""
    total = sum(counts.values())
    seen = 0
    for bucket in sorted(counts):
        seen += counts[bucket]
        if seen * 100 >= percent * total:
            return upper_bound(bucket)
    return None


def summary(counts: Mapping[int, int], total_ms: int, least_ms: int | None, most_ms: int | None) -> dict[str, object]:
    """Figures of one histogram for result.json; `total_ms` is the sum of all values."""
    values = sum(counts.values())
    figures: dict[str, object] = {"unit": "ms", "count": values, "min": least_ms, "max": most_ms}
    figures["mean"] = round(total_ms / values, 3) if values else None
    for percent in PERCENTILES:
        bound = percentile(counts, percent)
        figures[f"p{percent:g}"] = bound if bound is None or most_ms is None else min(bound, float(most_ms))
    figures["histogram"] = [{"up_to": upper_bound(bucket), "count": counts[bucket]} for bucket in sorted(counts)]
    return figures

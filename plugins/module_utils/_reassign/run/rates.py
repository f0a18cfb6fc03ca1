# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How fast partitions are written, from two looks at where their logs end and how big they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key


@dataclass(frozen=True)
class Sample:
    """One look: log end offsets and bytes of the leaders' logs by partition, and when it was taken, in seconds."""

    at: float
    offsets: Mapping[Key, int]
    sizes: Mapping[Key, int]


def write_rates(first: Sample, second: Sample) -> dict[Key, float]:
    """Bytes a second that each partition grows by, of those that both looks know.

    Sizes alone would miss what retention deletes meanwhile, offsets alone do not tell bytes: a log that has got
    records and not grown is taken to have records of its mean size.
    """
    seconds = second.at - first.at
    found = {}
    for key, end in second.offsets.items():
        if key not in first.offsets or seconds <= 0:
            continue
        records = end - first.offsets[key]
        size = second.sizes.get(key, 0)
        grown = size - first.sizes.get(key, size)
        if records <= 0:
            grown = 0
        elif grown <= 0:
            grown = round(records * size / end)
        found[key] = grown / seconds
    return found


def with_rates(snapshot: Mapping[str, Any], rates: Mapping[Key, float]) -> dict[str, Any]:
    """A snapshot as cluster_info returns it, with the rates of partitions put in."""
    topics = [
        {
            **topic,
            "partitions": [
                {**one, "write_rate": rates[topic["name"], one["partition"]]}
                if (topic["name"], one["partition"]) in rates
                else one
                for one in topic["partitions"]
            ],
        }
        for topic in snapshot["topics"]
    ]
    return {**snapshot, "topics": topics}

"""Put together what is known of moves of partitions, out of what health is judged by. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import InFlight
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import State


def moves_of(state: State) -> dict[str, Any]:
    """Return the moves of a cluster as plain data.

    Returns:
        C(known), whether moves were told; C(partitions), those under way, sorted; C(recorded), how many partitions the
        record of an unfinished run has, None without one; C(throttles) that no record tells of. A partition has
        C(topic), C(partition), the brokers C(from) which and C(to) which it moves, those C(adding) and C(removing),
        C(size_bytes) and the C(copied_bytes) of the new broker that has the fewest, both None where they are unknown.
    """
    sizes = {
        (topic["name"], one["partition"]): one.get("size_bytes")
        for topic in (state.info or {}).get("topics") or ()
        for one in topic.get("partitions") or ()
    }
    return {
        "known": state.in_flight is not None,
        "partitions": [
            _move(one, sizes.get(key), state.copied.get(key, {}))
            for key, one in sorted((state.in_flight or {}).items())
        ],
        "recorded": state.recorded,
        "throttles": [dict(one) for one in state.throttles],
    }


def _move(one: InFlight, size: int | None, copied: Mapping[int, int]) -> dict[str, Any]:
    return {
        "topic": one.topic,
        "partition": one.index,
        "from": [*one.original],
        "to": [*one.target],
        "adding": sorted(one.adding),
        "removing": sorted(one.removing),
        "size_bytes": size,
        "copied_bytes": _least(one.adding, copied),
    }


def _least(adding: Iterable[int], copied: Mapping[int, int]) -> int | None:
    """Return the bytes of the new broker that has the fewest; None without a new broker, or where one did not tell."""
    found = [copied.get(broker) for broker in adding]
    known = [count for count in found if count is not None]
    return min(known) if known and len(known) == len(found) else None

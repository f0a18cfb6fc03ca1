"""The last data record below an end offset: control and aborted records take offsets that no reader ever sees.

Found from the end backwards in growing steps, for all partitions at once; what is read is at most four times what lies
between that record and the end, and no more than one fetch of it is in memory.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from typing import Any

from spark_validation.core.cluster import Place
from spark_validation.core.errors import CannotRunError, asked
from spark_validation.core.fields import Reach
from spark_validation.core.session import client_properties

_BYTES = "org.apache.kafka.common.serialization.ByteArrayDeserializer"
_FIRST_STEP, _GROWTH = 4, 4


def frontiers(java: Any, alias: str, reach: Reach, ranges: dict[Place, tuple[int, int]]) -> dict[Place, int | None]:
    """Ranges (start, end) by partition -> the last offset with a committed record in it, None when there is none."""
    fixed = {
        "key.deserializer": _BYTES,
        "value.deserializer": _BYTES,
        "isolation.level": "read_committed",
        "allow.auto.create.topics": "false",
        "enable.auto.commit": "false",
        "auto.offset.reset": "none",
        "max.partition.fetch.bytes": "131072",
    }
    made = java.org.apache.kafka.clients.consumer.KafkaConsumer
    consumer = asked(f"connection to cluster {alias}", made, {**client_properties(reach), **fixed})
    try:
        return _Search(java, alias, consumer, 6.0 * reach.timeout_seconds).run(ranges)
    finally:
        consumer.close(java.java.time.Duration.ofSeconds(2))


class _Search:
    def __init__(self, java: Any, alias: str, consumer: Any, patience: float) -> None:
        self._java, self._alias, self._consumer, self._patience = java, alias, consumer, patience

    def run(self, ranges: dict[Place, tuple[int, int]]) -> dict[Place, int | None]:
        """All frontiers."""
        found: dict[Place, int | None] = {place: None for place, (start, end) in ranges.items()}
        step = _FIRST_STEP
        # What is left to look at of each partition, from its end backwards.
        left = {place: span for place, span in ranges.items() if span[0] < span[1]}
        while left:
            windows = {place: (max(start, end - step), end) for place, (start, end) in left.items()}
            found.update(self._last(windows))
            left = {
                place: (left[place][0], low)
                for place, (low, _high) in windows.items()
                if found[place] is None and low > left[place][0]
            }
            step *= _GROWTH
        return found

    def _last(self, windows: dict[Place, tuple[int, int]]) -> dict[Place, int | None]:
        """The last record in each window."""
        partition = self._java.org.apache.kafka.common.TopicPartition
        known = {place: partition(*place) for place in windows}
        assigned = list(known.values())
        self._consumer.assign(assigned)
        # A partition that stays assigned also stays paused, as the step before left it.
        self._consumer.resume(assigned)
        for place, (low, _high) in windows.items():
            self._consumer.seek(known[place], low)
        found: dict[Place, int | None] = {}
        at = {place: low for place, (low, _high) in windows.items()}
        open_still = set(windows)
        moved, reached = time.monotonic(), sum(at.values())
        while open_still:
            records = self._polled()
            for place in list(open_still):
                high = windows[place][1]
                last = _last_below(records.records(known[place]), high)
                if last is not None:
                    found[place] = last
                at[place] = int(self._consumer.position(known[place]))
                if at[place] >= high:
                    open_still.discard(place)
                    self._consumer.pause([known[place]])
            # Also aborted records, which nobody sees, move the position.
            if sum(at.values()) > reached:
                moved, reached = time.monotonic(), sum(at.values())
            if time.monotonic() - moved > self._patience:
                topic, index = min(open_still)
                why = f"partition {index} of topic {topic} gives no records for {self._patience:.0f} s"
                raise CannotRunError(f"cluster {self._alias}", why)
        return found

    def _polled(self) -> Any:
        wait = self._java.java.time.Duration.ofMillis(500)
        return asked(f"read the ends of topics of cluster {self._alias}", self._consumer.poll, wait)


def _last_below(records: Any, high: int) -> int | None:
    for place in range(int(records.size()) - 1, -1, -1):
        offset = int(records.get(place).offset())
        if offset < high:
            return offset
    return None

"""How far the mirror itself says it has come, by partition of the source."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Protocol

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.cluster import KafkaCluster, Place
from spark_validation.core.read import Reader

# The connector's name in the dedicated mode of MirrorMaker 2, first part of the key of its offsets (KIP-382, KIP-618).
_CONNECTOR = "MirrorSourceConnector"


class Positions(Protocol):
    """Where the mirror is."""

    def look(self) -> dict[Place, int]:
        """The offset of the last mirrored record of each partition that has a position."""


class OffsetsTopic:
    """MirrorMaker 2: JSON records of its offsets topic on the target, read on from where the last look ended."""

    def __init__(self, cluster: KafkaCluster, topic: str, source: str, read: Reader) -> None:
        """`source` is the alias that the records must name."""
        self._cluster, self._topic, self._source, self._read = cluster, topic, source, read
        self._seen: dict[int, int] = {}
        self._known: dict[Place, int] = {}

    def look(self) -> dict[Place, int]:
        """The positions now; none while the topic does not exist."""
        topic = self._cluster.topics([self._topic]).get(self._topic)
        if topic is None:
            return {}
        places = [(self._topic, index) for index in range(topic.partitions)]
        starts, ends = self._cluster.starts(places), self._cluster.ends(places)
        fresh = {}
        for place in places:
            start, end = max(starts[place], self._seen.get(place[1], 0)), ends[place]
            if start < end:
                fresh[place[1]] = (start, end)
            self._seen[place[1]] = max(start, end)
        if fresh:
            latest = last_by_key(self._read({self._topic: fresh}))
            self._known = taken(self._known, ((row["key"], row["value"]) for row in latest.collect()), self._source)
        return dict(self._known)


class Group:
    """The legacy engine: the offsets that its consumer group has committed on the source."""

    def __init__(self, cluster: KafkaCluster, group: str) -> None:
        self._cluster, self._group = cluster, group

    def look(self) -> dict[Place, int]:
        """The positions now; a group commits the next offset, the last mirrored one stands before it."""
        return {place: offset - 1 for place, offset in self._cluster.committed(self._group).items()}


def last_by_key(rows: DataFrame) -> DataFrame:
    """The last key and value of each key of a compacted topic: as many rows as the mirror has partitions."""
    last = F.max_by(F.struct("key", "value"), F.col("offset")).alias("last")
    return rows.groupBy("key").agg(last).select("last.key", "last.value")


def taken(known: dict[Place, int], records: Iterable[tuple[Any, Any]], source: str) -> dict[Place, int]:
    """Positions with what newer records say; a record without a value takes one back. Other connectors' are skipped."""
    positions = dict(known)
    for key, value in records:
        place = _place(key, source)
        if place is None:
            continue
        offset = _offset(value)
        if offset is None:
            positions.pop(place, None)
        else:
            positions[place] = offset
    return positions


def _place(key: Any, source: str) -> Place | None:
    try:
        connector, partition = json.loads(bytes(key))
        if connector == _CONNECTOR and partition["cluster"] == source:
            return str(partition["topic"]), int(partition["partition"])
    except (TypeError, ValueError, KeyError):
        pass
    return None


def _offset(value: Any) -> int | None:
    try:
        return int(json.loads(bytes(value))["offset"])
    except (TypeError, ValueError, KeyError):
        return None

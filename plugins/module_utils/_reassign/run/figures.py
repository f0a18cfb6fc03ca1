# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How far a reassignment is, in figures: moves, bytes, who is behind, which partition is slowest."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key, named
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record, Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import Look, Standing, behind

#: How many partitions a list of a result names at most.
SHOWN = 20


def progress(
    record: Record,
    look: Look,
    standing: Standing,
    copied: Mapping[int, Mapping[Key, int]],
    held: Mapping[Key, str] | None = None,
) -> dict[str, Any]:
    """The figures. C(copied): by broker the bytes that its new replicas of moving partitions have by now.

    C(held): partitions that must not begin yet, and why.
    """
    rows = record.rows
    open_rows = {row.key: _copied(row, look, copied) for row in standing.moving}
    finished = [*standing.done, *standing.deleted, *standing.syncing]
    slowest = max(standing.moving, key=lambda row: (_bytes(row) - open_rows[row.key], row.key), default=None)
    late = behind((*standing.moving, *standing.syncing, *standing.held), look)
    return {
        "batches_total": len(record.batches),
        "batches_done": standing.number,
        "partitions_total": len(rows),
        "partitions_done": len(standing.done) + len(standing.deleted),
        "moves_total": sum(row.moves for row in rows),
        "moves_done": sum(row.moves for row in finished),
        "bytes_total": sum(map(_bytes, rows)),
        "bytes_done": sum(map(_bytes, finished)) + sum(open_rows.values()),
        "in_flight": named(row.key for row in standing.moving)[:SHOWN],
        "in_flight_total": len(standing.moving),
        "not_begun": len(standing.submit) + len(standing.held) + len(standing.later),
        "held": {named([key])[0]: why for key, why in list((held or {}).items())[:SHOWN]},
        "held_total": len(held or {}),
        "taken": named(row.key for row in standing.taken)[:SHOWN],
        "slowest": None
        if slowest is None
        else {"partition": named([slowest.key])[0], "bytes": _bytes(slowest), "bytes_done": open_rows[slowest.key]},
        "behind": [
            {
                "broker": broker,
                "alive": broker in look.alive,
                "partitions": named(keys)[:SHOWN],
                "partitions_total": len(keys),
            }
            for broker, keys in sorted(late.items())
        ],
    }


def _bytes(row: Row) -> int:
    return row.bytes * row.moves


def _copied(row: Row, look: Look, copied: Mapping[int, Mapping[Key, int]]) -> int:
    """Bytes of a moving partition that are there; a log that grows is not counted beyond what was planned."""
    adding = look.in_flight[row.key].adding
    return sum(min(row.bytes, copied.get(broker, {}).get(row.key, 0)) for broker in adding)

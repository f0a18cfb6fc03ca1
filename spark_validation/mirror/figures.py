"""Figures of a comparison for result.json, from which alone the report is drawn. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from spark_validation.mirror.seen import CHANGED, DUPLICATED, LOST, PHANTOM, Compared, Scope

# So many partitions and topics stand in a result; their sums are of all.
_SHOWN = 500


def frozen(scopes: list[Scope]) -> list[dict[str, Any]]:
    """The frozen offsets by partition, ends excluded; since: the offsets of the mark from which on they were read."""
    return [
        {
            "topic": scope.source,
            "mirror": scope.target,
            "partition": span.partition,
            "source": list(span.source) if span.source else None,
            "frontier": span.frontier,
            "target": list(span.target) if span.target else None,
            "since": list(span.since) if span.since else None,
        }
        for scope in scopes
        for span in scope.spans
    ][:_SHOWN]


def of_comparison(seen: Compared, scopes: list[Scope]) -> dict[str, Any]:
    """The table of topics, worst first, records along their own time, and sums."""
    topics = [_topic(seen, scope) for scope in scopes]
    topics.sort(key=lambda row: (-sum(row[kind] for kind in (LOST, PHANTOM, CHANGED)), row["source"]))
    sums = list(seen.pairs.values())
    return {
        "topics": topics[:_SHOWN],
        "buckets": seen.slots,
        "cells": {"all": seen.cells, "unequal": seen.unequal_cells},
        "total": {
            "topics": len(scopes),
            "records": sum(pair.get("n_a", 0) + pair.get("n_c", 0) for pair in sums),
            "mirrored": sum(pair.get("n_t", 0) for pair in sums),
            "bytes": sum(pair.get("bytes_a", 0) + pair.get("bytes_c", 0) for pair in sums),
        },
    }


def _topic(seen: Compared, scope: Scope) -> dict[str, Any]:
    counted = seen.pairs.get(scope.number, {})
    kinds = {
        kind: seen.kinds[kind].by_pair.get(scope.number, 0) if kind in seen.kinds else 0
        for kind in (LOST, PHANTOM, CHANGED, DUPLICATED)
    }
    return {
        "source": scope.source,
        "target": scope.target,
        "partitions": len(scope.spans),
        "compared_by": _compared_by(seen, scope),
        "records": counted.get("n_a", 0),
        "beyond": counted.get("n_c", 0),
        "mirrored": counted.get("n_t", 0),
        **kinds,
    }


def _compared_by(seen: Compared, scope: Scope) -> str:
    if scope.compacted:
        return "latest value of each key"
    if scope.timeless:
        return "every record, without its time"
    renewed = len(seen.renewed & scope.parts.keys())
    return (
        f"every record; in {renewed:,} of {len(scope.spans):,} partitions only what is new"
        if renewed
        else "every record"
    )

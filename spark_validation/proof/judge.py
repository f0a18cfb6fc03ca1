"""From what was read to checks and figures. Pure.

The job says what is there. Whether a record is missing is said by whoever has the ledger of the proof.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from spark_validation.core.cluster import Place
from spark_validation.core.result import INCONCLUSIVE, PASS, Check, none_of
from spark_validation.proof.counts import Counted


def judge_settled(unsettled: list[Place], ends: Mapping[Place, int]) -> Check:
    """Judge whether the end could be read: behind an open transaction nothing is readable."""
    return none_of(
        "settled",
        "Every transaction in the topic has ended",
        "partitions",
        len(unsettled),
        [{"partition": place[1], "read_up_to": ends[place]} for place in unsettled],
        "records behind an open transaction cannot be read; the coordinator ends it after its timeout, then run again",
        status=INCONCLUSIVE,
    )


def judge_found(counted: list[Counted], proof: str) -> Check:
    """Judge whether the topic holds this proof at all."""
    records = sum(one.records for one in counted)
    return Check(
        "found",
        f"The topic holds records of proof {proof}",
        PASS if records else INCONCLUSIVE,
        expected="at least 1",
        actual=records,
        unit="records",
        suggests="" if records else "the topic is that of another proof, or its records were deleted",
    )


def figures(counted: list[Counted], others: int) -> dict[str, Any]:
    """The counts by partition and kind, and their sums."""
    total = {
        "records": sum(one.records for one in counted),
        "others": others,
        "partitions": len({one.partition for one in counted}),
        "out_of_order": sum(one.out_of_order for one in counted),
    }
    return {"proof": [asdict(one) for one in counted], "total": total}


def covered(counted: list[Counted], others: int, proof: str, topic: str, unsettled: list[Place]) -> list[str]:
    """Return what was read and what was left out, in sentences."""
    records = sum(part.records for part in counted)
    partitions = len({part.partition for part in counted})
    lines = [f"read topic {topic}: {records:,} records of proof {proof} in {partitions:,} partitions"]
    if others:
        lines.append(f"left out: {others:,} records that are not of this proof")
    if unsettled:
        lines.append(f"left out: what stands behind an open transaction in {len(unsettled):,} partitions")
    return lines

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The digest of a plan, by which a run carries out the plan that was approved and no other. Pure.

It is of what a plan does: the cluster, and each partition with its replicas from and to. Sizes, rates, reasons and the
schedule are not in it, since they differ from one look to the next while the moves are the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

#: The form of a digest: PARTITIONS-MOVES-SHA256.
FORM = re.compile(r"([0-9]+)-([0-9]+)-[0-9a-f]{64}")


def plan_digest(cluster_id: str, changes: Iterable[Mapping[str, Any]]) -> str:
    """Make the digest of changes as the module returns them: PARTITIONS-MOVES-SHA256.

    Both counts stand in it so that a refusal can tell how the approved plan differs. The order of the changes does not
    matter; that of the replicas of a partition does, since the first one is the preferred leader.
    """
    rows = sorted([one["topic"], one["partition"], list(one["from"]), list(one["to"])] for one in changes)
    text = json.dumps([cluster_id, rows], separators=(",", ":"), ensure_ascii=True)
    moves = sum(len(set(to) - set(had)) for _topic, _partition, had, to in rows)
    return f"{len(rows)}-{moves}-{hashlib.sha256(text.encode()).hexdigest()}"


def digests_in(text: str | None) -> list[str]:
    """List the digests in a text, where commas or blanks part those of several clusters; empty text has none."""
    return [one for one in re.split(r"[\s,]+", text or "") if one]


def refusal(expected: str | None, found: str) -> str | None:
    """Say why the plan of now is not one of those that were approved; None where it is, or where none was asked for.

    A plan that changes nothing is never refused: a run that is repeated after it has ended finds nothing left to do.
    """
    approved = digests_in(expected)
    if not approved or found in approved or found.startswith("0-"):
        return None
    broken = [one for one in approved if not FORM.fullmatch(one)]
    if broken:
        return (
            f"kafka_plan_digest (expected_digest) has {broken[0][:80]!r}, which is no digest of a plan. fix: give "
            "plan_digest as a run with plan_only=true shows it, or leave the variable empty to run without an approval"
        )
    then = " or ".join(_counted(one) for one in approved)
    return (
        "this is not the plan that was approved (kafka_plan_digest, expected_digest): the approved one changes "
        f"{then}, the plan of now {_counted(found)}"
        f"{', but other ones' if _counted(found) == then else ''}. Since then brokers, disks, topics, replicas in sync "
        "or the options of the run have changed. fix: run it with plan_only=true, look at the new plan, and give its "
        "digest; or leave kafka_plan_digest empty to carry out what is planned now"
    )


def _counted(digest: str) -> str:
    """The counts in a digest, for people."""
    if not FORM.fullmatch(digest):
        return "an unknown number of partitions"
    partitions, moves = map(int, digest.split("-")[:2])
    return f"{partitions} partition{'' if partitions == 1 else 's'} with {moves} move{'' if moves == 1 else 's'}"

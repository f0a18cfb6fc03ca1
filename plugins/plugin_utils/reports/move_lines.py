# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A planned reassignment in the few lines that a person reads before they agree. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...module_utils._core.progress import duration

#: How many partitions a summary shows; --diff shows all.
SHOWN = 10
_PROOFS = {
    "partition": "each partition alone needs as many",
    "count": "the brokers' counts ask for as many",
    "flow": "a minimum-cost flow needs as many",
    "in_sync": "a minimum-cost flow without the dropped replicas that are behind needs as many",
}
#: Instead of a bound of bytes that no plan can reach.
UNKEPT = "not every broker can keep its limit of bytes"

#: Why a broker stays above its limit of bytes, by WHY_ABOVE of the planner.
_ABOVE = {
    "stays": "partitions with a replica on a broker that is not alive hold more, and stay",
    "partition": "{partition} alone is greater",
    "racks": "the rack rule keeps its replicas there",
    "room": "no other broker has room for any of its replicas",
}


def move_lines(plan: Mapping[str, Any]) -> list[str]:
    """Return what a plan moves, why no fewer, and what it costs; the result of state applied in check mode."""
    if not plan.get("changes"):
        above = above_lines(plan)
        return ["Nothing to move." if above else "Nothing to move: everything is as specified.", *above]
    if "moves" not in plan:
        count = len(plan["changes"])
        return [f"An earlier run began this and has not ended: {count} partitions are left.", *_changes(plan)]
    seconds, batches = plan["schedule"]["seconds"], len(plan["schedule"]["batches"])
    return [
        f"{plan['moves']} replicas move ({megabytes(plan['bytes'])}), {_least(plan)}; "
        f"{plan['deletions']} replicas go, {plan['leader_changes']} preferred leaders change",
        f"{batches} batch{'' if batches == 1 else 'es'}, {_pace(plan['bytes'], seconds)}",
        *(_broker(one) for one in plan["brokers"]),
        *above_lines(plan),
        *_changes(plan),
        *(f"Throttle of unknown origin: {one['kind']} {one['name']} {one['key']}" for one in _left(plan)),
    ]


def _least(plan: Mapping[str, Any]) -> str:
    """Say how much less would do."""
    if plan["proof"] == "bytes" and plan.get("bytes_above"):
        return f"and {UNKEPT}"
    if plan["proof"] == "bytes":
        return f"and to keep all limits of bytes at least {megabytes(plan['bytes_bound'])} must move"
    return f"the fewest possible: {_PROOFS[plan['proof']]}"


def above_lines(plan: Mapping[str, Any]) -> list[str]:
    """Return a line for each broker that gets nothing or stays above its limit of bytes, with the reason."""
    return [
        *(
            f"broker {broker['id']} gets nothing: it is cordoned (cordoned.log.dirs); uncordon it where it shall get "
            "its share"
            for broker in plan.get("brokers") or ()
            if broker["state"] == "cordoned" and not broker["moves_out"]
        ),
        *(
            f"broker {broker} gets nothing: its disks have no room for what it would get; free space there or add disks"
            for broker in plan.get("no_room") or ()
        ),
        *_above_limit(plan),
    ]


def _above_limit(plan: Mapping[str, Any]) -> list[str]:
    return [
        f"broker {one['broker']} stays above its limit of {megabytes(one['limit_bytes'])} with "
        f"{megabytes(one['bytes'])}: {_ABOVE[one['why']].format(**one)}"
        for one in plan.get("bytes_above") or ()
    ]


def again_lines(done: Mapping[str, Any]) -> list[str]:
    """Return what a new plan for the goal of an ended run would change: a hint, no fault of that run."""
    seen = done.get("verified") or {}
    partitions, moves = seen.get("partitions_left"), seen.get("moves_left")
    if not partitions:
        return []
    return [
        f"All planned moves have ended. A new plan for the same goal would still change {partitions} "
        f"partition{'' if partitions == 1 else 's'} ({moves} move{'' if moves == 1 else 's'}), since it starts "
        "from the cluster and its disks as they are now. Run the playbook again to carry it out."
    ]


def megabytes(count: float | None) -> str:
    """Bytes as people read them, in decimal units."""
    if count is None:
        return "unknown size"
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def _pace(count: int | None, seconds: float | None) -> str:
    if count == 0:
        return "nothing to copy"
    return "as fast as they can" if seconds is None else f"about {duration(seconds)} under the throttle"


def _broker(one: Mapping[str, Any]) -> str:
    replicas, leaders = one["replicas"], one["leaders"]
    rack = f" in {one['rack']}" if one["rack"] else ""
    state = "" if one["state"] == "alive" else f", {one['state']}"
    return (
        f"broker {one['id']}{rack}{state}: replicas {replicas['from']} -> {replicas['to']}, "
        f"leaders {leaders['from']} -> {leaders['to']}, {one['moves_in']} in ({megabytes(one['bytes_in'])}), "
        f"{one['moves_out']} out"
    )


def _changes(plan: Mapping[str, Any]) -> list[str]:
    lines = [
        f"{one['topic']}-{one['partition']}: {one['from']} -> {one['to']} ({'; '.join(one['reasons'])})"
        for one in plan["changes"][:SHOWN]
    ]
    more = len(plan["changes"]) - len(lines)
    return [*lines, *([f"and {more} partitions more, which --diff shows"] if more > 0 else [])]


def _left(plan: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return list(plan.get("leftover_throttles") or ())

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How reassignments end: throttles restored, leaders elected, the record taken away; and states that only end."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._brokers.election_apply import ensure_leaders
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import min_insync_of
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Failures, Key, named
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    RefusedError,
    StreamopsError,
    WaitTimeoutError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.api import (
    alter_reassignments,
    read_record,
    write_record,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record, Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.report import decided
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.figures import progress
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import (
    copied_bytes,
    look_at,
    snapshot_now,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import (
    Look,
    Standing,
    cancellation,
    judge,
    ours,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle_apply import (
    leftover_throttles,
    restore,
)

#: Seconds between two looks, for an election, and for a cancelled move to be listed no more.
_PAUSE, _ELECTION, _CANCEL = 1.0, 30.0, 60.0
#: What a cluster without a record is judged by.
NOTHING = Record({}, ())


def end(session: Session, record: Record, look: Look, standing: Standing) -> dict[str, Any]:
    """Restore throttles, elect the preferred leaders of what was moved, and take the record away.

    Nothing of the record may be under way. What a broker that is down has not restored stays in the record.
    """
    left = restore(session, record, look.alive)
    elected = _elect(session, record, look)
    write_record(session, replace(left, batches=(), wish={}, stopped={}) if left.brokers else None)
    return {
        "changed": bool(record.batches) or len(left.brokers) < len(record.brokers),
        "stage": "stopped" if record.stopped else "done",
        "progress": progress(record, look, standing, {}),
        "refused": dict(record.stopped),
        "elected": elected,
        "throttles_left": sorted(int(broker) for broker in left.brokers),
    }


def _elect(session: Session, record: Record, look: Look) -> list[dict[str, Any]]:
    """Kafka itself would do it some minutes later, and only above 10 % imbalance."""
    wanted = [{"topic": row.topic, "partition": row.index} for row in record.rows if row.key in look.partitions]
    if not wanted:
        return []
    try:
        asked = {"broker": None, "partitions": wanted, "timeout": _ELECTION}
        elected: list[dict[str, Any]] = ensure_leaders(session, asked, False, False)["elected"]
    except StreamopsError:
        return []  # It comes by itself; a plan that is carried out does not fail for it.
    return elected


def finish(session: Session, params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """Wait for what the record has under way, begin nothing, then end the record. Works for C(interval) seconds.

    What somebody else moves is named, and awaited with C(foreign) wait.
    """
    record = read_record(session)
    until = time.monotonic() + params["interval"]
    while True:
        look = look_at(session)
        standing = judge(record or NOTHING, look)
        foreign = _foreign(record, look)
        facts: dict[str, Any] = {"foreign": foreign[:20], "foreign_total": len(foreign)}
        if check:
            return {**facts, "changed": record is not None, "stage": "planned", **_left(session, record, look)}
        awaited = look.in_flight if params["foreign"] == "wait" else ours(record or NOTHING, look)
        if not awaited:
            break
        if time.monotonic() >= until:
            if record is not None:
                facts["progress"] = progress(record, look, standing, copied_bytes(session, standing, look))
            return {**facts, "changed": False, "stage": "moving", "in_flight_total": len(awaited)}
        time.sleep(min(_PAUSE, params["interval"]))
    ended = {"changed": False, "stage": "done"} if record is None else end(session, record, look, standing)
    facts.update(ended, **_left(session, None, look), verified=_verified(session, record, look))
    return facts if facts["stage"] != "stopped" else {**facts, "stage": "done"}


def _left(session: Session, record: Record | None, look: Look) -> dict[str, Any]:
    return {"leftover_throttles": leftover_throttles(session, record, look.alive)}


def _verified(session: Session, record: Record | None, look: Look) -> dict[str, Any]:
    """What the planner says of the cluster now: what the wish of the record still asks for.

    None where there is no wish, or where somebody else moves partitions, among which no plan is sound.
    """
    snapshot = snapshot_now(session)
    partitions = [one for topic in snapshot["topics"] for one in topic["partitions"]]
    found = {"under_replicated": sum(len(one["isr"]) < len(one["replicas"]) for one in partitions), "moves_left": None}
    if record is not None and record.wish and not look.in_flight:
        # What is left is counted, not begun: whether disks have room for it is no question here.
        params = {**dict(record.wish), "concurrency": 1, "throttle": None, "disk_reserve": None}
        # A wish that cannot be planned any more, since its broker is gone for example, has nothing left to count.
        with contextlib.suppress(RefusedError):
            found["moves_left"] = decided(snapshot, params, registered_only=True)[0].moves
    return found


def cancel(session: Session, check: bool) -> dict[str, Any]:
    """Cancel what the record has under way, as far as enough replicas of before are in sync, and end the record."""
    record = read_record(session)
    look = look_at(session)
    foreign = _foreign(record, look)
    facts: dict[str, Any] = {"foreign": foreign[:20], "foreign_total": len(foreign)}
    if record is None:
        return {**facts, "changed": False, "stage": "done", "cancelled": [], "not_cancelled": {}}
    keys = ours(record, look)
    decision = cancellation(record, look, min_insync_of(session, {topic for topic, _index in keys}))
    diff = {
        "before": {named([key])[0]: list(keys[key].replicas) for key in decision.cancel},
        "after": {named([key])[0]: list(keys[key].original) for key in decision.cancel},
    }
    unsafe = {named([key])[0]: why for key, why in decision.unsafe.items()}
    if check:
        facts.update(cancelled=named(decision.cancel), not_cancelled=unsafe, diff=diff)
        return {**facts, "changed": True, "stage": "planned"}
    failed = alter_reassignments(session, dict.fromkeys(decision.cancel))
    unsafe.update(_refused(failed))
    facts.update(cancelled=named(set(decision.cancel) - set(failed)), not_cancelled=unsafe, diff=diff)
    look = _gone(session, set(decision.cancel) - set(failed))
    return {**facts, **_after_cancel(session, record, look)}


def _refused(failed: Failures) -> dict[str, str]:
    """What the cluster did not cancel; a move that ended by itself in the meantime is none to cancel any more."""
    return {named([key])[0]: why for key, (code, why) in failed.items() if code != "NO_REASSIGNMENT_IN_PROGRESS"}


def _after_cancel(session: Session, record: Record, look: Look) -> dict[str, Any]:
    """End the record, or keep of it what could not be cancelled: that goes on under its throttles."""
    moving = set(ours(record, look))
    if not moving:
        return end(session, replace(record, stopped={}), look, judge(record, look))
    kept: tuple[Row, ...] = tuple(row for row in record.rows if row.key in moving)
    write_record(session, replace(record, batches=(kept,)))
    return {"changed": True, "stage": "moving", "throttles_left": sorted(map(int, record.brokers))}


def _gone(session: Session, keys: set[Key]) -> Look:
    """The cluster when none of these is under way any more."""
    until = time.monotonic() + _CANCEL
    while True:
        look = look_at(session)
        left = sorted(keys & set(look.in_flight))
        if not left:
            return look
        if time.monotonic() >= until:
            raise WaitTimeoutError("reassignment", _CANCEL, named(left), "They were cancelled; run again.")
        time.sleep(_PAUSE)


def _foreign(record: Record | None, look: Look) -> list[str]:
    mine = ours(record, look) if record is not None else {}
    return named(key for key in look.in_flight if key not in mine)

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What each state of the module reassignment does, for one interval; the action plugin repeats it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..._client.connection import Connection, quick
from ..._client.session import Session
from ..._cluster.api import list_brokers, list_reassignments, min_insync_of, topics_at
from ..._cluster.snapshot import Broker, Failures, Key, named
from ..._core.addresses import host_port
from ..._core.errors import ClusterUnreachableError, RefusedError, RequestFailedError, StreamopsError, WaitTimeoutError
from ..._core.network import connect
from ..api import alter_reassignments, read_record, write_record
from ..figures import figures_of, planned
from ..record import Look, Record, cancellation, judge, ours, progress
from ..snapshot import snapshot_of_text
from ..spec import shown
from .look import copied_bytes, look_at, plan_now, verified
from .throttle import leftover_throttles
from .walk import PAUSE, apply, end

#: Seconds for a connection to a broker that may be down, and for a cancelled move to be listed no more.
_CONNECT, _CANCEL = 3.0, 60.0
#: What a cluster without a record is judged by.
NOTHING = Record({}, ())


def reassignment(module: Any) -> dict[str, Any]:
    """Do what the state asks for, on a cluster or on the file of a snapshot; return the module's result."""
    params = module.params
    if params["snapshot"]:
        return _on_file(params)
    return _on_cluster(Connection.from_params(params), params, module.check_mode)


def _on_file(params: Mapping[str, Any]) -> dict[str, Any]:
    """The plan from a file; raises RefusedError for a state that needs a cluster."""
    if params["state"] != "planned":
        raise RefusedError("Reassignment", [f"state: {params['state']} needs a cluster; a snapshot can be planned on"])
    return {"changed": False, **planned(snapshot_of_file(params["snapshot"]), params, registered_only=False)}


def snapshot_of_file(path: str) -> Any:
    """The data that a file holds; raises StreamopsError when it cannot be read or is not JSON."""
    try:
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        raise StreamopsError(f"snapshot {path}: cannot be read ({error}). Nothing was changed.") from error
    return snapshot_of_text(text, path)


def _on_cluster(connection: Connection, params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    state = params["state"]
    with Session(connection if state == "planned" else quick(connection)) as session:
        if state == "planned":
            _refuse_moving(session)
            return {"changed": False, **figures_of(*plan_now(session, params))}
        try:
            if state == "applied":
                return apply(session, params, check)
            return cancel(session, check) if state == "cancelled" else finish(session, params, check)
        except (ClusterUnreachableError, RequestFailedError) as error:
            unanswered = _not_answering(session)
            if not unanswered:
                raise
            stands = _what_stands(session)
            found = {"unanswered": unanswered, "stands": stands, "said": error.message}
            return {"changed": False, "stage": "unanswered", **found}


def _refuse_moving(session: Session) -> None:
    """Raise RefusedError while partitions are being moved.

    Replicas read in the middle of a move are those of before and after together; a plan made from them would raise the
    replication factor (KAFKA-10510).
    """
    moving = named(list_reassignments(session))
    if moving:
        raise RefusedError(
            "Reassignment",
            [f"{len(moving)} partition(s) are being moved now ({shown(moving)}); plan when that has ended"],
        )


# -- brokers that do not answer ----------------------------------------------------------------------------------


def _not_answering(session: Session) -> dict[str, str]:
    """The brokers that the cluster still takes for alive and that do not answer, and why; none where it cannot say.

    It notices some seconds later (broker.session.timeout.ms), and then moves go on without them.
    """
    found: dict[str, str] = {}
    with contextlib.suppress(StreamopsError):
        for broker in list_brokers(session):
            why = None if broker.fenced else _silence(session, broker)
            if why is not None:
                found[f"{broker.id} ({host_port(broker.host, broker.port)})"] = why
    return found


def _silence(session: Session, broker: Broker) -> str | None:
    try:
        connect(broker.host, broker.port, _CONNECT).close()
        topics_at(session, broker.id, ())
    except OSError as error:
        return str(error)
    except RequestFailedError as error:
        return error.why
    return None


def _what_stands(session: Session) -> dict[str, Any] | None:
    """Return what an earlier run has under way, and where throttles stand; None where it cannot be read."""
    try:
        record = read_record(session) or NOTHING
        moving = len(ours(record, look_at(session))) if record.rows else 0
        return {"in_flight_total": moving, "throttled": sorted(map(int, record.brokers))}
    except StreamopsError:
        return None


# -- state finished ----------------------------------------------------------------------------------------------


def finish(session: Session, params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """Wait for what the record has under way, begin nothing, then end the record. Works for C(interval) seconds.

    What somebody else moves is named, and awaited with C(foreign) wait.
    """
    record = read_record(session)
    until = time.monotonic() + params["interval"]
    while True:
        look = look_at(session)
        facts = _foreign(record, look)
        if check:
            leftover = leftover_throttles(session, record, look.alive)
            return {**facts, "changed": record is not None, "stage": "planned", "leftover_throttles": leftover}
        awaited = look.in_flight if params["foreign"] == "wait" else ours(record or NOTHING, look)
        if not awaited:
            break
        if time.monotonic() >= until:
            if record is not None:
                standing = judge(record, look)
                facts["progress"] = progress(record, look, standing, copied_bytes(session, standing, look))
            return {**facts, "changed": False, "stage": "moving", "in_flight_total": len(awaited)}
        time.sleep(min(PAUSE, params["interval"]))
    ended = {"changed": False} if record is None else end(session, record, look)
    leftover = leftover_throttles(session, None, look.alive)
    # What is left is counted, not begun: whether disks have room for it is no question here.
    judged = verified(session, record, look, reserve=None)
    return {**facts, **ended, "stage": "done", "leftover_throttles": leftover, "verified": judged}


def _foreign(record: Record | None, look: Look) -> dict[str, Any]:
    """Return what others move: the first 20 partitions and how many there are."""
    mine = ours(record or NOTHING, look)
    found = named(key for key in look.in_flight if key not in mine)
    return {"foreign": found[:20], "foreign_total": len(found)}


# -- state cancelled ---------------------------------------------------------------------------------------------


def cancel(session: Session, check: bool) -> dict[str, Any]:
    """Cancel what the record has under way, as far as enough replicas of before are in sync, and end the record."""
    record = read_record(session)
    look = look_at(session)
    facts = _foreign(record, look)
    if record is None:
        return {**facts, "changed": False, "stage": "done", "cancelled": [], "not_cancelled": {}}
    keys = ours(record, look)
    decision = cancellation(record, look, min_insync_of(session, {topic for topic, _index in keys}))
    facts["diff"] = {
        "before": {named([key])[0]: list(keys[key].replicas) for key in decision.cancel},
        "after": {named([key])[0]: list(keys[key].original) for key in decision.cancel},
    }
    unsafe = {named([key])[0]: why for key, why in decision.unsafe.items()}
    if check:
        facts.update(cancelled=named(decision.cancel), not_cancelled=unsafe)
        return {**facts, "changed": True, "stage": "planned"}
    failed = alter_reassignments(session, dict.fromkeys(decision.cancel))
    cancelled = set(decision.cancel) - set(failed)
    facts.update(cancelled=named(cancelled), not_cancelled={**unsafe, **_refused(failed)})
    return {**facts, **_after_cancel(session, record, _gone(session, cancelled))}


def _refused(failed: Failures) -> dict[str, str]:
    """Return what the cluster did not cancel; a move that ended meanwhile is none to cancel any more."""
    return {named([key])[0]: why for key, (code, why) in failed.items() if code != "NO_REASSIGNMENT_IN_PROGRESS"}


def _after_cancel(session: Session, record: Record, look: Look) -> dict[str, Any]:
    """End the record, or keep of it what could not be cancelled: that goes on under its throttles."""
    moving = set(ours(record, look))
    if not moving:
        return end(session, replace(record, stopped={}), look)
    kept = tuple(row for row in record.rows if row.key in moving)
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
        time.sleep(PAUSE)

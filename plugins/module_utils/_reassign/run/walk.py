# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Carries reassignments out. Every call looks at the cluster and at the record, does what is next, and tells how far
it is, so that a run can be cut at any point and the next one goes on: state is kept nowhere else.

The order in which things are written is what makes that so: the record before any throttle, throttles before any move,
and when all moves have ended throttles back to what they were before the record goes.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    list_reassignments,
    live_brokers,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key, named
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    RefusedError,
    RequestFailedError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.api import (
    alter_reassignments,
    claim_state,
    made_state_topic,
    read_record,
    read_state,
    write_record,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.json_form import WISHES
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import (
    KEY,
    Record,
    Row,
    record_of,
    same_wish,
    wish_kept,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.report import diff_of_changes, figures_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.end import end
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.figures import progress
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import copied_bytes, look_at
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.plan import plan_now, rows_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.room import not_yet
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import Standing, copies, judge, ours
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle_apply import (
    leftover_throttles,
    throttle,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.spec import shown

SUBJECT = "Reassignment"
#: Seconds between two looks.
_PAUSE = 1.0


def apply(session: Session, params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """Go on with the reassignment that is recorded, or plan one and begin it; work for C(interval) seconds.

    Returns C(stage): planned (check mode), waiting (for reassignments of others), moving, done or stopped.
    """
    kept, end_offset = read_state(session, KEY)
    record = record_of(kept)
    if record is not None and record.batches:
        _same_wish(record, params)
        return _foreseen(session, record) if check else drive(session, record, params)
    waiting = _others(session, params)
    if waiting:
        return waiting
    plan, order = plan_now(session, params)
    found = figures_of(plan, order)
    found["leftover_throttles"] = leftover_throttles(session, record, live_brokers(session))
    if not plan.changes:
        found.update(_nothing(session, record, check))
    elif check:
        found.update(changed=True, stage="planned")
    else:
        refuse_too_long(order.seconds, params["timeout"], params["throttle"])
        priors = dict(record.brokers) if record is not None else {}
        begun = _begun(session, Record(wish_kept(params, WISHES), rows_of(plan, order), priors, {}), end_offset)
        if begun is None:
            return apply(session, params, check)
        found.update(_driven_first(session, begun, params))
    return found


def _begun(session: Session, record: Record, end_offset: int) -> Record | None:
    """Write the record before anything is touched; None where the plan behind it does not hold any more.

    That is so when the topic of the record had to be made, since the replicas of that topic belong into the plan, and
    when somebody else was first: then their record holds.
    """
    if made_state_topic(session):
        return None
    return record if record_of(claim_state(session, KEY, record.as_data(), end_offset)) == record else None


def _driven_first(session: Session, record: Record, params: Mapping[str, Any]) -> dict[str, Any]:
    """The first drive of a record. If it fails (a right may be missing), the record ends where nothing is under way."""
    try:
        return drive(session, record, params)
    except RequestFailedError:
        _give_up(session)
        raise


def refuse_too_long(seconds: float | None, timeout: int, throttle: int) -> None:
    """Raise RefusedError for a plan that cannot end in time, as far as that is known."""
    if seconds is not None and seconds > timeout:
        raise RefusedError(
            SUBJECT,
            [
                f"timeout: the plan takes about {math.ceil(seconds)} s at a throttle of {throttle} bytes/s, and "
                f"timeout is {timeout} s. Raise timeout (kafka_resources_move_timeout) above {math.ceil(seconds)}, or "
                "raise throttle (kafka_resources_move_throttle) as far as disks and network allow. Then keep the run "
                "going: if it is cut, run the same again, which goes on where it was"
            ],
        )


def drive(session: Session, record: Record, params: Mapping[str, Any]) -> dict[str, Any]:
    """Do what is next until all is done or C(interval) seconds have passed."""
    until = time.monotonic() + params["interval"]
    throttled = False
    held: dict[Key, str] = {}
    while True:
        look = look_at(session)
        standing = judge(record, look)
        if standing.complete or (record.stopped and not ours(record, look)):
            return end(session, record, look, standing)
        _refuse_taken(standing, params)
        fresh = [row for row in standing.submit if row.key not in held]
        if fresh or not throttled:
            record = throttle(session, record, copies(standing.batch, look), look.alive, params["throttle"])
            throttled = True
        if fresh and not record.stopped:
            held.update(not_yet(session, fresh, look, params["disk_reserve"]))
            record = _submit(session, record, [row for row in fresh if row.key not in held])
        elif time.monotonic() >= until:
            figures = progress(record, look, standing, copied_bytes(session, standing, look), held)
            return {"changed": True, "stage": "moving", "progress": figures, "refused": dict(record.stopped)}
        time.sleep(min(_PAUSE, params["interval"]))


def _give_up(session: Session) -> None:
    """End the record if nothing of it is under way."""
    with contextlib.suppress(StreamopsError):
        record = read_record(session)
        look = look_at(session)
        if record is not None and not ours(record, look):
            end(session, record, look, judge(record, look))


def _submit(session: Session, record: Record, rows: Sequence[Row]) -> Record:
    """Begin the moves that are next. Those that the cluster refuses stop the record: nothing more is begun."""
    failed = alter_reassignments(session, {row.key: row.replicas for row in rows})
    if failed:
        record = replace(record, stopped={named([key])[0]: f"{why} ({code})" for key, (code, why) in failed.items()})
        write_record(session, record)
    return record


def _foreseen(session: Session, record: Record) -> dict[str, Any]:
    """What check mode says of a record that an earlier run left: what is still to be done of it."""
    look = look_at(session)
    standing = judge(record, look)
    open_rows = [row for row in record.rows if row not in standing.done and row.key in look.partitions]
    changes = [
        {
            "topic": row.topic,
            "partition": row.index,
            "from": list(look.partitions[row.key].replicas),
            "to": list(row.replicas),
            "bytes": row.bytes * row.moves,
            "reasons": ["an earlier run began it"],
        }
        for row in open_rows
    ]
    figures, diff = progress(record, look, standing, {}), diff_of_changes(changes)
    return {"changed": True, "stage": "planned", "progress": figures, "changes": changes, "diff": diff}


def _nothing(session: Session, record: Record | None, check: bool) -> dict[str, Any]:
    """Nothing to move. An earlier run may have left throttles to restore, of brokers that were down."""
    if record is None:
        return {"changed": False, "stage": "done"}
    if check:
        return {"changed": True, "stage": "planned"}
    look = look_at(session)
    return end(session, record, look, judge(record, look))


def _others(session: Session, params: Mapping[str, Any]) -> dict[str, Any] | None:
    """What to return while reassignments of others are under way; planning among them is unsound (KAFKA-10510)."""
    flying = named(list_reassignments(session))
    if not flying:
        return None
    if params["foreign"] == "wait":
        return {"changed": False, "stage": "waiting", "foreign": flying[:20], "foreign_total": len(flying)}
    raise RefusedError(
        SUBJECT,
        [
            f"{len(flying)} partitions are being moved by another tool ({shown(flying)}), which this module never "
            "cancels. Set foreign: wait, or run again when these moves have ended"
        ],
    )


def _refuse_taken(standing: Standing, params: Mapping[str, Any]) -> None:
    """Somebody moves partitions of this reassignment elsewhere: theirs goes on, ours waits for it or gives up."""
    if standing.taken and params["foreign"] == "refuse":
        names = shown(named(row.key for row in standing.taken))
        raise RefusedError(
            SUBJECT,
            [
                f"another tool moves {len(standing.taken)} of its partitions elsewhere ({names}). The moves that this "
                "reassignment began go on under its throttles. Set foreign: wait and run again, or set state: cancelled"
            ],
        )


def _same_wish(record: Record, params: Mapping[str, Any]) -> None:
    wish = wish_kept(params, WISHES)
    if not same_wish(record.wish, wish):
        raise RefusedError(
            SUBJECT,
            [
                f"an earlier reassignment has not ended: it was {dict(record.wish)}, this one is {wish}. Run the "
                "earlier one again to go on with it, or end it with the module streamops.kafka.reassignment, the same "
                "bootstrap_servers and security options, and state: finished (moves under way arrive) or state: "
                "cancelled (moves under way go back), for example: ansible localhost -m streamops.kafka.reassignment "
                "-a 'bootstrap_servers=HOST:PORT state=finished'"
            ],
        )

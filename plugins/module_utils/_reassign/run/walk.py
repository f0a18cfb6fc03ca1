# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Carries reassignments out. Every call looks at the cluster and at the record, does what is next, and reports how far
it is, so that a run can be cut at any point and the next one goes on: state is kept nowhere else.

The record says which of three states a reassignment is in:

none, or no batches    Nothing is under way: plan, and write the record before anything is touched.
batches that are open  drive: record what throttles were, set them, and only then begin the moves of a batch.
all done, or stopped   end: restore throttles, elect leaders, and only then take the record away.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..._client.session import Session
from ..._cluster.snapshot import Key, named
from ..._core.errors import RefusedError, RequestFailedError, StreamopsError
from ..._state.api import claim_state, read_state
from ..._topics.api import made_state_topic
from ..api import alter_reassignments, elect_leaders, read_record, write_record
from ..digest import digests_in, refusal
from ..figures import diff_of_changes, figures_of
from ..json_form import same_spec, spec_kept
from ..record import KEY, Look, Record, Row, Standing, copies, judge, ours, progress, record_of
from ..spec import shown
from .look import copied_bytes, look_at, not_yet, plan_now, rows_of, verified
from .throttle import leftover_throttles, restore, throttle

#: Seconds between two looks.
PAUSE = 1.0


def apply(session: Session, params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """Go on with the reassignment that is recorded, or plan one and begin it; work for C(interval) seconds.

    Returns C(stage): planned (check mode), waiting (for reassignments of others), moving, done or stopped.
    """
    kept, end_offset = read_state(session, KEY)
    record = record_of(kept)
    if record is not None and record.batches:
        _refuse_other_spec(record, params)
        _refuse_other_plan(record.digest, params)
        return _still_to_do(record, look_at(session)) if check else drive(session, record, params)
    look = look_at(session)
    if look.in_flight:
        return _waiting(look, params)
    plan, order = plan_now(session, params, params.get("coming") or () if check else ())
    found = figures_of(plan, order)
    found["leftover_throttles"] = leftover_throttles(session, record, look.alive)
    if not plan.changes and record is None:
        found.update(changed=False, stage="done")
    elif check:
        _refuse_other_plan(found["plan_digest"], params)
        found.update(changed=True, stage="planned")
    elif not plan.changes and record is not None:
        # An earlier run left throttles to restore, of brokers that were down.
        found.update(end(session, record, look_at(session)))
    else:
        _refuse_other_plan(found["plan_digest"], params)
        refuse_too_long(order.seconds, params["timeout"], params["throttle"])
        priors = dict(record.brokers) if record is not None else {}
        begun = Record(spec_kept(params), rows_of(plan, order), priors, digest=found["plan_digest"])
        if not _begun(session, begun, end_offset, approved=bool(digests_in(params["expected_digest"]))):
            return apply(session, params, check)
        found.update(_driven_first(session, begun, params))
    return found


def _begun(session: Session, record: Record, end_offset: int, approved: bool) -> bool:
    """Write the record before anything is touched; False where the plan behind it does not hold any more.

    That is so when the topic of the record had to be made, since the replicas of that topic belong into the plan, and
    when somebody else was first: then their record holds. A plan that was C(approved) holds without that topic: it
    moves what was agreed to, and only the balance may miss that one partition.
    """
    if made_state_topic(session) and not approved:
        return False
    return record_of(claim_state(session, KEY, record.as_data(), end_offset)) == record


def _driven_first(session: Session, record: Record, params: Mapping[str, Any]) -> dict[str, Any]:
    """The first drive of a record. If it fails (a right may be missing), the record ends where nothing is under way."""
    try:
        return drive(session, record, params)
    except RequestFailedError:
        with contextlib.suppress(StreamopsError):
            kept, look = read_record(session), look_at(session)
            if kept is not None and not ours(kept, look):
                end(session, kept, look)
        raise


def drive(session: Session, record: Record, params: Mapping[str, Any]) -> dict[str, Any]:
    """Do what is next until all is done or C(interval) seconds have passed."""
    until = time.monotonic() + params["interval"]
    throttled = False
    held: dict[Key, str] = {}
    while True:
        look = look_at(session)
        standing = judge(record, look)
        if standing.complete or (record.stopped and not ours(record, look)):
            return _ended(session, record, look, params)
        if params["foreign"] == "refuse":
            _refuse_taken(standing)
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
        time.sleep(min(PAUSE, params["interval"]))


def _submit(session: Session, record: Record, rows: Sequence[Row]) -> Record:
    """Begin the moves that are next. Those that the cluster refuses stop the record: nothing more is begun."""
    failed = alter_reassignments(session, {row.key: row.replicas for row in rows})
    if failed:
        record = replace(record, stopped={named([key])[0]: f"{why} ({code})" for key, (code, why) in failed.items()})
        write_record(session, record)
    return record


def _ended(session: Session, record: Record, look: Look, params: Mapping[str, Any]) -> dict[str, Any]:
    """End the record, and look whether all is where it was planned."""
    found = end(session, record, look)
    # All that was planned has arrived, and the record is gone. A look that fails now must not look like a move that
    # failed: the next interval would plan anew.
    with contextlib.suppress(StreamopsError):
        now = look_at(session)
        found["leftover_throttles"] = leftover_throttles(session, None, now.alive)
        found["verified"] = verified(session, record, now, params["disk_reserve"])
    return found


def end(session: Session, record: Record, look: Look) -> dict[str, Any]:
    """Restore throttles, elect the preferred leaders of what was moved, and take the record away.

    Nothing of the record may be under way. What a broker that is down has not restored stays in the record.
    """
    left = restore(session, record, look.alive)
    elected = elect_leaders(session, [row.key for row in record.rows if row.key in look.partitions])
    write_record(session, replace(left, batches=(), spec={}, stopped={}) if left.brokers else None)
    return {
        "changed": bool(record.batches) or len(left.brokers) < len(record.brokers),
        "stage": "stopped" if record.stopped else "done",
        "progress": progress(record, look, judge(record, look), {}),
        "refused": dict(record.stopped),
        "elected": elected,
        "throttles_left": sorted(map(int, left.brokers)),
    }


def _still_to_do(record: Record, look: Look) -> dict[str, Any]:
    """Return what check mode says of a record that an earlier run left: what is still to be done of it."""
    standing = judge(record, look)
    done = set(standing.done)
    changes = [
        {
            "topic": row.topic,
            "partition": row.index,
            "from": list(look.partitions[row.key].replicas),
            "to": list(row.replicas),
            "bytes": row.bytes * row.moves,
            "reasons": ["an earlier run began it"],
        }
        for row in record.rows
        if row not in done and row.key in look.partitions
    ]
    return {
        "changed": True,
        "stage": "planned",
        "progress": progress(record, look, standing, {}),
        "changes": changes,
        "plan_digest": record.digest,
        "diff": diff_of_changes(changes),
    }


def _waiting(look: Look, params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the result while reassignments of others are under way; planning among them is unsound (KAFKA-10510)."""
    flying = named(look.in_flight)
    if params["foreign"] == "wait":
        return {"changed": False, "stage": "waiting", "foreign": flying[:20], "foreign_total": len(flying)}
    raise _refused(
        f"{len(flying)} partition(s) are being moved by another tool ({shown(flying)}), which this module never "
        "cancels. Set foreign: wait, or run again when these moves have ended"
    )


# -- refusals ----------------------------------------------------------------------------------------------------


def refuse_too_long(seconds: float | None, timeout: int, throttle: int) -> None:
    """Raise RefusedError for a plan that cannot end in time, as far as that is known."""
    if seconds is not None and seconds > timeout:
        raise _refused(
            f"timeout: the plan takes about {math.ceil(seconds)} s at a throttle of {throttle} bytes/s, and "
            f"timeout is {timeout} s. Raise timeout (kafka_resources_move_timeout) above {math.ceil(seconds)}, or "
            "raise throttle (kafka_resources_move_throttle) as far as disks and network allow. Then keep the run "
            "going: if it is cut, run the same again, which goes on where it was"
        )


def _refuse_taken(standing: Standing) -> None:
    """Somebody moves partitions of this reassignment elsewhere: theirs goes on, ours gives up."""
    if standing.taken:
        names = shown(named(row.key for row in standing.taken))
        raise _refused(
            f"another tool moves {len(standing.taken)} of its partitions elsewhere ({names}). The moves that this "
            "reassignment began go on under its throttles. Set foreign: wait and run again, or set state: cancelled"
        )


def _refuse_other_spec(record: Record, params: Mapping[str, Any]) -> None:
    asked = spec_kept(params)
    if not same_spec(record.spec, asked):
        raise _refused(
            f"an earlier reassignment has not ended: it was {dict(record.spec)}, this one is {asked}. Run the "
            "earlier one again to go on with it, or end it with the module streamops.kafka.reassignment, the same "
            "bootstrap_servers and security options, and state: finished (moves under way arrive) or state: "
            "cancelled (moves under way go back), for example: ansible localhost -m streamops.kafka.reassignment "
            "-a 'bootstrap_servers=HOST:PORT state=finished'"
        )


def _refuse_other_plan(digest: str, params: Mapping[str, Any]) -> None:
    """Raise RefusedError where the plan, or that of the record, is not the one that was approved."""
    why = refusal(params["expected_digest"], digest)
    if why is not None:
        raise _refused(why)


def _refused(why: str) -> RefusedError:
    return RefusedError("Reassignment", [why])

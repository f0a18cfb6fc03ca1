# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Has leaders elected, preferred or unclean, and waits until they lead."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from .._client.session import Session
from .._client.settle import wait_until_none
from .._cluster.api import list_brokers, list_topics, require_describe
from .._cluster.pace import BEYOND_ONCE, slower
from .._cluster.pace_look import refuse_slower, require_pace
from .._cluster.snapshot import Key, Partition
from .._core.diff import Change, diff_of
from .._core.errors import RefusedError, StreamopsError
from .api import CODECS, elect
from .codec_apply import proof_place, prove_codecs
from .election import Plan, listed, plan, plan_unclean, steps, unknown_broker, unled


def ensure_leaders(session: Session, params: Mapping[str, Any], check: bool, _diff: bool) -> dict[str, Any]:
    """Elect what is not led by its preferred replica, or unclean what is not led at all; return the module's result.

    Raises RefusedError for a broker or wanted partitions that do not exist, WaitTimeoutError after C(timeout) seconds,
    and RequestFailedError where a change of metadata or the first election is slower than C(metadata_before) allows.
    """
    unclean = params["type"] == "unclean"
    broker, asked = params["broker"], params["partitions"]
    wanted = None if asked is None else [(given["topic"], given["partition"]) for given in asked]
    # Topics that one may not describe are not listed, and would be passed over in silence.
    require_describe(session, "elect leaders")
    partitions = [p for partitions in list_topics(session).values() for p in partitions]
    refused = unknown_broker(partitions, (known.id for known in list_brokers(session)), broker)
    planned = plan_unclean(partitions, wanted or ()) if unclean else plan(partitions, broker, wanted)
    refused += [
        f"partition {topic}-{index} does not exist, or may not be described. Correct it, or leave it out."
        for topic, index in planned.unknown
    ]
    if refused:
        raise RefusedError("leader_election", refused)
    failed: dict[Key, str] = {}
    place, not_proven = None, "" if broker is None or not params["proves"] else "nothing is written in check mode"
    if not_proven and not check:
        place, not_proven = proof_place(partitions, broker)
    before = 0.0 if check else params["metadata_before"]
    # First, since each election is such a change.
    seconds, not_timed = require_pace(session, broker, before) if before else (None, "")
    if (planned.elect or place is not None) and not check:
        try:
            if place is not None:
                not_proven = _prove(session, planned, place, params["timeout"], before)
            # A replica may fall out of the ISR at any moment: what cannot be elected is reported and not waited for.
            failed = _elect(session, planned, params["step_seconds"], params["timeout"], before)
        except StreamopsError as error:
            error.done = _done(session, planned)
            raise
    elected = [p for p in planned.elect if (p.topic, p.index) not in failed]
    leaders = _leaders(session) if unclean and elected and not check else {}
    return {
        "changed": bool(elected),
        "elected": listed(elected),
        "not_in_sync": listed(planned.not_in_sync),
        "codecs": list(CODECS) if place is not None and not not_proven else [],
        "not_proven": not_proven,
        "metadata_seconds": seconds,
        "not_timed": not_timed,
        "not_elected": [{"topic": key[0], "partition": key[1], "why": why} for key, why in sorted(failed.items())],
        "diff": diff_of(changes(elected, leaders if unclean else None)),
    }


def _prove(session: Session, planned: Plan, place: Partition, seconds: float, before: float) -> str:
    """Have a broker lead one partition and take records there, before it leads others; return why it was not tried.

    Raises RequestFailedError where it does not take them, or the election is slower than a change of metadata was
    C(before): then it leads no more than that one.
    """
    first = [move for move in planned.elect if (move.topic, move.index) == (place.topic, place.index)]
    if any(_elect(session, replace(planned, elect=tuple(first)), 0, seconds, before).values()):
        return f"{place.topic}-{place.index} could not be elected"
    return prove_codecs(session, place, seconds)


def _elect(session: Session, planned: Plan, pause: float, timeout: float, before: float) -> dict[Key, str]:
    """Elect in steps with C(pause) seconds between them, all at once without; return why not, where it failed.

    before -- seconds that a change of metadata took, 0 where that is not known; an election is one, and the first step
    must not be slower where it is of one partition (RequestFailedError)
    """
    failed: dict[Key, str] = {}
    for number, step in enumerate(steps(planned.elect, pause > 0)):
        if number:
            time.sleep(pause)
        began = time.monotonic()
        failed |= elect(session, [(p.topic, p.index) for p in step], planned.unclean)
        # The controller answers once the change is written. To list all partitions, as the wait does, may take longer.
        took = time.monotonic() - began
        wait_until_none(
            "leader_election", partial(_unled, session, replace(planned, elect=tuple(step)), failed), timeout
        )
        if before and not number and len(step) == 1:
            refuse_slower(session, step[0].replicas[0], slower("an election", before, took, BEYOND_ONCE))
    return failed


def _unled(session: Session, planned: Plan, failed: Mapping[Key, str]) -> list[str]:
    return unled(planned, failed, _leaders(session))


def _leaders(session: Session) -> dict[Key, int | None]:
    return {(p.topic, p.index): p.leader for partitions in list_topics(session).values() for p in partitions}


def _done(session: Session, planned: Plan) -> dict[str, Any]:
    """Return what a run that fails has changed: partitions that are led as planned by now; all when nobody tells."""
    try:
        leaders = _leaders(session)
        led = [p for p in planned.elect if planned.is_led(p, leaders.get((p.topic, p.index)))]
    except StreamopsError:
        leaders, led = {}, list(planned.elect)
    return {"changed": bool(led), "diff": diff_of(changes(led, leaders if planned.unclean else None))}


def changes(partitions: Iterable[Partition], leaders: Mapping[Key, int | None] | None = None) -> list[Change]:
    """Return for each partition its leader before and after: its preferred one unless C(leaders) says who leads.

    Where C(leaders) does not know, the controller chooses.
    """
    return [
        Change(
            f"{p.topic}-{p.index}",
            {"leader": p.leader},
            {"leader": p.replicas[0] if leaders is None else leaders.get((p.topic, p.index), "chosen by Kafka")},
        )
        for p in partitions
    ]

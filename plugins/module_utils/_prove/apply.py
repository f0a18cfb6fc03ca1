# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A proof from its start to its verdict: the module's three states."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping, Sequence
from typing import Any

from .._client.connection import Connection, refuse_tickets
from .._client.session import Session
from .._core.errors import RefusedError, StreamopsError, warn
from . import api, run
from .gaps import Restart, longest_commit_gap, longest_gaps
from .judge import ABORTED, FAIL, Verdict, counted, judged, records_of, totals, verdict
from .ledger import TIME_OVER, Ledger, acknowledged_by
from .topic import refusals

#: Seconds for reading the topic back: two million records are read in far less.
_READ_SECONDS = 300


def begin(params: Mapping[str, Any]) -> dict[str, Any]:
    """Create the topic and start the stream; it writes when this returns."""
    if wrong := refusals(params["topic"], params["seconds"], params["rate"]):
        raise RefusedError("proof", wrong)
    connection, name = Connection.from_params(params), secrets.token_hex(4)
    refuse_tickets(connection)

    def prepare() -> api.Stream:
        """Make the topic; what the stream has to know."""
        topic, seconds = params["topic"], params["seconds"]
        with Session(connection) as session:
            partitions = api.make_proof_topic(session, topic, seconds)
        return api.Stream(name, topic, partitions, seconds, params["rate"], connection.confluent_config())

    begun = run.start(params["directory"], prepare, process_of(params["run"]))
    return {"changed": True, "proof_id": begun.run, "partitions": begun.partitions}


def process_of(run_name: str) -> tuple[int, int] | None:
    """Return the process of a run that is written as "place number start"; none of one without a start."""
    *_place, number, start = run_name.split(" ") if run_name.count(" ") == 2 else ("", "", "")
    return (int(number), int(start)) if number.isdecimal() and start.isdecimal() else None


def stop(params: Mapping[str, Any]) -> dict[str, Any]:
    """End the stream without a verdict; its topic stays until the next proof, which makes it anew.

    One of another proof than the named one goes on.
    """
    was = run.alive(params["directory"]) is not None
    if not was or (params["proof"] and run.proof_in(params["directory"]) != params["proof"]):
        return {"changed": False}
    run.end(params["directory"])
    return {"changed": True}


def judge(params: Mapping[str, Any]) -> dict[str, Any]:
    """End the stream, read its topic back, and say what that proves."""
    now = time.time()
    ledger = run.ended(params["directory"], params["proof"])
    restarts = [Restart(**one) for one in params["restarts"]]
    # Without a restart a stream that nobody asked to end had to last until now.
    over = ledger.ended is not None and ledger.ended[0] == TIME_OVER
    until = max((one.in_sync for one in restarts), default=now if over else 0.0)
    since = min((one.stopped for one in restarts), default=0.0)
    with Session(Connection.from_params(params)) as session:
        found = api.read_back(session, params["topic"], params["proof"], ledger.partitions, _READ_SECONDS)
        said, second = verdict(ledger, found, params["topic"], until, since), params["second_reader"]
        if second:
            said = judged(said, counted(params["proof"], found), second)
        _leave(session, params, said.word == FAIL)
    told = {"topic": params["topic"], "read": len(found), "read_second": records_of(second) if second else None}
    return {"changed": True, "proof": {**told, **_told(said), **_measured(ledger, restarts)}}


def _told(said: Verdict) -> dict[str, Any]:
    counts = {"aborted_read" if what == ABORTED else what: count for what, count in totals(said.wrong).items()}
    return {"verdict": said.word, "why": said.why, **counts, "wrong": [one._asdict() for one in said.wrong]}


def _measured(ledger: Ledger, restarts: Sequence[Restart]) -> dict[str, Any]:
    commits = longest_commit_gap(ledger, restarts)
    return {
        "acknowledged": acknowledged_by(ledger),
        "gaps": [dict(one._asdict(), hosts=list(one.hosts)) for one in longest_gaps(ledger, restarts)],
        "commit_gap": dict(commits._asdict(), hosts=list(commits.hosts)) if commits else None,
        "restarts": [one._asdict() for one in restarts],
    }


def _leave(session: Session, params: Mapping[str, Any], is_evidence: bool) -> None:
    """Keep the topic where something is wrong, which can be looked at there alone; else delete it unless it is to
    stay."""
    topic = params["topic"]
    try:
        if is_evidence:
            api.keep_topic(session, topic)
        elif not params["keep_topic"]:
            api.drop_topic(session, topic)
    except StreamopsError as error:
        what = "its retention.ms was not changed" if is_evidence else "it was not deleted"
        warn(f"topic {topic}: {what}: {error.message}")

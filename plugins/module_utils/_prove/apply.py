# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A proof from its start to its verdict: the module's three states."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, StreamopsError, warn
from ansible_collections.streamops.kafka.plugins.module_utils._prove import api, run
from ansible_collections.streamops.kafka.plugins.module_utils._prove.gaps import (
    Restart,
    longest_commit_gap,
    longest_gaps,
)
from ansible_collections.streamops.kafka.plugins.module_utils._prove.judge import ABORTED, FAIL, totals, verdict
from ansible_collections.streamops.kafka.plugins.module_utils._prove.ledger import acknowledged_by
from ansible_collections.streamops.kafka.plugins.module_utils._prove.topic import refusals

#: Seconds for reading the topic back: two million records are read in far less.
_READ_SECONDS = 300


def begin(params: Mapping[str, Any]) -> dict[str, Any]:
    """Create the topic and start the stream; it writes when this returns."""
    if wrong := refusals(params["topic"], params["seconds"], params["rate"]):
        raise RefusedError("proof", wrong)
    connection, name = Connection.from_params(params), secrets.token_hex(4)

    def prepare() -> dict[str, Any]:
        """Make the topic; what the stream has to know."""
        with Session(connection) as session:
            partitions = api.make_topic(session, params["topic"], params["seconds"])
        own = {"run": name, "topic": params["topic"], "partitions": partitions}
        return {**own, **{key: params[key] for key in ("seconds", "rate")}, "config": connection.confluent_config()}

    begun = run.start(params["directory"], prepare, process_of(params["run"]))
    return {"changed": True, "proof_id": begun["run"], "partitions": begun["partitions"]}


def process_of(run_name: str) -> tuple[int, int] | None:
    """Return the process of a run that is written as "place number start"; none of one without a start."""
    *_place, number, start = run_name.split(" ") if run_name.count(" ") == 2 else ("", "", "")
    return (int(number), int(start)) if number.isdecimal() and start.isdecimal() else None


def stop(params: Mapping[str, Any]) -> dict[str, Any]:
    """End the stream without a verdict; its topic stays until the next proof, which makes it anew."""
    was = run.alive(params["directory"]) is not None
    run.end(params["directory"])
    return {"changed": was}


def judge(params: Mapping[str, Any]) -> dict[str, Any]:
    """End the stream, read its topic back, and say what that proves."""
    until = time.time()
    run.end(params["directory"])
    ledger = run.ledger(params["directory"])
    restarts = [Restart(**one) for one in params["restarts"]]
    with Session(Connection.from_params(params)) as session:
        found = api.read_back(session, params["topic"], params["proof"], _READ_SECONDS)
        said = verdict(ledger, found, params["topic"], max((one.in_sync for one in restarts), default=until))
        commits = longest_commit_gap(ledger, restarts)
        proof = {
            "verdict": said.word,
            "why": said.why,
            "topic": params["topic"],
            "acknowledged": acknowledged_by(ledger),
            "read": len(found),
            **{"aborted_read" if what == ABORTED else what: count for what, count in totals(said.wrong).items()},
            "wrong": [one._asdict() for one in said.wrong],
            "gaps": [dict(one._asdict(), hosts=list(one.hosts)) for one in longest_gaps(ledger, restarts)],
            "commit_gap": dict(commits._asdict(), hosts=list(commits.hosts)) if commits else None,
            "restarts": [one._asdict() for one in restarts],
        }
        # What is wrong can be looked at in the topic alone.
        if said.word != FAIL and not params["keep_topic"]:
            try:
                api.drop_topic(session, params["topic"])
            except StreamopsError as error:
                warn(f"topic {params['topic']} was not deleted: {error.message}")
    return {"changed": True, "proof": proof}

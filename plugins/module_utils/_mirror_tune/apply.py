# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The module mirror_tune: what it does in each of its states."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from .._client.connection import Connection, refuse_tickets
from .._client.session import Session
from .._cluster.api import list_topics, live_brokers
from .._core.errors import RefusedError
from .._mirror.api import cluster_id
from .._mirror.flows import Flow, own_topics
from .._mirror.look import at
from .._mirror.status import chosen, refuse_one_cluster
from . import api
from .plan import START_SECONDS, Asked, Plan, Seen, asked_of, lines, plan_of, rate_of, refusals

PLANNED, LOADED, MEASURED, ABSENT = "planned", "loaded", "measured", "absent"
STATES = (PLANNED, LOADED, MEASURED, ABSENT)


def mirror_tune(module: Any) -> dict[str, Any]:
    """The module's result."""
    state = module.params["state"]
    work: Mapping[str, Callable[[Mapping[str, Any], bool], dict[str, Any]]] = {
        PLANNED: _planned,
        LOADED: _loaded,
        MEASURED: _measured,
        ABSENT: _absent,
    }
    return work[state](module.params, module.check_mode)


@contextlib.contextmanager
def _ends(params: Mapping[str, Any]) -> Iterator[dict[str, Session]]:
    """Sessions of both clusters, by end."""
    with contextlib.ExitStack() as opened:
        found = {}
        for end, options in (("source", params["source_connection"]), ("target", params)):
            with at(f"{end} {params[end]}"):
                found[end] = opened.enter_context(Session(Connection.from_params(options)))
        yield found


def _look(params: Mapping[str, Any], sessions: Mapping[str, Session]) -> tuple[Asked, Seen, Plan]:
    """Return what is asked for, what is there, and the plan; RefusedError where the tuning must not begin."""
    flow = Flow(params["source"], params["target"], tuple(params["topics"]), tuple(params["topics_exclude"]))
    with at(f"source {params['source']}"):
        refuse_tickets(sessions["source"].connection)
    asked = asked_of(params)
    refuse_one_cluster(flow, cluster_id(sessions["source"]), cluster_id(sessions["target"]))
    if wrong := refusals(asked, Seen(0, {"source": 1, "target": 1}, [], {}, {})):
        raise RefusedError("mirror_tune", wrong)
    brokers = {end: live_brokers(session) for end, session in sessions.items()}
    left = {end: api.own(session) for end, session in sessions.items()}
    existing = list_topics(sessions["source"])
    seen = Seen(
        flow_partitions=sum(len(existing[name]) for name in chosen(flow, existing)),
        brokers={end: max(1, len(some)) for end, some in brokers.items()},
        disks=[disk for end, session in sessions.items() for disk in api.disks(session, end, brokers[end])],
        left=left,
        foreign={end: api.foreign(session, left[end]) for end, session in sessions.items()},
    )
    if wrong := refusals(asked, seen):
        raise RefusedError("mirror_tune", wrong)
    return asked, seen, plan_of(asked, seen)


def _planned(params: Mapping[str, Any], _check: bool) -> dict[str, Any]:
    with _ends(params) as sessions:
        return {"changed": False, **_told(f"{params['source']}->{params['target']}", *_look(params, sessions))}


def _told(flow: str, asked: Asked, seen: Seen, plan: Plan) -> dict[str, Any]:
    return {
        "asked": asdict(asked),
        "plan": {**asdict(plan), "brokers": dict(seen.brokers)},
        "lines": lines(asked, seen, plan, flow),
    }


def _loaded(params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """Delete what an earlier tuning left, and write the load."""
    with _ends(params) as sessions:
        asked, seen, plan = _look(params, sessions)
        told = _told(f"{params['source']}->{params['target']}", asked, seen, plan)
        if check:
            return {"changed": True, **told, "records": plan.records}
        for end, session in sessions.items():
            api.remove(session, seen.left[end])
        source, begun = sessions["source"], time.monotonic()
        api.make(source, plan.partitions)
        records = api.write(source, plan.partitions, plan.records, asked.record_bytes, asked.run_seconds)
        seconds = round(time.monotonic() - begun, 1)
        return {"changed": True, **told, "records": records, "load_seconds": seconds}


def _measured(params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """Watch one run."""
    if check:
        return {"changed": False}
    with at(f"target {params['target']}"), Session(Connection.from_params(params)) as session:
        bounds = {"run_seconds": params["run_seconds"], "start_seconds": START_SECONDS}
        looks = api.watched(session, params["run"], params["partitions"], params["records"], bounds)
    return {"changed": False, **rate_of(looks, params["records"], params["record_bytes"])}


def _absent(params: Mapping[str, Any], check: bool) -> dict[str, Any]:
    """Delete the topics of one run in the target, or of all runs and the load at both ends."""
    run = params["run"]
    removed = {}
    with _ends(params) as sessions:
        for end, session in sessions.items():
            names = own_topics(list_topics(session), run)
            if wrong := api.foreign(session, names):
                raise RefusedError(
                    "mirror_tune", [f"topics of the {end} have records that no tuning wrote: {', '.join(wrong)}."]
                )
            if not check:
                api.remove(session, names)
            removed[end] = names
    return {"changed": any(removed.values()), "removed": removed}

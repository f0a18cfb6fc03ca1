# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the module mirror_failover_info does with its options."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from .._client.connection import Connection
from .._client.session import Session
from .._mirror.flows import Flow
from .._mirror.look import at
from .._mirror.reading import flow_of
from .._state.api import read_state
from .._state.form import parsed
from .look import look_at
from .loss import loss_lines, loss_of, offsets_to_set
from .loss_look import answer_of, survivors_of
from .model import Plan
from .plan import as_file, lines, offsets_there, plan_of
from .record import Record, next_step, record_of, stage_lines, state_key


@contextlib.contextmanager
def both_ends(flow: Flow, params: Mapping[str, Any]) -> Iterator[tuple[Session, Session]]:
    """Open sessions of the source and of the target."""
    here, there = f"source {flow.source}", f"target {flow.target}"
    with at(here):
        source = Connection.from_params(params["source_connection"])
    with at(there):
        target = Connection.from_params(params)
    with contextlib.ExitStack() as opened:
        with at(here):
            origin = opened.enter_context(Session(source))
        with at(there):
            copy = opened.enter_context(Session(target))
        yield origin, copy


def planned(flow: Flow, origin: Session, copy: Session, params: Mapping[str, Any]) -> Plan:
    """Look at both clusters and judge what a failover would cost now."""
    return plan_of(flow, look_at(flow, origin, copy, params["watch_seconds"], params["confirm_seconds"], time.sleep))


def kept_record(flow: Flow, copy: Session) -> tuple[Record | None, int]:
    """Return the record that the target keeps of a failover, and where the log that it stands in ends."""
    with at(f"target {flow.target}"):
        return record_in(flow, copy)


def record_in(flow: Flow, copy: Session) -> tuple[Record | None, int]:
    """Return what kept_record does; errors name no side."""
    data, end = read_state(copy, state_key(flow))
    return parsed(state_key(flow), data, record_of, "took the last step of a failover"), end


@contextlib.contextmanager
def target_of(flow: Flow, params: Mapping[str, Any]) -> Iterator[Session]:
    """Open a session of the target alone; an error of opening it names the target."""
    with contextlib.ExitStack() as opened:
        with at(f"target {flow.target}"):
            copy = opened.enter_context(Session(Connection.from_params(params)))
        yield copy


def mirror_failover_info(module: Any) -> dict[str, Any]:
    """Say what a failover would cost now, or what is lost with its source; the module's result."""
    flow = flow_of(module.params)
    if module.params["source_lost"]:
        return _loss_info(flow, module.params)
    with both_ends(flow, module.params) as (origin, copy):
        record, _end = kept_record(flow, copy)
        plan = planned(flow, origin, copy, module.params)
    return {
        "changed": False,
        **asdict(plan),
        "to_copy": plan.to_copy,
        "offsets_there": as_file(offsets_there(flow, plan)),
        "stage": record.stage if record else "",
        "next_step": next_step(record),
        "lines": lines(plan, stage_lines(record)),
    }


def _loss_info(flow: Flow, params: Mapping[str, Any]) -> dict[str, Any]:
    with target_of(flow, params) as copy:
        record, _end = kept_record(flow, copy)
        plan = loss_of(flow, survivors_of(flow, copy, *answer_of(flow, params)))
    return {
        "changed": False,
        **asdict(plan),
        "to_copy": plan.missing.at_most if plan.missing else None,
        "offsets_there": as_file(offsets_to_set(flow, plan)),
        "stage": record.stage if record else "",
        "next_step": next_step(record, is_lost=True),
        "lines": loss_lines(plan, stage_lines(record, is_lost=True)),
    }

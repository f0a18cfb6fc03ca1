# SPDX-License-Identifier: GPL-3.0-or-later
"""How far a planned failover is, as its target keeps it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.record import (
    Denial,
    Failback,
    Loss,
    Record,
    next_of_failback,
    next_step,
    record_of,
    stage_lines,
    state_key,
)

AT = "2026-11-30T03:00:00Z"


def test_a_record_is_read_as_it_was_written() -> None:
    record = Record("fenced", "alice", AT, True, (Denial("User:orders", "orders"),))
    assert record_of(json.loads(json.dumps(record.as_data()))) == record
    assert record_of(None) is None


def test_what_a_newer_release_keeps_beside_it_is_passed_over() -> None:
    denied = (Denial("User:orders", "orders"),)
    lost = Record("turned", "bob", AT, True, denied, Loss(AT, {"orders": {"0": 100}}, opened_at=AT))
    record = lost.with_back(Failback("kept", before=Record("moved", "bob", AT)), AT, "alice")
    data = json.loads(json.dumps(record.as_data()))
    for part in (data, data["loss"], data["loss"]["back"], data["loss"]["back"]["before"]):
        part["later"] = {"than": "this"}
    data["denied"][0].append("of a group")
    assert record_of(data) == record


@pytest.mark.parametrize(
    ("change", "why"),
    [({"stage": "flown"}, "its stage is 'flown'"), ({"loss": {"back": {"stage": "flown"}}}, "of its failback is 'flo")],
)
def test_a_stage_that_this_release_does_not_know_is_no_record(change: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        record_of({**Record("turned", "bob", AT).as_data(), **change})


def test_the_steps_follow_each_other() -> None:
    reached = [next_step(None)]
    while reached[-1] != "done":
        reached.append(next_step(Record(reached[-1], "alice", AT)))
    assert reached == ["fenced", "drained", "moved", "turned", "done"]
    # A fence that was begun and is not proven is made again.
    assert next_step(Record("begun", "alice", AT)) == "fenced"


def test_people_read_who_takes_the_steps_and_what_is_denied() -> None:
    denied = tuple(Denial(f"User:{who}", topic) for who in ("b", "a") for topic in ("payments", "orders"))
    assert stage_lines(None) == ["Stage        not begun; next step: fenced"]
    assert stage_lines(Record("fenced", "alice", AT, denied=denied)) == [
        f"Stage        fenced at {AT} by alice; next step: drained",
        "Denied       User:a may not write orders, payments",
        "Denied       User:b may not write orders, payments",
    ]


def test_a_lost_source_is_neither_fenced_nor_drained() -> None:
    reached = [next_step(None, is_lost=True)]
    while reached[-1]:
        reached.append(next_step(Record(reached[-1], "alice", AT), is_lost=True))
    assert reached == ["moved", "turned", ""]
    assert [next_step(Record(stage, "alice", AT), is_lost=True) for stage in ("begun", "fenced", "drained")] == [
        "moved"
    ] * 3


def test_the_record_of_a_loss_says_how_far_its_failback_is() -> None:
    record = Record(
        "turned", "bob", AT, loss=Loss(AT, {"orders": {"0": 100}}, {"orders": {"0": 90}}, ids={"orders": "i"})
    )
    later = record.with_back(Failback("kept", {"orders": {"0": 120}}, {"orders": {"0": [130, 9]}}), "later", "alice")
    assert record_of(json.loads(json.dumps(later.as_data()))) == later
    assert stage_lines(later) == [f"Stage        turned at {AT}, failback kept at later by alice; next step: begun"]
    assert later.loss is not None
    steps = [next_of_failback(replace(later.loss, back=back)) for back in (None, Failback("fenced"), Failback("begun"))]
    assert steps == ["fenced", "kept", ""]


def test_the_record_of_a_loss_waits_for_the_failover_back() -> None:
    record = Record("turned", "alice", AT, loss=Loss(AT, {"orders": {"0": 100}}))
    assert record_of(json.loads(json.dumps(record.as_data()))) == record
    assert next_step(record) == ""
    assert stage_lines(record)[0].endswith("next step: none until the failover back")
    assert stage_lines(replace(record, loss=None), is_lost=True)[0].endswith("none until the source answers")


def test_each_direction_has_a_record_of_its_own() -> None:
    keys = {state_key(Flow("a", "b", ("orders",))), state_key(Flow("b", "a", ("orders",)))}
    assert keys == {"mirror_failover a->b", "mirror_failover b->a"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a failback, in the order in which they ask and write, also when a run is cut."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import (
    apply,
    failback_apply,
    steps_apply,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.steps_apply import StepNotReachedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.surplus import (
    SAME,
    Compared,
    Part,
    Survey,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.wait import Tracker
from tests.support.acts import Acts, Killed

FLOW = Flow("a", "b", ("orders",), policy="identity")
KEY = "mirror_failover a->b"
SOURCE: Any = "the source"
TARGET: Any = "the target"
OPENED = "2026-11-30T03:20:00Z"
PART = Part("orders", 0, SAME, Log(0, 8), 4, 6, Compared(6, 2, True), 8)


class Clusters(Acts):
    """The record of the target, and what was done in which order."""

    def __init__(self) -> None:
        super().__init__()
        loss = {"looked_at": "", "copied": {"orders": {"0": 4}}, "ends": {"orders": {"0": 6}}}
        self.kept: Any = {
            "stage": "turned",
            "by": "bob",
            "at": OPENED,
            "are_stopped": False,
            "denied": [],
            "loss": loss,
        }
        self.survey = Survey([PART])
        self.positions: dict[Any, int] = {}
        self.kept_denials: dict[str, int] = {}
        self.end = 8

    def claim_state(self, _session: str, key: str, value: Any, _since: int) -> Any:
        """Keep a record."""
        assert key == KEY
        self.do(f"note {value['loss']['back']['stage'] or '-'}{' kept' if value['loss']['back']['kept'] else ''}")
        self.kept = json.loads(json.dumps(value))
        return value

    def keep_denials(self, session: str, pair: str, denied: Any) -> None:
        """Keep with the source what a failback denies there."""
        assert session == SOURCE
        self.kept_denials[pair] = len(denied)

    def keep(self, session: str, copy: str, keeping: Any) -> int:
        """Copy a partition."""
        assert (session, copy) == (SOURCE, TARGET)
        self.do(f"copy {keeping.where} {keeping.first} to {keeping.end} into {keeping.topic}")
        return 2

    def set_positions(self, records: Any) -> Any:
        """Set positions of the flow back."""
        self.do(f"{len(records)} positions")
        self.positions = {("orders", 0): 6}
        return self.positions


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    """Two clusters without Kafka."""
    made = Clusters()
    monkeypatch.setattr(steps_apply, "claim_state", made.claim_state)
    monkeypatch.setattr(steps_apply, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(steps_apply, "topics_at", lambda *_arguments: {"orders": [0]})
    allowed = Binding("User:orders", "*", "allow", "write", "topic", "orders", "literal")
    monkeypatch.setattr(steps_apply, "describe_acls", lambda _session: {allowed: None})
    monkeypatch.setattr(steps_apply, "keep_denials", made.keep_denials)
    monkeypatch.setattr(
        steps_apply, "ensure_acls", lambda _session, params, **_more: made.do(f"deny {len(params['acls'])}")
    )
    monkeypatch.setattr(apply, "read_state", lambda _session, _key: (made.kept, 7))
    monkeypatch.setattr(failback_apply, "survey_of", lambda *_arguments: made.survey)
    monkeypatch.setattr(failback_apply, "topics_at", lambda *_arguments: {"orders": [0]})
    monkeypatch.setattr(failback_apply, "edges", lambda *_arguments: {("orders", 0): Log(0, made.end)})
    monkeypatch.setattr(failback_apply, "keep", made.keep)
    monkeypatch.setattr(failback_apply.Failbacks, "_positions_back", lambda _self: made.positions)
    monkeypatch.setattr(failback_apply.Failbacks, "_set_positions", lambda _self, records: made.set_positions(records))
    return made


def failback(flow: Flow = FLOW, **given: Any) -> failback_apply.Failbacks:
    """Return a failback as a run of its own begins it."""
    params = {
        "operator": "alice",
        "writers": [],
        "writers_stopped": False,
        "flow_enabled": False,
        "watch_seconds": 5,
        "step": "next",
        **given,
    }
    return failback_apply.Failbacks(flow, SOURCE, TARGET, params)


COPY = "copy ('orders', 0) 6 to 8 into _streamops_surplus.2026-11-30.orders"


def test_all_steps(clusters: Clusters) -> None:
    assert failback(writers=["User:orders"]).next(False)["stage"] == "fenced"
    assert clusters.done == ["note -", "deny 1", "note fenced"]
    assert clusters.kept_denials == {"a->b": 1}
    assert clusters.kept["loss"]["back"]["first"] == {"orders": {"0": 6}}
    assert (clusters.kept["by"], clusters.kept["loss"]["opened_at"]) == ("alice", OPENED)
    clusters.done.clear()
    result = failback().next(False)
    assert clusters.done == ["deny 1", COPY, "note fenced kept", "note kept kept"]
    assert (result["stage"], result["is_over"], result["partitions_kept"]) == ("kept", True, 1)
    assert result["kept"] == [{"topic": "orders", "kept_in": "_streamops_surplus.2026-11-30.orders", "records": 2}]
    clusters.done.clear()
    assert failback().next(False)["next_step"] == ""
    assert clusters.done == ["deny 1", "1 positions", "note begun kept"]
    with pytest.raises(RefusedError, match="no step is left"):
        failback().next(False)


@pytest.mark.parametrize("cut", ["note -", "deny 1", "note fenced", COPY, "note fenced kept", "note kept kept"])
def test_a_step_that_was_cut_is_taken_by_the_next_run(clusters: Clusters, cut: str) -> None:
    clusters.killed_at = cut
    for _run in range(2):
        try:
            failback(writers=["User:orders"]).next(False)
        except Killed:
            failback(writers=["User:orders"]).next(False)
    assert clusters.killed_at == ""
    assert clusters.kept["loss"]["back"]["stage"] == "kept"


@pytest.mark.parametrize("cut", ["1 positions", "note begun kept"])
def test_positions_that_were_cut_are_written_by_the_next_run(clusters: Clusters, cut: str) -> None:
    for _run in range(2):
        failback(writers_stopped=True).next(False)
    clusters.killed_at = cut
    with pytest.raises(Killed):
        failback().next(False)
    assert failback().next(False)["stage"] == "begun"
    assert clusters.positions == {("orders", 0): 6}


def test_a_writer_that_goes_on_is_named_and_no_stage_is_reached(clusters: Clusters) -> None:
    clusters.survey = Survey([PART], {("orders", 0): 3})
    with pytest.raises(StepNotReachedError, match="a is still written: orders-0 3") as raised:
        failback(writers_stopped=True).next(False)
    assert "step=back" not in str(raised.value)
    clusters.survey = Survey([PART])
    failback().next(False)
    failback().next(False)
    # Written after it was kept.
    clusters.end = 9
    with pytest.raises(StepNotReachedError, match="orders-0 of a was written after"):
        failback().next(False)
    assert clusters.kept["loss"]["back"]["stage"] == "kept"


def test_what_came_since_the_fence_is_kept_too(clusters: Clusters) -> None:
    failback(writers_stopped=True).next(False)
    clusters.end = 9
    clusters.done.clear()
    failback().next(False)
    assert clusters.done[0] == COPY.replace("to 8", "to 9")


def test_a_long_copy_is_told_partition_by_partition(clusters: Clusters, monkeypatch: pytest.MonkeyPatch) -> None:
    failback(writers_stopped=True).next(False)
    monkeypatch.setattr(failback_apply, "_SECONDS", -1.0)
    unfinished = failback().next(False)
    assert (unfinished["is_over"], unfinished["partitions_kept"], unfinished["partitions_to_keep"]) == (False, 0, 1)
    tracker = Tracker({"source": "a", "target": "b"})
    going = tracker.step(unfinished, 1.0)
    assert (going.state, going.text) == ("going", "mirror_failback a->b: 0/1 partitions kept")
    assert "no further one within 10m00s" in tracker.failure(600)["msg"]
    done = tracker.step({**unfinished, "is_over": True, "partitions_kept": 1}, 2.0)
    assert (done.state, done.progress) == ("done", "moved 1")


def test_a_first_partition_that_took_longer_than_the_timeout_is_progress(clusters: Clusters) -> None:
    looked = {"is_over": False, "partitions_kept": 1, "partitions_to_keep": 3}
    assert Tracker({"source": "a", "target": "b"}).step(looked, 700.0).progress == "moved 1"


def test_one_person_takes_the_steps_who_need_not_have_opened_the_target(clusters: Clusters) -> None:
    failback(writers_stopped=True).next(False)
    with pytest.raises(RefusedError, match="and you are carol"):
        failback(operator="carol").next(False)
    assert clusters.kept["by"] == "alice"


def test_check_mode_and_the_plan_write_nothing(clusters: Clusters) -> None:
    assert "Ready        fenced would be reached now" in failback(writers_stopped=True).next(True)["lines"]
    plan = failback(step="").plan()
    assert any("2 records are in a and not in b (orders 2)" in line for line in plan["lines"])
    assert f"Stage        turned at {OPENED}, failback not begun; next step: fenced" in plan["lines"]
    assert (plan["next_step"], plan["changed"], clusters.done) == ("fenced", False, [])


def test_with_prefixed_names_no_position_is_needed(clusters: Clusters) -> None:
    flow = Flow("a", "b", ("orders",))
    for _run in range(2):
        failback(flow, writers_stopped=True).next(False)
    clusters.done.clear()
    failback(flow).next(False)
    assert clusters.done == ["note begun kept"]


def test_nothing_is_denied_or_noted_once_the_record_of_the_loss_is_gone(clusters: Clusters) -> None:
    """Another run may take it away between the look whether there is one and the step."""
    clusters.kept = None
    with pytest.raises(RefusedError, match="keeps no record of a loss of a"):
        failback(writers=["User:orders"]).next(False)
    with pytest.raises(RefusedError, match="keeps no record of a loss of a"):
        failback().plan()
    assert clusters.done == []

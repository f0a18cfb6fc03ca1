# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a failback, in the order in which they ask and write, also when a run is cut."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.entries import Binding
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import (
    apply,
    denials_apply,
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
        #: Topics of the target that keep a surplus.
        self.made: list[str] = []

    def claim_state(self, _session: str, key: str, value: Any, _since: int) -> Any:
        """Keep a record."""
        assert key == KEY
        back = value["loss"]["back"]
        self.do(f"note {back['stage'] or '-'}{' kept' if back['kept'] else ''}" if back else "note the loss")
        self.kept = json.loads(json.dumps(value))
        return value

    def keep_denials(self, session: str, pair: str, denied: Any) -> None:
        """Keep with the source what a failback denies there."""
        assert session == SOURCE
        self.kept_denials[pair] = len(denied)

    def ensure_acls(self, session: str, params: Any, **_more: Any) -> None:
        """Deny, or allow again."""
        assert session == SOURCE
        (state,) = {entry["state"] for entry in params["acls"]}
        self.do(f"{'deny' if state == 'present' else 'allow'} {len(params['acls'])}")

    def topics_at(self, session: str, _broker: Any, names: Any) -> dict[str, list[int]]:
        """Return the topics of a cluster."""
        there = ["orders"] if session == SOURCE else self.made
        return {name: [0] for name in there if name in (names or there)}

    def keep(self, session: str, copy: str, keeping: Any) -> int:
        """Copy a partition."""
        assert (session, copy) == (SOURCE, TARGET)
        self.made = [keeping.topic]
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
    monkeypatch.setattr(denials_apply, "keep_denials", made.keep_denials)
    monkeypatch.setattr(denials_apply, "ensure_acls", made.ensure_acls)
    monkeypatch.setattr(denials_apply, "read_prefixed", lambda _session, _prefix: {})
    monkeypatch.setattr(apply, "read_state", lambda _session, _key: (made.kept, 7))
    monkeypatch.setattr(failback_apply, "survey_of", lambda *_arguments: made.survey)
    monkeypatch.setattr(failback_apply, "topics_at", made.topics_at)
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
    assert "Run the same again, or go back with kafka_failover_step=back." in str(raised.value)
    clusters.survey = Survey([PART])
    failback().next(False)
    failback().next(False)
    # Written after it was kept.
    clusters.end = 9
    with pytest.raises(StepNotReachedError, match="orders-0 of a was written after") as raised:
        failback().next(False)
    assert "step=back" not in str(raised.value)
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


def back(**given: Any) -> failback_apply.Failbacks:
    """Return the run that goes back, which says that writers of the source stay stopped."""
    return failback(**{"step": "back", "writers_stopped": True, **given})


@pytest.mark.parametrize("is_fenced", [True, False])
def test_the_way_back_from_a_fence_leaves_the_record_of_the_loss(clusters: Clusters, is_fenced: bool) -> None:
    lost = clusters.kept
    clusters.survey = Survey([PART], {} if is_fenced else {("orders", 0): 3})
    with contextlib.nullcontext() if is_fenced else pytest.raises(StepNotReachedError):
        failback(writers=["User:orders"]).next(False)
    clusters.done.clear()
    lines = back().back(False)["lines"]
    assert lines[0] == "Allowed      User:orders may again write orders"
    assert "keep the writers of a stopped while b is open" in lines[1]
    assert clusters.done == [f"note {'fenced' if is_fenced else '-'}", "allow 1", "note the loss"]
    assert clusters.kept_denials == {"a->b": 0}
    # An older record has no stamp: topics that keep its surplus have its date in their names, as before.
    added = {"opened_at": OPENED, "ids": {}, "back": None, "stamp": ""}
    assert clusters.kept == {**lost, "loss": {**lost["loss"], **added}}
    again = back().back(False)
    assert (again["changed"], again["lines"]) == (False, ["Back         no failback is under way"])
    # Another person may begin anew.
    clusters.survey = Survey([PART])
    assert failback(operator="carol", writers_stopped=True).next(False)["stage"] == "fenced"


def test_what_the_failover_denied_before_its_source_was_lost_stays_denied(clusters: Clusters) -> None:
    clusters.kept["denied"] = [["User:late", "orders"]]
    failback(writers=["User:orders"]).next(False)
    assert clusters.kept_denials == {"a->b": 2}
    clusters.done.clear()
    assert "User:late" not in str(back().back(False)["lines"])
    assert clusters.done == ["note fenced", "allow 1", "note the loss"]
    assert (clusters.kept["denied"], clusters.kept_denials) == ([["User:late", "orders"]], {"a->b": 1})


def test_a_writer_without_its_type_is_refused_before_anything_is_noted(clusters: Clusters) -> None:
    for is_check in (True, False):
        with pytest.raises(RefusedError, match="write User:orders"):
            failback(writers=["orders"]).next(is_check)
    assert clusters.done == []


def test_nobody_goes_back_before_it_is_said_that_writers_stay_stopped(clusters: Clusters) -> None:
    # What was said at the fence was said of a source that nobody opens again.
    failback(writers_stopped=True).next(False)
    clusters.done.clear()
    with pytest.raises(RefusedError, match=r"a can be written while b is open.*kafka_failover_writers_stopped=true"):
        back(writers_stopped=False).back(False)
    with pytest.raises(RefusedError, match="and you are carol"):
        back(operator="carol").back(False)
    assert clusters.done == []
    # Nothing was denied.
    assert back().back(False)["lines"][0].startswith("Do ")
    assert clusters.done == ["note fenced", "note the loss"]


@pytest.mark.parametrize("cut", ["note fenced", "allow 1", "note the loss"])
@pytest.mark.parametrize("is_taken_back", [True, False])
def test_a_way_back_that_was_cut(clusters: Clusters, cut: str, is_taken_back: bool) -> None:
    failback(writers=["User:orders"]).next(False)
    clusters.killed_at = cut
    with pytest.raises(Killed):
        back().back(False)
    clusters.done.clear()
    if is_taken_back:
        back().back(False)
        assert (clusters.kept["loss"]["back"], clusters.kept["denied"]) == (None, [])
        assert clusters.done[-2:] == ["allow 1", "note the loss"]
    else:
        assert failback().next(False)["stage"] == "kept"
        assert (clusters.done[0], clusters.kept_denials) == ("deny 1", {"a->b": 1})


def test_another_run_at_the_same_time_is_refused_before_anything_is_allowed(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch
) -> None:
    failback(writers=["User:orders"]).next(False)
    late = back()
    failback().next(False)
    clusters.made.clear()
    clusters.done.clear()
    monkeypatch.setattr(steps_apply, "claim_state", lambda *_arguments: None)
    with pytest.raises(RefusedError, match=r"at the same time: alice \(turned\)"):
        late.back(False)
    assert clusters.done == []


def test_check_mode_of_the_way_back_changes_nothing(clusters: Clusters) -> None:
    failback(writers=["User:orders"]).next(False)
    clusters.done.clear()
    result = back().back(True)
    assert result["lines"][0] == "Allowed      User:orders may again write orders"
    assert (result["changed"], result["next_step"], clusters.done) == (True, "kept", [])
    clusters.made = ["_streamops_surplus.2026-11-30.orders"]
    with pytest.raises(RefusedError, match="the step kept was begun"):
        back().back(True)


def test_there_is_no_way_back_once_a_topic_keeps_a_surplus(clusters: Clusters) -> None:
    failback(writers_stopped=True).next(False)
    # The topic is made, and the run is killed before it is noted.
    clusters.killed_at = COPY
    with pytest.raises(Killed):
        failback().next(False)
    name = "_streamops_surplus.2026-11-30.orders"
    for words in (rf"kept was begun \({name} in b\).*Take the next step", rf"a had alone is kept \({name} in b\)"):
        clusters.done.clear()
        with pytest.raises(RefusedError, match=words) as raised:
            back().back(False)
        assert clusters.done == []
        for _run in range(2):
            with contextlib.suppress(RefusedError):
                failback().next(False)
    assert "only move forward. Enable b->a, run site.yml, then fail over by it" in str(raised.value)


def test_a_failback_of_an_older_release_is_taken_back_too(clusters: Clusters) -> None:
    failback(writers=["User:orders"]).next(False)
    del clusters.kept["loss"]["back"]["before"]
    back().back(False)
    assert (clusters.kept["at"], clusters.kept["denied"], clusters.kept["loss"]["back"]) == (OPENED, [], None)

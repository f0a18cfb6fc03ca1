# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps of a failover whose source is lost, in the order in which they ask and write, also when a run is cut."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import Group, Listed, Offset, Offsets
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import Mark, Marks, Moment
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import apply, loss_apply, steps_apply
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.loss import Survivors
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.model import Checkpoint
from tests.support.acts import Acts, Killed

FLOW = Flow("a", "b", ("orders",))
KEY = "mirror_failover a->b"
TARGET: Any = "the target"
PLACE = ("orders", 0)
LOOKED = Moment("2026-11-30T03:12:40Z", "mirror1")
LEFT = Survivors(
    Marks({"orders": "id1", "other": "id2"}, {PLACE: Mark(60, 60, 100, 7, ((60, 99),))}, looked=LOOKED),
    Moment("2026-11-30T03:20:10Z", "mirror1"),
    positions={PLACE: 60},
    copies={PLACE: Log(0, 60)},
    checkpoints={("billing", PLACE): Checkpoint(52, 50)},
)


class Target(Acts):
    """The record and the groups of the target, and what was done in which order."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: dict[str, Any] = {}
        self.left = LEFT
        self.answer = ("", "a1:9092: refused")

    def claim_state(self, session: str, key: str, value: Any, _since: int) -> Any:
        """Keep a value."""
        assert (session, key) == (TARGET, KEY)
        self.do(f"keep {value['stage']}")
        self.kept[key] = value
        return value

    def write_state(self, _session: str, key: str, value: Any) -> int:
        """Forget a value."""
        assert value is None
        self.do("forget")
        del self.kept[key]
        return 8

    def bring_offsets(self, session: str, group: str, offsets: Mapping[Any, int]) -> tuple[()]:
        """Set the offsets of a group."""
        assert session == TARGET
        self.do(f"{group} to {offsets}")
        there = Offsets({key: Offset(at) for key, at in offsets.items()})
        self.left = replace(self.left, groups=[(Group(Listed(group, "classic", "", "", 1)), there)])
        return ()


@pytest.fixture
def target(monkeypatch: pytest.MonkeyPatch) -> Target:
    """A target without Kafka."""
    made = Target()
    for name in ("claim_state", "write_state"):
        monkeypatch.setattr(steps_apply, name, getattr(made, name))
    monkeypatch.setattr(steps_apply, "made_state_topic", lambda _session: False)
    monkeypatch.setattr(apply, "read_state", lambda _session, key: (made.kept.get(key), 7))
    monkeypatch.setattr(loss_apply, "bring_offsets", made.bring_offsets)
    monkeypatch.setattr(loss_apply, "answer_of", lambda *_arguments: made.answer)
    monkeypatch.setattr(loss_apply, "survivors_of", lambda *_arguments: made.left)
    return made


def failover(**given: Any) -> loss_apply.LossFailover:
    """Return a failover as a run of its own begins it."""
    params = {"operator": "alice", "writers": [], "stage": "", "flow_enabled": False, **given}
    return loss_apply.LossFailover(FLOW, TARGET, params)


def planned(stage: str, *denied: Any) -> dict[str, Any]:
    """Return the record of a planned failover, as it is kept."""
    return {"stage": stage, "by": "alice", "at": "then", "are_stopped": True, "denied": list(denied)}


def test_a_step_to_another_stage_than_the_approved_one_is_refused(target: Target) -> None:
    with pytest.raises(RefusedError, match="a->b leads to moved, and turned was approved"):
        failover(stage="turned").next(False)
    assert target.done == []
    assert failover(stage="moved").next(False)["stage"] == "moved"


def test_both_steps(target: Target) -> None:
    moved = failover(flow_enabled=True).next(False)
    assert target.done == ["billing to {('a.orders', 0): 50}", "keep moved"]
    assert any(
        "billing (0 members): goes on at its offsets in b, reads at most 10 records" in line for line in moved["lines"]
    )
    with pytest.raises(steps_apply.StepNotReachedError, match="mirror_flows still enables") as raised:
        failover(flow_enabled=True).next(False)
    assert "denied" not in str(raised.value)
    assert "or go back with kafka_failover_step=back" in str(raised.value)
    assert failover().next(False)["stage"] == "turned"
    loss = target.kept[KEY]["loss"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d-\d{6}", loss.pop("stamp"))
    assert loss.pop("opened_at") == target.kept[KEY]["at"]
    place = {"orders": {"0": 60}}
    assert loss == {"looked_at": LOOKED.at, "copied": place, "ends": place, "ids": {"orders": "id1"}, "back": None}
    for take in (failover().next, failover().back):
        with pytest.raises(RefusedError, match="so no step is left"):
            take(False)


@pytest.mark.parametrize("cut", ["billing to {('a.orders', 0): 50}", "keep moved"])
def test_a_step_that_was_cut_is_taken_by_the_next_run(target: Target, cut: str) -> None:
    target.killed_at = cut
    with pytest.raises(Killed):
        failover().next(False)
    assert target.kept == {}
    assert failover().next(False)["stage"] == "moved"


def test_offsets_that_expired_since_are_set_again_before_the_target_opens(target: Target) -> None:
    failover().next(False)
    target.left = LEFT
    target.done.clear()
    failover().next(False)
    assert target.done == ["billing to {('a.orders', 0): 50}", "keep turned"]


def test_a_planned_failover_goes_on_from_its_record(target: Target) -> None:
    target.kept[KEY] = planned("fenced", ["User:orders", "orders"])
    assert "and you are bob" in str(refusal(failover(operator="bob").next))
    assert failover().next(False)["stage"] == "moved"
    with pytest.raises(steps_apply.StepNotReachedError, match=r"what was denied stays denied\. Run the same again\.$"):
        failover(flow_enabled=True).next(False)
    assert target.kept[KEY]["denied"] == [["User:orders", "orders"]]
    # What stands in the source cannot be taken away there.
    assert "could not be taken away there" in str(refusal(failover().back))
    target.kept[KEY] = planned("turned")
    assert "The last step needs a" in str(refusal(failover().next))


def refusal(take: Any) -> RefusedError:
    """Return why a step is refused."""
    with pytest.raises(RefusedError) as raised:
        take(False)
    return raised.value


def test_a_source_that_answers_is_refused_before_anything_is_read(target: Target) -> None:
    target.answer = ("it answers at a1:9092", "")
    assert "a is not lost: it answers at a1:9092." in str(refusal(failover().next))
    target.answer = ("", "")
    assert "nobody can be denied" in str(refusal(failover(writers=["User:orders"]).next))
    assert target.done == []


def test_back_forgets_what_was_begun(target: Target) -> None:
    assert failover().back(False)["changed"] is False
    failover().next(False)
    assert failover().back(True)["stage"] == ""
    assert KEY in target.kept
    failover().back(False)
    assert target.kept == {}


def test_check_mode_says_what_a_step_lacks(target: Target) -> None:
    assert "Ready        moved would be reached now" in failover().next(True)["lines"]
    failover().next(False)
    target.done.clear()
    assert any("mirror_flows still enables" in line for line in failover(flow_enabled=True).next(True)["lines"])
    assert target.done == []

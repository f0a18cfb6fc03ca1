# SPDX-License-Identifier: GPL-3.0-or-later
"""What is read of a target whose source is lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import Group, Listed, Offsets
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow, offsets_topic
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import Marks, Moment
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import loss_look as act
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.loss import loss_of, unturned_after_loss

FLOW = Flow("a", "b", ("orders",))
TARGET: Any = "the target"


def test_a_target_is_not_opened_while_its_mirrors_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    listed = Listed("a-mm2", "classic", "", "", 3)
    groups = {"a-mm2": Group(listed, error="broker 3 is silent")}
    notes = SimpleNamespace(positions={}, checkpoint_at=None)
    answers: dict[str, Any] = {
        "topics_at": {offsets_topic(FLOW): [0]},
        "read_notes": notes,
        "copies_of": {},
        "list_groups": ([listed], {}),
        "described": (groups, [listed], {"a-mm2": Offsets()}),
        "checkpoints_of": {},
        "_newest": {},
        "kept_with_time": Marks(),
        "now": Moment("2026-11-30T03:20:10Z", "mirror1"),
    }
    for name, answer in answers.items():
        monkeypatch.setattr(act, name, lambda *_arguments, answer=answer: answer)
    plan = loss_of(FLOW, act.survivors_of(FLOW, TARGET, "", "a1:9092: refused"))
    (reason,) = unturned_after_loss(plan, is_enabled=False)
    assert reason == (
        "groups are not known: group a-mm2 of b (broker 3 is silent). Start these brokers, then plan again."
    )

# SPDX-License-Identifier: GPL-3.0-or-later
"""What follows from a phase: each has its row, and only finalising closes the way back."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration import phase as phases
from ansible_collections.streamops.kafka.plugins.module_utils._migration.phase import Phase
from ansible_collections.streamops.kafka.plugins.module_utils._migration.steps import STEPS, outlook
from ansible_collections.streamops.kafka.plugins.module_utils._migration.troubles import Trouble

APART = (phases.CREATED_IN_KRAFT, phases.CANNOT_MIGRATE, phases.UNKNOWN)


def test_each_phase_has_one_row_in_the_order_of_the_way() -> None:
    assert list(STEPS) == [*phases.WAY, *APART]


@pytest.mark.parametrize("name", STEPS)
def test_a_row_is_whole(name: str) -> None:
    step = STEPS[name]
    assert step.means
    assert step.stay
    assert bool(step.next) == bool(step.does) == (name not in (*APART, phases.ZOOKEEPER_GONE))
    assert bool(step.back) == bool(step.cost)
    assert all(not text.endswith(".") for text in (step.means, step.does, step.back, step.cost, step.stay))


def test_the_way_back_is_open_until_it_is_finalised_and_never_after() -> None:
    assert [name for name in phases.WAY if not STEPS[name].back] == [phases.FINALISED, phases.ZOOKEEPER_GONE]


def test_only_what_cannot_be_taken_back_is_to_be_confirmed() -> None:
    confirmed = [name for name in STEPS if STEPS[name].confirmation]
    assert confirmed == [phases.DUAL_WRITE_KRAFT, phases.FINALISED]


@pytest.mark.parametrize(
    ("name", "blocks", "on", "back"),
    [
        (phases.COPIED, [], True, True),
        (phases.COPIED, [()], True, True),
        (phases.COPIED, [("forward",)], False, True),
        (phases.COPIED, [("back",)], True, False),
        (phases.COPIED, [("forward",), ("forward", "back")], False, False),
        (phases.FINALISED, [], True, False),
        (phases.UNKNOWN, [], False, False),
        (phases.ZOOKEEPER_GONE, [], False, False),
    ],
)
def test_troubles_close_the_ways_that_they_name(name: str, blocks: list[tuple[str, ...]], on: bool, back: bool) -> None:
    seen = outlook(Phase(name), [Trouble("any", "what", "fix", one) for one in blocks])
    assert (seen.may_go_on, seen.may_go_back) == (on, back)


@pytest.mark.parametrize("name", [phases.COPIED, phases.BROKERS_MOVING, phases.DUAL_WRITE_KRAFT])
def test_the_way_back_from_a_dual_write_deletes_the_znodes_in_the_order_that_frees_a_controller_first(
    name: str,
) -> None:
    back = STEPS[name].back
    assert back.index("stop the controllers") < back.index("/controller") < back.index("/migration")
    assert back.index("/migration") < back.index("without the migration settings")

# SPDX-License-Identifier: GPL-3.0-or-later
"""What operators read of a phase: evidence of each kind, the next step, the way back, and what blocks them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._migration.model import ClusterLook, EnsembleLook
from ansible_collections.streamops.kafka.plugins.module_utils._migration.shown import (
    outlook_of,
    phase_lines,
    result_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._migration.steps import STEPS
from tests.unit.plugins.module_utils._migration import looks


def rows(look: ClusterLook) -> dict[str, str]:
    return {line[:13].strip(): line[13:] for line in phase_lines(look, outlook_of(look))}


def test_a_dual_write_shows_its_evidence() -> None:
    shown = rows(looks.brokers_moving())
    assert shown["Cluster"] == "blue: brokers_moving (1 of 3 brokers)"
    assert shown["Controllers"].startswith("controller1 MIGRATION, ")
    assert shown["Controllers"].endswith("; epoch of the quorum 4")
    assert shown["Brokers"] == "1 kraft, 2 migrating"
    assert shown["ZooKeeper"] == (
        "3 of 3 servers serve; /controller 101 (of KRaft), /controller_epoch 9, /migration copied"
    )


@pytest.mark.parametrize("make", [looks.not_begun, looks.copied, looks.dual_write_kraft, looks.finalised])
def test_next_step_and_way_back_are_those_of_the_table(make: object) -> None:
    look = make()  # type: ignore[operator]
    shown, step = rows(look), STEPS[outlook_of(look).phase.name]
    assert shown["Next step"].startswith(f"{step.next}: {step.does}")
    assert (step.confirmation in shown["Next step"]) is True
    assert shown["Way back"] == (f"{step.back}. It costs {step.cost}" if step.back else "none")
    assert shown["May stay"] == step.stay


@pytest.mark.parametrize(
    ("look", "name", "on", "back"),
    [
        (looks.with_node(looks.copied(), "broker2", running=False), "Blocks next", False, True),
        (replace(looks.copied(), ensemble=EnsembleLook(3, 1, 0, None, "timed out")), "Blocks both", False, False),
        (looks.with_node(looks.copied(), "controller2", epoch=23), "Note", True, True),
    ],
)
def test_a_trouble_says_what_it_blocks(look: ClusterLook, name: str, on: bool, back: bool) -> None:
    shown = rows(look)
    assert "fix: " in shown[name]
    assert ("not now" not in shown["Next step"], "not now" not in shown["Way back"]) == (on, back)


def test_what_was_not_read_is_not_shown_as_missing() -> None:
    shown = rows(replace(looks.copied(), ensemble=EnsembleLook(3, 1, 0, None, "timed out")))
    assert shown["ZooKeeper"] == "1 of 3 servers serve; znodes not read: timed out"
    silent = looks.with_node(looks.copied(), "controller2", silence="timed out", log=None)
    assert "controller2 no answer" in rows(silent)["Controllers"]
    assert "controller1 no log (stopped)" in rows(looks.not_begun())["Controllers"]


def test_programs_read_what_people_do() -> None:
    look = looks.brokers_moving()
    result = result_of(look, outlook_of(look))
    assert result["lines"] == phase_lines(look, outlook_of(look))
    assert (result["phase"], result["brokers_done"], result["brokers_total"]) == ("brokers_moving", 1, 3)
    assert result["modes"] == {"1": "kraft", "2": "migrating", "3": "migrating"}
    assert result["states"] == dict.fromkeys(("controller1", "controller2", "controller3"), "MIGRATION")
    assert (result["quorum_epoch"], result["zookeeper_epoch"]) == (4, 9)
    assert (result["controller"], result["led_by_kraft"]) == (101, True)
    assert (result["next"], result["stay"]) == (STEPS["brokers_moving"].next, STEPS["brokers_moving"].stay)
    assert (result["troubles"], result["may_go_on"], result["may_go_back"]) == ([], True, True)


def test_programs_read_what_blocks_which_way() -> None:
    look = looks.with_node(looks.copied(), "broker2", running=False)
    result = result_of(look, outlook_of(look))
    (trouble,) = result["troubles"]
    assert (trouble["name"], trouble["blocks"]) == ("broker_down", ["forward"])
    assert trouble["fix"]
    assert (result["may_go_on"], result["may_go_back"]) == (False, True)


def test_programs_read_nothing_for_what_is_not_known() -> None:
    unread = replace(looks.copied(), ensemble=EnsembleLook(3, 1, 0, None, "timed out"))
    result = result_of(unread, outlook_of(unread))
    assert (result["zookeeper_epoch"], result["controller"], result["led_by_kraft"]) == (None, None, None)
    silent = looks.with_node(looks.copied(), "controller2", silence="timed out", log=None)
    assert result_of(silent, outlook_of(silent))["states"]["controller2"] is None


def test_a_right_that_is_missing_is_mended_by_a_login_and_not_at_the_ensemble() -> None:
    refused = replace(looks.copied(), ensemble=EnsembleLook(3, 3, 0, None, "/migration: x has no right to read it"))
    assert "zookeeper_password" in rows(refused)["Blocks both"]
    down = replace(looks.copied(), ensemble=EnsembleLook(3, 1, 0, None, "no server leads"))
    assert "mend the ensemble" in rows(down)["Blocks both"]

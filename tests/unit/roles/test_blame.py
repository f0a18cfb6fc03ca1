# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a broker that is at fault for another one: what was taken back, or why nothing was."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from tests.support.cluster import ROOT

ROLL = ROOT / "roles" / "_common" / "tasks" / "roll"
TASKS = yaml.safe_load((ROLL / "at_fault.yml").read_text())
BLAMED = {
    "node": "kafka2", "name": "kafka1", "names": "kafka1", "why": "It is kafka1.", "goes_back": True,
    "restarts": False, "both_changed": False,
}  # fmt: skip
(BRING,) = (task for task in TASKS if "rescue" in task)
NOT_BACK = BRING["rescue"][0]["ansible.builtin.fail"]["msg"]
DONE = {"changed": True}
#: What a task leaves that a condition has left out: it registers this all the same.
LEFT_OUT = {"changed": False, "skipped": True, "skip_reason": "Conditional result was False"}


def said(message: str, **known: Any) -> str:
    """Return a message of the tasks on kafka1."""
    variables = {"inventory_hostname": "kafka1", "_model": {"paths": {"config": "/etc/kafka/kafka1"}}, **known}
    return " ".join(Templar(loader=DataLoader(), variables=variables).template(trust_as_template(message)).split())


@pytest.mark.parametrize(
    ("blamed", "back", "told"),
    [
        ({}, DONE, "These start files were taken back: kafka1 runs again"),
        ({"goes_back": False}, LEFT_OUT, "Nothing was taken back: what kafka1 runs with did not change"),
        ({"goes_back": False}, None, "Nothing was taken back: what kafka1 runs with did not change"),
        ({"goes_back": False, "restarts": True}, LEFT_OUT, "Nothing was taken back: kafka1 is to get other files"),
        (
            {"goes_back": False, "both_changed": True, "names": "kafka1 or kafka2"},
            LEFT_OUT,
            "Nothing was taken back: this run changed kafka1 and kafka2, and either may be",
        ),
        # There are no start files from before.
        ({}, LEFT_OUT, "or it has no start files to go back to"),
    ],
)
def test_what_was_taken_back_is_said_only_where_it_was(
    blamed: dict[str, Any], back: dict[str, Any] | None, told: str
) -> None:
    known = {"_common_blamed": {**BLAMED, **blamed}, **({} if back is None else {"__common_back": back})}
    message = said(TASKS[-1]["ansible.builtin.fail"]["msg"], **known)
    assert told in message
    assert ("taken back: kafka1 runs again" in message) == (back == DONE)


@pytest.mark.parametrize(("back", "in_use"), [(DONE, True), ({"failed": True}, False), (None, False)])
def test_a_node_that_is_not_back_says_which_start_files_are_in_use(back: dict[str, Any] | None, in_use: bool) -> None:
    known = {"_common_blamed": BLAMED, "ansible_failed_result": {"msg": "no"}}
    message = said(NOT_BACK, **known, **({} if back is None else {"__common_back": back}))
    assert ("which are not in use" in message) != in_use
    assert "kafka1 could not be brought back" in message


def test_a_gate_that_stays_shut_is_said_together_with_who_is_at_fault() -> None:
    shut = {"failed": True, "msg": "restart_gate node 1: refused", "refusals": [{"kind": "under_min_isr"}]}
    message = said(NOT_BACK, _common_blamed=BLAMED, __common_gate=shut, ansible_failed_result=shut)
    assert message == (
        "It is kafka1. kafka1 was to go back to its start files from before, but the gate stayed shut: it was not "
        "stopped, and nothing was taken back. Now: restart_gate node 1: refused fix: correct the values of kafka1 and "
        "run again; stop no other node meanwhile."
    )
    # Nothing that may fail stands outside of the rescue, but for the look and the report of the end.
    modules = [{key for key in task if "." in key or key == "block"} for task in TASKS]
    assert modules == [{"streamops.kafka.node_generation"}, {"block"}, {"ansible.builtin.fail"}]
    assert BRING["block"][0]["ansible.builtin.include_tasks"] == "roll/gate_kafka.yml"


def test_who_is_at_fault_is_judged_once_by_the_node_that_is_not_whole() -> None:
    """A condition of a block is asked before each of its tasks, and what this node does meanwhile is seen as well."""
    assert "_model.seen.blamed" not in (ROLL / "at_fault.yml").read_text()
    (schedules,) = (
        task for task in yaml.safe_load((ROLL / "blame.yml").read_text()) if "ansible.builtin.add_host" in task
    )
    assert schedules["ansible.builtin.add_host"]["_common_blamed"] == "{{ _model.seen.blamed }}"

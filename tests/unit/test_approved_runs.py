"""A run that was approved compares the nodes that it could start, whichever tags it was given."""

from __future__ import annotations

from pathlib import Path

import yaml
from jinja2.nativetypes import NativeEnvironment

ROOT = Path(__file__).resolve().parents[2]
#: The tags under which a node is installed, gets its files, and is started.
OF_NODES = {"kafka_install", "kafka_configure", "kafka_service"}


def test_nodes_are_compared_under_each_tag_that_does_something_to_them() -> None:
    plays = yaml.safe_load((ROOT / "playbooks" / "site.yml").read_text())
    tasks = [
        task for play in plays for block in play.get("tasks", []) for task in block.get("block", [block])
        if task.get("ansible.builtin.include_role", {}).get("tasks_from") == "foreseen.yml"
    ]  # fmt: skip
    assert tasks, "site.yml compares no nodes"
    for task in tasks:
        assert set(task["tags"]) == OF_NODES
        assert set(task["ansible.builtin.include_role"]["apply"]["tags"]) == OF_NODES
    starts = yaml.safe_load((ROOT / "roles" / "_common" / "tasks" / "node.yml").read_text())
    assert {tag for task in starts for tag in task["tags"]} == OF_NODES, "a node has a further tag"


def test_a_controller_that_a_run_leaves_alone_is_in_no_plan() -> None:
    """The plan of --check does not have it either: there its role passes it by (a migration that has not begun)."""
    (look,) = yaml.safe_load((ROOT / "roles/_common/tasks/foreseen.yml").read_text())
    compares = NativeEnvironment().compile_expression(look["when"])
    for stage, compared in (("", True), ("migrating", True), ("left_alone", False)):
        known = {"_kafka_nodes": [{"host": "c1"}], "_model": {"members": []}, "_kafka_stage": stage}
        assert bool(compares(inventory_hostname="c1", **known)) is compared
    role = yaml.safe_load((ROOT / "roles/kraft_controller/tasks/main.yml").read_text())
    assert "_kafka_stage != 'left_alone'" in role[-1]["when"]

"""A canary that is not wanted ends before it loses its rights and its events, and a host that cannot run one is refused
before anything is changed."""

from __future__ import annotations

import pytest
import yaml

from tests.support.cluster import ROOT

#: What a run changes, in the order of the plays: nodes, what clusters hold, mirrors.
CHANGES = (
    "Install, configure and start the servers of ZooKeeper",
    "Apply topics, users, ACLs, quotas and live settings",
    "Apply the mirrors of the inventory",
)


@pytest.mark.parametrize("playbook", ["site.yml", "mirrors.yml"])
def test_it_ends_and_is_checked_before_the_first_change(playbook: str) -> None:
    plays = yaml.safe_load((ROOT / "playbooks" / playbook).read_text())
    imported = [str(play.get("ansible.builtin.import_playbook")) for play in plays]
    names = [play["name"] for play in plays]
    changes = [names.index(name) for name in CHANGES if name in names]
    assert changes
    assert imported.index("_canaries_step.yml") < min(changes)


def test_hosts_are_checked_before_a_canary_is_removed() -> None:
    tasks = yaml.safe_load((ROOT / "roles/mirror_maker/tasks/canary_first.yml").read_text())
    kinds = [next(key for key in task if "." in key) for task in tasks]
    assert kinds.index("ansible.builtin.assert") < kinds.index("ansible.builtin.include_tasks")
    assert tasks[kinds.index("ansible.builtin.include_tasks")]["ansible.builtin.include_tasks"] == "canary/removed.yml"

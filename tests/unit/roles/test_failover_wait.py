# SPDX-License-Identifier: GPL-3.0-or-later
"""How long the step drained of a failover waits without progress is said by a variable of the role."""

from __future__ import annotations

import yaml
from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar, trust_as_template

from tests.support.cluster import ROOT


def test_the_wait_of_the_step_drained_is_a_variable() -> None:
    tasks = yaml.safe_load((ROOT / "roles" / "mirror_maker" / "tasks" / "failover.yml").read_text())
    named = {task["name"]: task for block in tasks for task in block.get("block", [])}
    wait = named["Failover | Wait until the target has all records"]["streamops.kafka.mirror_status"]
    known = {"_settings": {"mirror_maker_drain_timeout": 900}}
    templar = Templar(loader=DataLoader(), variables=known)
    assert templar.template(trust_as_template(wait["timeout"])) == 900

# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks as jobs of AWX on a cluster that leaves them nothing to do, or no way to do it."""

from __future__ import annotations

import pytest

from tests.support.awx_job import SITE, Jobs

pytestmark = pytest.mark.full

#: By playbook its arguments, its answers, and what a job without mistakes says.
DONE: dict[str, tuple[list[str], dict[str, str], str]] = {
    "mirrors": ([], SITE, ""),
    "rebalance": ([], {}, "Nothing to move"),
    "status": ([], {"status_strict": "yes"}, "OK orders"),
}
#: The same of what this cluster cannot do, or what fails whenever it runs.
REFUSED: dict[str, tuple[list[str], dict[str, str], str]] = {
    "drain_and_remove_broker": ([], {"kafka_remove_broker": "kafka3"}, "every broker here is a voter"),
    "look_after_failure": ([], {}, "OK orders"),
    "replace_node": (["--check"], {"kafka_replace_node": "kafka3", **SITE}, "A node that lives needs no replacement"),
    "zookeeper_members": ([], SITE, "zookeeper"),
}


@pytest.mark.parametrize("playbook", DONE)
def test_a_playbook_runs_as_a_job(playbook: str, jobs: Jobs) -> None:
    words, answers, said = DONE[playbook]
    assert said in jobs.run(f"playbooks/{playbook}.yml", *words, **answers).ok().told


@pytest.mark.parametrize("playbook", REFUSED)
def test_a_playbook_that_cannot_do_its_work_here_says_so_as_a_job(playbook: str, jobs: Jobs) -> None:
    words, answers, said = REFUSED[playbook]
    assert said in jobs.run(f"playbooks/{playbook}.yml", *words, **answers).refused()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Job templates as jobs of AWX on a cluster that leaves them nothing to do, or no way to do it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.awx_job import SITE, Jobs
from tests.support.awx_words import Login

pytestmark = pytest.mark.full

#: By job template its answers, and what a job without mistakes says.
DONE: dict[str, tuple[dict[str, str], str]] = {
    "adoption, look": ({}, "Looked at"),
    "groups": ({}, ""),
    "migration to KRaft": ({}, "created_in_kraft"),
    "mirrors": (SITE, ""),
    "rebalance": ({}, "Nothing to move"),
    "rebalance, plan": ({}, "Nothing to move"),
    "site, plan": (SITE, "OK orders"),
    "users and ACLs": ({}, ""),
    "watch": ({}, "OK orders"),
}
#: The same of what this cluster cannot do, or what fails whenever it runs.
REFUSED: dict[str, tuple[dict[str, str], str]] = {
    "adoption, finish": ({"kafka_adopt_confirmed": "yes"}, "kafka_adopt_confirmed=finish"),
    "adoption, give back, plan": ({}, "cannot be given back"),
    "drain and remove a broker": ({"kafka_remove_broker": "kafka3"}, "every broker here is a voter"),
    "look after a failure": ({}, "OK orders"),
    "migration step": ({}, "no step leads on from the phase created_in_kraft"),
    "migration step, plan": ({}, "no step leads on from the phase created_in_kraft"),
    "replace a node, plan": ({"kafka_replace_node": "kafka3", **SITE}, "A node that lives needs no replacement"),
    "ZooKeeper members": (SITE, "zookeeper"),
}


@pytest.mark.parametrize("name", DONE)
def test_a_template_runs_as_a_job(name: str, jobs: Jobs) -> None:
    answers, said = DONE[name]
    assert said in jobs.run(name, **answers).ok().told


@pytest.mark.parametrize("name", ["groups", "users and ACLs"])
def test_a_template_that_does_not_escalate_needs_no_machine(name: str, jobs: Jobs) -> None:
    replace(jobs, login=Login("nobody-there")).run(name).ok()


@pytest.mark.parametrize("name", REFUSED)
def test_a_template_that_cannot_do_its_work_here_says_so_as_a_job(name: str, jobs: Jobs) -> None:
    answers, said = REFUSED[name]
    assert said in jobs.run(name, **answers).refused()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Every playbook that users start, once as a job of AWX: for real where the cluster can take it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.awx_job import SITE, Jobs

pytestmark = pytest.mark.full

ROOT = Path(__file__).resolve().parents[3]
PLAN = {"plan_only": "yes"}
#: By playbook its arguments, its answers, and what a job without mistakes says.
DONE: dict[str, tuple[list[str], dict[str, str], str]] = {
    "add_brokers": ([], {**PLAN, **SITE}, "Nothing to move"),
    "change_replication_factor": ([], {**PLAN, "kafka_replication_factor": '{"orders": 2}'}, "replicas are removed"),
    "grow_topic": ([], {**PLAN, "kafka_grow_topic": "orders", "kafka_grow_partitions": "9"}, "from 6 to 9"),
    "mirrors": ([], SITE, ""),
    "rebalance": ([], {}, "Nothing to move"),
    "rolling_restart": (["--check"], SITE, "would restart"),
    "site": ([], SITE, "OK orders"),
    "status": ([], {"status_strict": "yes"}, "OK orders"),
    "validate": ([], {"spark_validation_records": "3000", "spark_validation_timeout": "1200"}, "PASS"),
}
#: The same of what this cluster cannot do, or what fails whenever it runs.
REFUSED: dict[str, tuple[list[str], dict[str, str], str]] = {
    "drain_and_remove_broker": ([], {"kafka_remove_broker": "kafka3"}, "every broker here is a voter"),
    "look_after_failure": ([], {}, "OK orders"),
    "replace_node": (["--check"], {"kafka_replace_node": "kafka3", **SITE}, "A node that lives needs no replacement"),
    "zookeeper_members": ([], SITE, "zookeeper"),
}
#: A test of its own; and what works on AWX, from the machine of a person.
ELSEWHERE = {"stop", "awx"}


def test_no_playbook_is_left_out() -> None:
    public = {path.stem for path in (ROOT / "playbooks").glob("[!_]*.yml")}
    assert public == {*DONE, *REFUSED, *ELSEWHERE}


@pytest.mark.parametrize("playbook", DONE)
def test_a_playbook_runs_as_a_job(playbook: str, jobs: Jobs) -> None:
    words, answers, said = DONE[playbook]
    assert said in jobs.run(f"playbooks/{playbook}.yml", *words, **answers).ok().told


@pytest.mark.parametrize("playbook", REFUSED)
def test_a_playbook_that_cannot_do_its_work_here_says_so_as_a_job(playbook: str, jobs: Jobs) -> None:
    words, answers, said = REFUSED[playbook]
    assert said in jobs.run(f"playbooks/{playbook}.yml", *words, **answers).refused()


def test_a_job_stops_the_cluster_and_the_next_one_starts_it(jobs: Jobs) -> None:
    jobs.run("playbooks/stop.yml", **SITE).ok()
    for name in jobs.machines.addresses:
        state = jobs.machines.run(name, "sh", "-c", f"systemctl is-active kafka-{name} || true").strip()
        assert state == "inactive", (name, state)
    jobs.run("site.yml", **SITE).ok()
    assert "OK orders: 3 brokers up" in jobs.run("playbooks/status.yml", status_strict="yes").ok().told

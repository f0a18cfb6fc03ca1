# SPDX-License-Identifier: GPL-3.0-or-later
"""Playbooks as jobs of AWX: containers that start empty and end whenever, machines reached by SSH, answers as text."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from ansible.parsing.vault import VaultLib, VaultSecret

from tests.support.awx_job import SITE, Jobs, begins
from tests.support.awx_words import Vault

pytestmark = pytest.mark.full


def test_the_status_of_what_the_first_job_installed_is_ok(jobs: Jobs) -> None:
    job = jobs.run("watch").ok()
    assert "OK orders: 3 brokers up, 6 partitions in sync" in job.told
    assert job.changed == 0


def test_a_second_job_gets_its_hosts_in_another_order_and_changes_nothing(jobs: Jobs) -> None:
    job = jobs.run("site", **SITE).ok()
    assert job.changed == 0, job.output[-6000:]


def test_a_plan_asked_for_by_the_text_of_a_survey_moves_nothing(jobs: Jobs) -> None:
    job = jobs.run("rebalance", plan_only="yes").ok()
    assert job.changed == 0


def test_a_value_of_the_inventory_that_is_sealed_by_itself_is_opened_by_the_vault_credential(jobs: Jobs) -> None:
    sealed = VaultLib([("default", VaultSecret(b"opens"))]).encrypt("0").decode()
    given = {**jobs.variables, "seconds": {"__ansible_vault": sealed}}
    replace(jobs, variables=given, vaults=(Vault("opens"),)).run("hold_lock.yml").ok()


def test_a_variable_that_a_credential_injects_goes_before_the_inventory(jobs: Jobs) -> None:
    replace(jobs, variables={**jobs.variables, "seconds": "none"}, injected={"seconds": "0"}).run("hold_lock.yml").ok()


LOCK = "/etc/kafka/orders.lock"


def killed_with_the_lock(jobs: Jobs) -> str:
    """Kill a job that holds the restart lock; return the name in it."""
    killed = jobs.run("hold_lock.yml", kill=begins("Hold it"), seconds="60")
    assert killed.rc is None
    return str(json.loads(jobs.machines.run("kafka1", "cat", LOCK))["owner"])


def test_the_lock_of_a_killed_job_names_it_and_gives_way_to_a_job_that_is_told_so(jobs: Jobs) -> None:
    owner = killed_with_the_lock(jobs)
    assert owner.startswith(f"AWX job {jobs.number} on awx-job-{jobs.number} (process ")
    # As of another machine of AWX: the kernel may give the next container here the number of the dead one's namespace,
    # which shows that it is dead.
    jobs.machines.run("kafka1", "sed", "-i", 's/"run": "[0-9a-f-]*/"run": "another-boot/', LOCK)
    refused = jobs.run("hold_lock.yml", seconds="0")
    assert f"or for a run that is given kafka_ended_run '{owner}'" in refused.refused()
    again = jobs.run("hold_lock.yml", seconds="0", kafka_ended_run=owner).ok()
    assert f"the lock of {owner}" in again.told
    assert jobs.machines.run("kafka1", "cat", LOCK) == ""

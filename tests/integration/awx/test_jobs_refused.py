# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs with bad input: refused by name and without any change; and parts of a run that a job may ask for."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from tests.support.awx_job import SITE, Event, Job, Jobs, begins
from tests.support.cluster import until


def test_an_answer_that_no_playbook_knows_is_refused_with_the_name_that_is_meant(jobs: Jobs) -> None:
    why = jobs.run("playbooks/rebalance.yml", kafka_resources_move_throtle="50000000").refused()
    assert "extra variable kafka_resources_move_throtle. fix: perhaps kafka_resources_move_throttle is meant" in why


def test_an_inventory_without_hosts_fails_the_job(jobs: Jobs) -> None:
    why = replace(jobs, groups={}).run("playbooks/rebalance.yml").refused()
    assert "The inventory has no host in the groups zookeeper, kraft_controllers, kafka_brokers, mirror_makers" in why


def test_a_limit_to_a_part_of_the_cluster_is_refused(jobs: Jobs) -> None:
    assert "--limit kafka1 leaves out" in jobs.run("playbooks/rebalance.yml", "--limit", "kafka1").refused()


@pytest.mark.full
def test_the_plan_of_yesterday_is_not_carried_out(jobs: Jobs) -> None:
    job = jobs.run("playbooks/rebalance.yml", kafka_plan_digest="7-9-" + "0" * 64)
    assert job.rc not in (None, 0)
    assert "this is not the plan that was approved: that one changes 7 partitions with 9 moves" in job.told
    assert "No replica was moved" in job.told


@pytest.mark.full
def test_a_missing_password_of_the_administrator_is_refused_by_the_name_of_its_variable(jobs: Jobs) -> None:
    listeners = [
        {"name": "CLIENT", "port": 9092, "protocol": "SASL_PLAINTEXT", "purpose": "clients"},
        {"name": "CONTROLLER", "port": 9093, "protocol": "PLAINTEXT", "purpose": "controllers"},
    ]
    secured = {**jobs.variables, "kafka_listeners": listeners}
    why = replace(jobs, variables=secured).run("site.yml", **SITE).refused()
    assert "kafka_admin_password" in why


@pytest.mark.full
def test_of_two_jobs_at_once_the_second_is_refused_and_the_first_goes_on(jobs: Jobs) -> None:
    holds, number = threading.Event(), jobs.number + 501
    begun = begins("Hold it")
    first: list[Job] = []

    def holding(event: Event) -> bool:
        """Tell when the first job has the lock, and never have it killed."""
        if begun(event):
            holds.set()
        return False

    def hold() -> None:
        first.append(replace(jobs, number=number - 1).run("hold_lock.yml", kill=holding, seconds="90"))

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        until(holds.is_set, "the first job to hold the lock", 300)
        why = jobs.run("site.yml", **SITE).refused()
    finally:
        thread.join(600)
    assert f"another run is restarting a node, AWX job {number} on" in why
    assert first[0].ok().changed


@pytest.mark.full
def test_a_job_in_check_mode_of_what_is_as_wanted_would_change_nothing(jobs: Jobs) -> None:
    assert jobs.run("site.yml", "--check", "--diff", **SITE).ok().changed == 0


@pytest.mark.full
def test_the_tag_of_a_job_does_its_part_alone_and_one_that_no_task_has_is_refused(jobs: Jobs) -> None:
    assert "no task has the tag kafka_topic, so" in jobs.run("site.yml", "--tags", "kafka_topic", **SITE).refused()
    topics = [*jobs.variables["kafka_topics"], {"name": "tagged", "partitions": 1, "replication_factor": 3}]
    tagged = replace(jobs, variables={**jobs.variables, "kafka_topics": topics})
    job = tagged.run("site.yml", "--tags", "kafka_topics", **SITE).ok()
    assert job.changed == 1
    absent = [*jobs.variables["kafka_topics"], {"name": "tagged", "state": "absent"}]
    gone = replace(jobs, variables={**jobs.variables, "kafka_topics": absent})
    gone.run("site.yml", "--tags", "kafka_topics", kafka_resources_allow_delete="yes", **SITE).ok()

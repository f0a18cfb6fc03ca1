# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs with bad input: refused by name and without any change."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.awx_job import SITE, Jobs

pytestmark = pytest.mark.full


def test_an_answer_that_no_playbook_knows_is_refused_with_the_name_that_is_meant(jobs: Jobs) -> None:
    why = jobs.run("rebalance", kafka_resources_move_throtle="50000000").refused()
    assert "extra variable kafka_resources_move_throtle. fix: perhaps kafka_resources_move_throttle is meant" in why


def test_an_inventory_without_hosts_fails_the_job(jobs: Jobs) -> None:
    why = replace(jobs, groups={}).run("rebalance").refused()
    assert "The inventory has no host in the groups zookeeper, kraft_controllers, kafka_brokers, mirror_makers" in why


def test_a_limit_to_a_part_of_the_cluster_is_refused(jobs: Jobs) -> None:
    assert "--limit kafka1 leaves out" in jobs.run("rebalance", limit="kafka1").refused()


def test_a_missing_password_of_the_administrator_is_refused_by_the_name_of_its_variable(jobs: Jobs) -> None:
    listeners = [
        {"name": "CLIENT", "port": 9092, "protocol": "SASL_PLAINTEXT", "purpose": "clients"},
        {"name": "CONTROLLER", "port": 9093, "protocol": "PLAINTEXT", "purpose": "controllers"},
    ]
    secured = {**jobs.variables, "kafka_listeners": listeners}
    why = replace(jobs, variables=secured).run("site", **SITE).refused()
    assert "kafka_admin_password" in why

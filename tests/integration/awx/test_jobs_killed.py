# SPDX-License-Identifier: GPL-3.0-or-later
"""A job that changes the cluster is killed in the middle; the next one, in an empty container, finishes its work."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_reassignments
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER, describe_configs
from tests.support.awx_job import SITE, Event, Job, Jobs, begins
from tests.support.cluster import Cluster, until
from tests.support.moves import administering, record, replicas, throttles, topic_of

pytestmark = pytest.mark.full

LOCK = "/etc/kafka/orders.lock"
WAITS = "Wait until the node listens"
BROKERS = ("1", "2", "3")
KEY = "queued.max.requests"


def reached(jobs: Jobs) -> Cluster:
    """The cluster of the jobs, for what only needs its addresses."""
    return cast(Cluster, SimpleNamespace(bootstrap_servers=[f"{ip}:9092" for ip in jobs.machines.addresses.values()]))


def started(jobs: Jobs) -> dict[str, str]:
    """By machine the process that is its node."""
    return {
        name: jobs.machines.run(name, "systemctl", "show", "--value", "--property=MainPID", f"kafka-{name}").strip()
        for name in jobs.machines.addresses
    }


def values(jobs: Jobs) -> set[str | None]:
    """What the brokers run with, as they say."""
    with administering(reached(jobs)) as admin:
        found = describe_configs(admin, BROKER, {broker: [KEY] for broker in BROKERS})
    return {found[broker][KEY].value for broker in BROKERS}


def is_whole(jobs: Jobs) -> None:
    """Assert that a job finds the cluster whole, and that no lock and no record of a move is left."""
    job = jobs.run("watch").ok()
    assert "OK orders: 3 brokers up" in job.told
    assert jobs.machines.run("kafka1", "cat", LOCK) == ""


def owner_of_the_killed(jobs: Jobs) -> str:
    """Return who is in the lock that a killed job left, and make it that of another machine of AWX.

    The kernel may give the next container here the number of the dead one's namespace, which shows that it is dead.
    """
    owner = str(json.loads(jobs.machines.run("kafka1", "cat", LOCK))["owner"])
    assert owner.startswith(f"AWX job {jobs.number} on awx-job-{jobs.number} (process ")
    jobs.machines.run("kafka1", "sed", "-i", 's/"run": "[0-9a-f-]*/"run": "another-boot/', LOCK)
    return owner


def killed(job: Job) -> None:
    """Assert that a job did not end by itself."""
    assert job.rc is None, job.output[-4000:]


def test_a_change_that_was_killed_while_a_node_restarted_is_finished_by_the_job_that_names_its_owner(
    jobs: Jobs,
) -> None:
    before = started(jobs)
    jobs.variables["kafka_broker_config"] = {KEY: 431}
    killed(jobs.run("site", kill=begins(WAITS), **SITE))
    owner = owner_of_the_killed(jobs)
    middle = started(jobs)
    assert len([name for name in before if middle[name] != before[name]]) == 1
    refused = jobs.run("site", **SITE).refused()
    assert f"another run is changing it (site.yml), {owner}" in refused
    assert f"kafka_ended_run '{owner}'" in refused
    assert started(jobs) == middle
    done = jobs.run("site", kafka_ended_run=owner, **SITE).ok()
    after = started(jobs)
    assert {name for name in middle if after[name] != middle[name]} == {
        name for name in before if middle[name] == before[name]
    }
    assert f"the lock of {owner}" in done.told
    assert values(jobs) == {"431"}
    is_whole(jobs)
    assert jobs.run("site", **SITE).ok().changed == 0


def moving(jobs: Jobs) -> bool:
    """Whether Kafka moves replicas of the topic now."""
    with administering(reached(jobs)) as admin:
        return bool(list_reassignments(admin))


def set_in(found: dict[str, Any], kind: str) -> set[str]:
    """The throttles that are set on brokers or topics."""
    return {key for one in found[kind].values() for key, value in one.items() if value is not None}


def test_a_rebalance_that_was_killed_while_replicas_moved_goes_on_and_leaves_no_throttle(jobs: Jobs) -> None:
    cluster = reached(jobs)
    begun = begins("Move | Execute the plan")

    def moves(event: Event) -> bool:
        """Whether replicas move, from the task on that moves them."""
        if not begun(event):
            return False
        until(lambda: moving(jobs), "replicas to move", 300)
        return True

    before = throttles(cluster)
    with topic_of(cluster, "skewed", {number: [1, 2] for number in range(6)}, 10):
        killed(jobs.run("rebalance", kill=moves, kafka_resources_move_throttle="500000"))
        assert moving(jobs), "Kafka goes on with what the killed job began"
        assert set_in(throttles(cluster, "skewed"), "topics")
        owner = owner_of_the_killed(jobs)
        refused = jobs.run("rebalance").refused()
        assert f"another run is changing it (rebalance.yml), {owner}" in refused
        # A plan of now is one of the rest, and another job may give it more.
        answers = {"kafka_ended_run": owner, "kafka_resources_move_throttle": "50000000"}
        again = jobs.run("rebalance", **answers).ok()
        assert not moving(jobs)
        assert throttles(cluster) == before
        assert not set_in(throttles(cluster, "skewed"), "topics")
        assert record(cluster) is None
        held = [broker for placed in replicas(cluster, "skewed").values() for broker in placed]
        assert {held.count(int(broker)) for broker in BROKERS} == {4}
        assert "orders" in again.told
    is_whole(jobs)


def test_a_rolling_restart_that_was_killed_is_done_by_the_next_job(jobs: Jobs) -> None:
    before = started(jobs)
    killed(jobs.run("rolling restart", kill=begins(WAITS), **SITE))
    jobs.run("rolling restart", kafka_ended_run=owner_of_the_killed(jobs), **SITE).ok()
    after = started(jobs)
    assert all(after[name] != before[name] for name in before)
    is_whole(jobs)


@pytest.mark.parametrize("task", ["Format | Format the data directories", WAITS])
def test_a_replacement_that_was_killed_is_finished_by_the_next_job(jobs: Jobs, task: str) -> None:
    jobs.machines.run("kafka3", "systemctl", "stop", "kafka-kafka3")
    jobs.machines.run("kafka3", "find", "/var/lib/kafka/kafka3", "-mindepth", "1", "-delete")
    answers = {"kafka_replace_node": "kafka3", **SITE}
    assert "comes back by playbooks/replace_node.yml" in jobs.run("site", **SITE).refused()
    killed(jobs.run("replace a node", kill=begins(task, "kafka3"), **answers))
    jobs.run("replace a node", kafka_ended_run=owner_of_the_killed(jobs), **answers).ok()
    assert jobs.machines.run("kafka3", "sh", "-c", "ls -d /var/lib/kafka/kafka3/orders-* | wc -l").strip() == "6"
    is_whole(jobs)
    assert jobs.run("site", **SITE).ok().changed == 0

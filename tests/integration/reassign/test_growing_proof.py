# SPDX-License-Identifier: GPL-3.0-or-later
"""The Spark job on a cluster that gets a broker, misses it for a while, and loses it; each test goes on from the one
before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_topics
from tests.support.cluster import Cluster, Run, until
from tests.support.growing import FOURTH, with_brokers
from tests.support.modules import run_module
from tests.support.moves import administering

pytestmark = pytest.mark.full
PROOF = {"spark_validation_enabled": True, "spark_validation_records": 2000, "spark_validation_live_seconds": 0}
TOPIC = "_streamops_smoke"


@pytest.fixture(scope="module")
def grown(three: Cluster) -> Iterator[Cluster]:
    """The cluster with kafka4 in its inventory."""
    yield from with_brokers(three, FOURTH)


def validate(cluster: Cluster) -> Run:
    """The proof alone."""
    return cluster.playbook("playbooks/validate.yml", **PROOF)


def preferred(cluster: Cluster) -> list[int]:
    """The preferred leaders of the job's topic, by partition."""
    with administering(cluster) as admin:
        return [partition.replicas[0] for partition in list_topics(admin)[TOPIC]]


def words(run: Run) -> str:
    """What a run printed, without line ends."""
    return " ".join(run.output.split())


# Six partitions of three brokers: as many as a topic has whose number does not follow from the brokers.
def test_a_topic_that_does_not_grow_by_itself_is_led_by_a_new_broker_too(three: Cluster, grown: Cluster) -> None:
    assert "verdict pass" in three.playbook("playbooks/validate.yml", **PROOF, spark_validation_partitions=6).output
    assert sorted(preferred(three)) == [1, 1, 2, 2, 3, 3]
    done = grown.playbook("playbooks/add_brokers.yml", **PROOF, spark_validation_partitions=6).ok()
    assert "verdict pass" in done.output
    assert preferred(grown).count(4) >= 1
    assert len(preferred(grown)) == 7


def test_a_proved_cluster_is_proved_again_without_a_change(grown: Cluster) -> None:
    first = validate(grown).ok()
    assert len(preferred(grown)) == 8
    second = validate(grown).ok()
    assert ("verdict pass" in first.output, second.changed) == (True, 0)


def test_a_broker_that_is_down_is_told_as_such_and_proved_when_it_is_back(grown: Cluster) -> None:
    grown.stop("kafka4")
    until(lambda: fenced(grown) == [4], "the cluster to miss it")
    missed = validate(grown)
    assert missed.rc != 0
    assert "alive (fail): expected 4, found 3 brokers, the cluster knows broker 4" in words(missed)
    assert "brokers (fail)" not in missed.output
    assert len(preferred(grown)) == 8, "a broker that is down is no reason to add partitions"
    grown.start("kafka4")
    options = {"bootstrap_servers": grown.bootstrap_servers}
    until(lambda: not run_module("streamops.kafka.cluster_info", options)["counts"]["under_replicated"], "all in sync")
    assert "verdict pass" in validate(grown).ok().output


def fenced(cluster: Cluster) -> list[int]:
    """The brokers that the cluster knows and that take no part."""
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.bootstrap_servers})
    return [broker["id"] for broker in info["nodes"] if broker["fenced"]]


def test_a_cluster_that_lost_a_broker_keeps_the_partitions_and_passes(three: Cluster, grown: Cluster) -> None:
    grown.playbook("playbooks/drain_and_remove_broker.yml", kafka_remove_broker="kafka4").ok()
    assert "verdict pass" in validate(three).ok().output
    assert len(preferred(three)) >= 8
    assert set(preferred(three)) == {1, 2, 3}

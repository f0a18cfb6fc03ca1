# SPDX-License-Identifier: GPL-3.0-or-later
"""One controller becomes three and one again, one at a time, while a producer writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, said, until
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

BROKERS = {f"broker{number}": {"kafka_node_id": number} for number in (11, 12, 13)}
VARIABLES = {"kafka_profile": "development", "kafka_mode": "kraft_isolated"}


def inventory(directory: Path, controllers: int) -> Path:
    """Three brokers, and controllers from controller1 on."""
    listed = {f"controller{number}": {"kafka_node_id": number} for number in range(1, controllers + 1)}
    return hosts_file(directory, {"kraft_controllers": listed, "kafka_brokers": BROKERS}, local_variables())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One controller and three brokers, in an inventory that tests write anew."""
    directory = tmp_path_factory.mktemp("voters")
    cluster = Cluster(inventory(directory / "one", 1), directory / "c", free_port_base(), VARIABLES)
    grown = Cluster(inventory(directory / "grown", 3), directory / "c", cluster.port_base, VARIABLES)
    try:
        cluster.playbook().ok()
        yield grown
    finally:
        grown.destroy()


def members(cluster: Cluster) -> tuple[list[int], list[int]]:
    """The ids of the voters, and those of controllers that only observe."""
    with Session(Connection(tuple(cluster.bootstrap_servers))) as session:
        quorum = describe_quorum(session)
    assert quorum is not None
    return [one.id for one in quorum.voters], [one.id for one in quorum.observers if one.id < 10]


def test_one_becomes_three_and_one_again_and_nothing_is_lost(cluster: Cluster) -> None:
    with producing(cluster.bootstrap_servers, "orders", rate=50) as ledger:
        until(lambda: len(ledger.acknowledged) > 50, "the producer to be under way")
        refused = cluster.playbook()
        assert refused.rc != 0, "controllers do not come in passing"
        assert "playbooks/voters.yml" in said(refused)

        foreseen = said(cluster.playbook("playbooks/voters.yml", "--check").ok())
        assert "Step 2 add controller 3 (controller3, " in foreseen
        assert members(cluster) == ([1], [])

        cluster.playbook("playbooks/voters.yml").ok()
        voters, observers = members(cluster)
        assert (sorted(voters), observers) == ([1, 2, 3], [])

        # The first one goes too, which leads at this time or has led before.
        leaving = "controller1,controller3"
        gone = cluster.playbook("playbooks/voters.yml", kafka_controllers_leaving=leaving).ok()
        assert "Take controller1, controller3 out of kraft_controllers now" in said(gone)
        assert members(cluster)[0] == [2]
        assert not any(cluster.alive(node) for node in leaving.split(","))
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Behind a migration: without ZooKeeper to the newest release, its features, a dynamic quorum and five voters."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from ansible_collections.streamops.kafka.plugins.module_utils._release.releases import release
from tests.support.cluster import said
from tests.support.migration import OLD, STEPS, Way
from tests.support.traffic import producing
from tests.support.upgrades import UPGRADE, features, finalize
from tests.support.zookeeper import ZookeeperCluster

pytestmark = pytest.mark.full

BEFORE, NEW = "3.9.2", "4.4.0"
VOTERS = "playbooks/voters.yml"
DYNAMIC = {"kafka_dynamic_quorum": "true"}
STATIC, BOOTSTRAP = "controller.quorum.voters", "controller.quorum.bootstrap.servers"


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """Three brokers that came from ZooKeeper and three controllers; the servers of ZooKeeper are stopped."""
    with Way.begun(tmp_path_factory.mktemp("onward")) as made:
        made.add_controllers()
        for _step in STEPS:
            made.next().ok()
        made.next(kafka_migration_confirmed="finalised").ok()
        for server in made.cluster.servers:
            made.cluster.stop(server)
        assert made.phase() == "zookeeper_gone"
        yield made


def add_voters(way: Way) -> None:
    """Add two controllers to the inventory."""
    file = way.inventory / "hosts.yml"
    hosts = yaml.safe_load(file.read_text())
    hosts["kraft_controllers"]["hosts"].update({f"controller{n}": {"kafka_node_id": n} for n in (18, 19)})
    file.write_text(yaml.safe_dump(hosts))
    way.cluster = ZookeeperCluster(way.inventory, way.directory, way.port_base, way.cluster.variables)


def voters(way: Way) -> dict[int, str | None]:
    """Return the directory of each voter by its id; None in a static quorum."""
    with Session(Connection(tuple(way.cluster.bootstrap_servers))) as session:
        quorum = describe_quorum(session)
    assert quorum is not None
    return {voter.id: voter.directory_id for voter in sorted(quorum.voters, key=lambda voter: voter.id)}


def with_property(way: Way, name: str) -> list[str]:
    """Return the nodes that were started with a property."""
    return [
        node
        for node in way.cluster.nodes
        if name in parse((way.cluster.record(node) / "server.properties").read_text())
    ]


def levels(way: Way) -> dict[str, int]:
    """Return the finalised features without kraft.version, which is raised by its name alone."""
    return {name: level for name, level in features(way.cluster).items() if name != "kraft.version"}


def test_the_inventory_without_zookeeper_restarts_nothing(way: Way) -> None:
    before = {node: way.cluster.pid(node) for node in (*way.cluster.brokers, *way.cluster.controllers)}
    way.leave_zookeeper()
    foreseen = said(way.cluster.playbook("site.yml", "--check", "--diff").ok())
    assert "would restart" not in foreseen
    way.cluster.playbook().ok()
    assert way.cluster.pids() == before
    assert way.cluster.playbook().ok().changed == 0


def test_a_static_quorum_takes_no_voter_and_does_not_become_dynamic_before_the_upgrade(way: Way) -> None:
    before = way.cluster.pids()
    assert voters(way) == {15: None, 16: None, 17: None}
    refused = way.cluster.playbook(VOTERS, **DYNAMIC)
    assert refused.rc != 0
    assert f"runs Kafka {BEFORE}, and kraft.version goes from 0 to 1 from Kafka 4.1 on" in said(refused)
    assert way.cluster.pids() == before


def test_every_node_goes_straight_to_the_newest_release_under_load(way: Way) -> None:
    level, before = levels(way), way.cluster.pids()
    # The stream of a proof stands in the second one, and another cluster of this name may be proven at the same time.
    way.cluster.variables.update(kafka_version=NEW, streamops_artifacts=str(way.directory / "left"))
    plan = said(way.cluster.playbook(UPGRADE, "--check").ok())
    assert f"local_zookeeper: {BEFORE} -> {NEW} (0 of 6 nodes have {NEW})" in plan
    assert "Path: legal" in plan
    with way.under_load():
        run = way.cluster.playbook(UPGRADE).ok()
    assert f"local_zookeeper: 6 of 6 nodes have {NEW}" in said(run)
    assert all(pid != before[node] for node, pid in way.cluster.pids().items())
    assert levels(way) == level, "binaries alone raise no feature"
    assert with_property(way, STATIC) == way.cluster.nodes, "the quorum stays the one that it is"
    # What a broker of ZooKeeper has made keeps its version, and each release of KRaft takes it.
    for node in way.cluster.brokers:
        known = parse((way.cluster.data(node) / "meta.properties").read_text())
        assert (known["version"], known["broker.id"]) == ("0", str(way.cluster.identities[node]))
    assert way.cluster.playbook().ok().changed == 0


def test_the_features_are_raised_and_no_node_restarts(way: Way) -> None:
    before = way.cluster.pids()
    with way.under_load():
        run = finalize(way.cluster).ok()
    assert "features raised, no node restarted" in said(run)
    wanted = {name: level for name, level in release(NEW).new_cluster.items() if name != "kraft.version"}
    assert levels(way) == wanted
    assert way.cluster.pids() == before
    assert voters(way) == {15: None, 16: None, 17: None}


def test_the_quorum_becomes_dynamic_under_load(way: Way) -> None:
    before = way.cluster.pids()
    early = way.cluster.playbook(VOTERS)
    assert early.rc != 0
    assert "run voters.yml with kafka_dynamic_quorum=true first" in said(early)
    foreseen = said(way.cluster.playbook(VOTERS, "--check", **DYNAMIC).ok())
    assert "Raise kraft.version 0 -> 1" in foreseen
    assert way.cluster.pids() == before
    with way.under_load():
        way.cluster.playbook(VOTERS, **DYNAMIC).ok()
    directories = voters(way)
    assert (list(directories), all(directories.values())) == ([15, 16, 17], True)
    assert features(way.cluster)["kraft.version"] == 1
    assert (with_property(way, STATIC), with_property(way, BOOTSTRAP)) == ([], way.cluster.nodes)
    assert all(pid != before[node] for node, pid in way.cluster.pids().items())


def test_two_more_controllers_in_the_inventory_become_voters_under_load(way: Way) -> None:
    add_voters(way)
    refused = way.cluster.playbook()
    assert refused.rc != 0, "controllers neither come nor go in passing"
    assert "A controller that is new comes by playbooks/voters.yml" in said(refused)
    assert list(voters(way)) == [15, 16, 17]
    with way.under_load():
        way.cluster.playbook(VOTERS).ok()
    directories = voters(way)
    assert (list(directories), all(directories.values())) == ([15, 16, 17, 18, 19], True)
    assert way.cluster.playbook().ok().changed == 0


def test_all_that_was_written_since_zookeeper_is_there(way: Way) -> None:
    way.elect(1)
    with producing(way.cluster.bootstrap_servers, OLD, rate=200) as ledger:
        ledger.reaches(500)
    way.keeps(ledger, OLD)
    shown = said(way.cluster.playbook("playbooks/status.yml").ok())
    assert "OK local_zookeeper: 3 brokers up" in shown

# SPDX-License-Identifier: GPL-3.0-or-later
"""A static quorum that others built: site.yml keeps it what it is, voters.yml makes it dynamic."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from ansible_collections.streamops.kafka.plugins.module_utils._features.api import announced_by
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, said, until
from tests.support.java_process import JavaProcess
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.releases import NEW_CLUSTER
from tests.support.traffic import Ledger, producing, read_all

pytestmark = pytest.mark.full

CONTROLLERS = {f"controller{number}": {"kafka_node_id": number} for number in (1, 2, 3)}
BROKERS = {"broker4": {"kafka_node_id": 4}}
VARIABLES = {
    "kafka_profile": "development",
    "kafka_mode": "kraft_isolated",
    "kafka_topics": [{"name": "adopted", "partitions": 1}],
    # One broker: its topics are away while it restarts, which the gate refuses for topics that nobody names.
    "kafka_gate_allow_unavailable_topics": ["adopted", "older"],
}
CLUSTER_ID = "NkU3OEVBNTcwNTJENDM2Qk"
STATIC, DYNAMIC = "controller.quorum.voters=", "controller.quorum.bootstrap.servers="


def voters(cluster: Cluster) -> str:
    """The value of controller.quorum.voters that others gave each node."""
    return ",".join(f"{cluster.identities[node]}@127.0.0.1:{cluster.port(node, 2)}" for node in CONTROLLERS)


def others_built(cluster: Cluster, release: Path) -> Ledger:
    """Format and start a static quorum and a broker on the disks and ports of a cluster, write to it, and stop it."""
    nodes: list[LoneBroker] = []
    # The broker comes last, and ends first: without controllers it does not end in order. (An inventory's file names
    # the groups in another order.)
    for node in [*CONTROLLERS, *BROKERS]:
        is_broker = node in BROKERS
        port = cluster.port(node, 0 if is_broker else 2)
        properties = {
            "process.roles": "broker" if is_broker else "controller",
            "node.id": str(cluster.identities[node]),
            "controller.quorum.voters": voters(cluster),
            "listeners": f"{'PLAINTEXT' if is_broker else 'CONTROLLER'}://127.0.0.1:{port}",
            "log.dirs": str(cluster.directory / "data" / node),
        }
        nodes.append(LoneBroker(release, cluster.directory / "others" / node, port, heap="256m", **properties))
    try:
        for one in nodes:
            one.format(CLUSTER_ID)
            # Not its own start, which waits until it listens: the broker does when a majority runs.
            JavaProcess.start(one)
        until(lambda: serves(nodes[-1].bootstrap_servers), "the static cluster to serve", 90)
        with producing(nodes[-1].bootstrap_servers, "older", rate=20) as ledger:
            until(lambda: len(ledger.acknowledged) > 20, "records from before the adoption")
        return ledger
    finally:
        for one in reversed(nodes):
            if one.alive:
                one.terminate(30)


def serves(servers: list[str]) -> bool:
    found = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": servers})
    return not found["failed"] and [one["fenced"] for one in found["nodes"]] == [False]


@pytest.fixture(scope="module")
def adopted(
    tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]
) -> Iterator[tuple[Cluster, Ledger]]:
    """Three controllers with fixed voters and a broker, which site.yml has taken up, and what was written before."""
    directory = tmp_path_factory.mktemp("static")
    groups: dict[str, dict[str, dict[str, Any]]] = {"kraft_controllers": CONTROLLERS, "kafka_brokers": BROKERS}
    inventory = hosts_file(directory / "inventory", groups, local_variables())
    cluster = Cluster(inventory, directory / "c", free_port_base(), VARIABLES)
    older = others_built(cluster, kafka_release(NEW_CLUSTER))
    try:
        cluster.playbook().ok()
        yield cluster, older
    finally:
        cluster.destroy()


def quorum(cluster: Cluster) -> tuple[int, dict[int, str | None]]:
    """The level of kraft.version, and the directory of each voter."""
    with Session(Connection(tuple(cluster.bootstrap_servers))) as session:
        found = describe_quorum(session)
        level = announced_by(session).finalized.get("kraft.version", 0)
    assert found is not None
    return level, {one.id: one.directory_id for one in sorted(found.voters, key=lambda one: one.id)}


def named(cluster: Cluster, property_: str) -> list[str]:
    """The nodes whose start files have a property."""
    return [node for node in cluster.nodes if f"\n{property_}" in cluster.start_files(node)]


def test_a_static_quorum_stays_one_until_it_is_asked_for_and_then_loses_nothing(
    adopted: tuple[Cluster, Ledger],
) -> None:
    cluster, older = adopted
    assert quorum(cluster) == (0, {1: None, 2: None, 3: None})
    assert (named(cluster, f"{STATIC}{voters(cluster)}\n"), named(cluster, DYNAMIC)) == (cluster.nodes, [])
    metas = [(cluster.directory / "data" / node / "meta.properties").read_text() for node in cluster.nodes]
    assert all(f"cluster.id={CLUSTER_ID}\n" in meta for meta in metas)

    refused = cluster.playbook("playbooks/voters.yml")
    assert refused.rc != 0
    assert "run voters.yml with kafka_dynamic_quorum=true first" in said(refused)

    foreseen = said(cluster.playbook("playbooks/voters.yml", "--check", kafka_dynamic_quorum="true").ok())
    assert "Raise kraft.version 0 -> 1. It brings voters of the metadata quorum" in foreseen
    assert "Kafka never takes kraft.version back." in foreseen
    assert "on controller1, controller2, controller3, broker4" in foreseen
    assert quorum(cluster)[0] == 0

    # What stops the restarts is said before kraft.version goes up, which never comes down again.
    before = cluster.pids()
    wish = {"kafka_dynamic_quorum": "true", "kafka_gate_allow_unavailable_topics": ["adopted"]}
    for mode in (["--check"], []):
        unsafe = cluster.playbook("playbooks/voters.yml", *mode, **wish)
        assert unsafe.rc != 0, "older has one copy"
        assert "Nothing was changed. - broker4 could not restart at the end of this run: 1 topic(s) on" in said(unsafe)
        assert "older 1 with 1" in said(unsafe)
        assert "kafka_gate_allow_unavailable_topics" in said(unsafe)
    assert (quorum(cluster)[0], cluster.pids()) == (0, before)

    with producing(cluster.bootstrap_servers, "adopted", rate=20) as ledger:
        until(lambda: len(ledger.acknowledged) > 20, "the producer to be under way")
        cluster.playbook("playbooks/voters.yml", kafka_dynamic_quorum="true").ok()
    level, directories = quorum(cluster)
    assert (level, list(directories), all(directories.values())) == (1, [1, 2, 3], True)
    assert (named(cluster, STATIC), named(cluster, DYNAMIC)) == ([], cluster.nodes)
    assert all(before[node] != pid for node, pid in cluster.pids().items())
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "adopted"))
    assert not older.lost(read_all(cluster.bootstrap_servers, "older"))


def test_then_plain_runs_change_nothing_and_a_controller_may_leave(
    adopted: tuple[Cluster, Ledger],
) -> None:
    cluster, _older = adopted
    assert cluster.playbook().ok().changed == 0
    leaving = {"kafka_controllers_leaving": "controller2,controller3"}
    gone = said(cluster.playbook("playbooks/voters.yml", **leaving).ok())
    assert "Take controller2, controller3 out of kraft_controllers now" in gone
    assert list(quorum(cluster)[1]) == [1]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Three combined nodes become brokers, with controllers of their own, while a producer writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, said, until
from tests.support.leaderless import Leaderless
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

COMBINED = {f"kafka{number}": {"kafka_node_id": number} for number in (1, 2, 3)}
CONTROLLERS = {f"controller{number}": {"kafka_node_id": number} for number in (4, 5, 6)}
#: Seconds without an active controller that are too many: an election takes up to 1 s, and a vote may be split.
MOST_LEADERLESS = 15


def of(directory: Path, mode: str, port_base: int, *controllers: dict[str, dict[str, int]]) -> Cluster:
    """Three brokers with these controllers, in an inventory of a mode."""
    listed = {host: about for group in controllers for host, about in group.items()}
    groups = {"kraft_controllers": listed, "kafka_brokers": COMBINED}
    inventory = hosts_file(directory / f"{mode}{len(listed)}", groups, local_variables())
    variables = {"kafka_profile": "development", "kafka_mode": f"kraft_{mode}"}
    return Cluster(inventory, directory / "c", port_base, variables)


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Cluster, Cluster, Cluster]]:
    """One cluster under three inventories: combined, which is installed; both kinds of controllers; isolated."""
    directory, base = tmp_path_factory.mktemp("modes"), free_port_base()
    combined = of(directory, "combined", base, COMBINED)
    both = of(directory, "isolated", base, COMBINED, CONTROLLERS)
    try:
        combined.playbook().ok()
        yield combined, both, of(directory, "isolated", base, CONTROLLERS)
    finally:
        both.destroy()


def voters(cluster: Cluster) -> list[int]:
    with Session(Connection(tuple(cluster.bootstrap_servers))) as session:
        quorum = describe_quorum(session)
    assert quorum is not None
    return sorted(one.id for one in quorum.voters)


def roles(cluster: Cluster) -> dict[str, str]:
    """The value of process.roles in the start files of each node."""
    return {node: cluster.start_files(node).split("process.roles=")[1].split("\n")[0] for node in cluster.nodes}


def test_combined_nodes_become_brokers_with_controllers_of_their_own(
    clusters: tuple[Cluster, Cluster, Cluster],
) -> None:
    combined, both, isolated = clusters
    ports = [(number, both.port(node, 2)) for node, number in both.identities.items()]
    with producing(combined.bootstrap_servers, "orders", rate=200) as ledger, Leaderless(lambda: ports) as leaderless:
        until(lambda: len(ledger.acknowledged) > 200, "the producer to be under way")
        refused = both.playbook()
        assert refused.rc != 0, "controllers neither come nor go in passing"
        assert "kraft_isolated: no host may be controller and broker at once" in said(refused)

        leaving = ",".join(COMBINED)
        left = said(both.playbook("playbooks/voters.yml", kafka_controllers_leaving=leaving).ok())
        assert "remove controller 2 (kafka2), then it goes on as a broker" in left
        assert voters(both) == [4, 5, 6]
        assert set(roles(combined).values()) == {"broker,controller"}, "until site.yml restarts them"

        isolated.playbook().ok()
        assert roles(isolated) == {**dict.fromkeys(CONTROLLERS, "controller"), **dict.fromkeys(COMBINED, "broker")}
        assert voters(isolated) == [4, 5, 6]
        assert isolated.playbook().ok().changed == 0
    lost = ledger.lost(read_all(isolated.bootstrap_servers, "orders", timeout=300))
    print(
        f"{len(ledger.acknowledged)} acknowledged, {len(ledger.failed)} failed, {len(lost)} lost; "
        f"the longest time without an active controller {leaderless.longest:.2f} s: "
        f"{[round(one, 2) for one in leaderless.times]} ({leaderless.looks} looks)"
    )
    assert (ledger.failed, lost) == ({}, [])
    assert leaderless.longest < MOST_LEADERLESS

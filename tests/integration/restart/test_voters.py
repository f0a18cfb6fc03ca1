# SPDX-License-Identifier: GPL-3.0-or-later
"""One controller becomes three, five and three others, one at a time, while a producer writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from tests.support.answers import said
from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, until
from tests.support.leaderless import Leaderless
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

BROKERS = {f"broker{number}": {"kafka_node_id": number} for number in (7, 8, 9)}
VARIABLES = {"kafka_profile": "development", "kafka_mode": "kraft_isolated"}
#: Records that must have been acknowledged in the end.
RECORDS = 200_000
#: Seconds without an active controller that are too many: an election takes up to 1 s, and a vote may be split.
MOST_LEADERLESS = 15


class Grown:
    """A cluster whose inventory is written anew for each set of controllers."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.port_base = directory, free_port_base()
        self.all = self.of(range(1, 7))

    def of(self, controllers: Iterable[int]) -> Cluster:
        """The cluster with these controllers in its inventory."""
        ids = list(controllers)
        listed = {f"controller{number}": {"kafka_node_id": number} for number in ids}
        groups = {"kraft_controllers": listed, "kafka_brokers": BROKERS}
        inventory = hosts_file(self.directory / "-".join(map(str, ids)), groups, local_variables())
        return Cluster(inventory, self.directory / "c", self.port_base, VARIABLES)

    def ports(self) -> list[tuple[int, int]]:
        """The ids of all controllers that there may be, with the port where each listens for others."""
        return [(number, self.all.port(f"controller{number}", 2)) for number in range(1, 7)]

    def members(self) -> tuple[list[int], list[int]]:
        """The ids of the voters, and those of controllers that only observe."""
        with Session(Connection(tuple(self.all.bootstrap_servers))) as session:
            quorum = describe_quorum(session)
        assert quorum is not None
        return sorted(one.id for one in quorum.voters), sorted(one.id for one in quorum.observers if one.id < 7)


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grown]:
    """One controller and three brokers."""
    grown = Grown(tmp_path_factory.mktemp("voters"))
    try:
        grown.of([1]).playbook().ok()
        yield grown
    finally:
        grown.all.destroy()


def test_one_becomes_three_and_five_and_three_others_and_nothing_is_lost(grown: Grown) -> None:
    servers = grown.all.bootstrap_servers
    with producing(servers, "orders", rate=500) as ledger, Leaderless(grown.ports) as leaderless:
        until(lambda: len(ledger.acknowledged) > 500, "the producer to be under way")
        three = grown.of([1, 2, 3])
        refused = three.playbook()
        assert refused.rc != 0, "controllers do not come in passing"
        assert "playbooks/voters.yml" in said(refused)
        foreseen = said(three.playbook("playbooks/voters.yml", "--check").ok())
        assert "Step 2 add controller 3 (controller3, " in foreseen
        assert grown.members() == ([1], [])

        three.playbook("playbooks/voters.yml").ok()
        assert grown.members() == ([1, 2, 3], [])

        five = grown.of([1, 2, 3, 4, 5])
        five.playbook("playbooks/voters.yml").ok()
        assert grown.members() == ([1, 2, 3, 4, 5], [])

        # The first one goes too, which leads at this time or has led before.
        leaving = "controller1,controller2"
        gone = five.playbook("playbooks/voters.yml", kafka_controllers_leaving=leaving).ok()
        assert "Take controller1, controller2 out of kraft_controllers now" in said(gone)
        assert grown.members()[0] == [3, 4, 5]
        assert not any(five.alive(node) for node in leaving.split(","))

        # To another machine: the new one comes before the old one goes.
        moving = grown.of([3, 4, 5, 6]).playbook("playbooks/voters.yml", kafka_controllers_leaving="controller3").ok()
        assert said(moving).index("add controller 6") < said(moving).index("remove controller 3")
        assert grown.members()[0] == [4, 5, 6]
        until(lambda: len(ledger.acknowledged) >= RECORDS, f"{RECORDS} records", 600)
    lost = ledger.lost(read_all(servers, "orders", timeout=300))
    print(
        f"{len(ledger.acknowledged)} acknowledged, {len(ledger.failed)} failed, {len(lost)} lost; "
        f"without an active controller {len(leaderless.times)} times, the longest {leaderless.longest:.2f} s: "
        f"{[round(one, 2) for one in leaderless.times]} ({leaderless.looks} looks)"
    )
    assert (ledger.failed, lost) == ({}, [])
    assert leaderless.looks > 1000
    assert leaderless.longest < MOST_LEADERLESS
    nodes = [*BROKERS, "controller4", "controller5", "controller6"]
    assert all(f":{grown.all.port('controller6', 2)}" in grown.all.start_files(node) for node in nodes)

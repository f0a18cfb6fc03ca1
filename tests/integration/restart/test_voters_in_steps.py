# SPDX-License-Identifier: GPL-3.0-or-later
"""One controller, a broker too, becomes three of their own, five and three others, while a producer writes."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum
from tests.support.cluster import Cluster, free_port_base, hosts_file, kill, local_variables, said, until
from tests.support.leaderless import Leaderless
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

#: The brokers, of which the first is the controller as well until it leaves the quorum.
BROKERS = {f"kafka{number}": {"kafka_node_id": number} for number in (1, 2, 3)}
CONTROLLERS = range(4, 9)
#: Records that must have been acknowledged in the end.
RECORDS = 200_000
#: Seconds without an active controller that are too many: an election takes up to 1 s, and a vote may be split; where
#: the leader is killed, its followers miss it for 2 s before that.
MOST_LEADERLESS = 20


class Grown:
    """A cluster whose inventory is written anew for each set of controllers."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.port_base = directory, free_port_base()
        self.all = self.of([1, *CONTROLLERS])

    def of(self, controllers: Iterable[int], mode: str = "kraft_isolated") -> Cluster:
        """The cluster with these controllers in its inventory."""
        ids = list(controllers)
        listed = {self.name(number): {"kafka_node_id": number} for number in ids}
        groups = {"kraft_controllers": listed, "kafka_brokers": BROKERS}
        inventory = hosts_file(self.directory / "-".join(map(str, ids)), groups, local_variables())
        return Cluster(
            inventory, self.directory / "c", self.port_base, {"kafka_profile": "development", "kafka_mode": mode}
        )

    def name(self, number: int) -> str:
        """The host of a node."""
        return f"controller{number}" if number in CONTROLLERS else f"kafka{number}"

    def ports(self) -> list[tuple[int, int]]:
        """The ids of all controllers that there may be, with the port where each listens for others."""
        return [(number, self.all.port(self.name(number), 2)) for number in (1, *CONTROLLERS)]

    def quorum(self) -> Quorum:
        """The quorum as its leader tells it."""
        with Session(Connection(tuple(self.all.bootstrap_servers))) as session:
            found = describe_quorum(session)
        assert found is not None
        return found

    def voters(self) -> list[int]:
        """The ids of the voters."""
        return sorted(one.id for one in self.quorum().voters)

    def knows(self, number: int) -> bool:
        """Whether the quorum has a node, with a vote or still without."""
        return number in self.quorum().members


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Grown]:
    """Three brokers, of which one is the only controller too."""
    grown = Grown(tmp_path_factory.mktemp("voters"))
    try:
        grown.of([1], "kraft_combined").playbook().ok()
        yield grown
    finally:
        grown.all.destroy()


def roles(cluster: Cluster, node: str) -> str:
    """What a node starts as."""
    return cluster.start_files(node).split("process.roles=")[1].split("\n")[0]


def drained(run: subprocess.Popen[str]) -> list[str]:
    """What a run prints, which grows as it prints."""
    assert run.stdout is not None
    lines: list[str] = []
    threading.Thread(target=lines.extend, args=(run.stdout,), daemon=True).start()
    return lines


def test_one_becomes_three_and_five_and_three_others_and_nothing_is_lost(grown: Grown) -> None:
    servers = grown.all.bootstrap_servers
    with producing(servers, "orders", rate=500) as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "the producer to be under way")
        with Leaderless(grown.ports) as planned:
            # From a combined node to three controllers on other machines: those come before the first one goes.
            three = grown.of([1, 4, 5, 6])
            refused = three.playbook()
            assert refused.rc != 0, "controllers neither come nor go in passing"
            assert "kraft_isolated: no host may be controller and broker at once" in said(refused)
            foreseen = said(three.playbook("playbooks/voters.yml", "--check", kafka_controllers_leaving="kafka1").ok())
            assert "Step 3 add controller 6 (controller6, " in foreseen
            assert "Step 4 remove controller 1 (kafka1), then it goes on as a broker" in foreseen
            assert grown.voters() == [1]

            three.playbook("playbooks/voters.yml", kafka_controllers_leaving="kafka1").ok()
            assert (grown.voters(), roles(three, "kafka1")) == ([4, 5, 6], "broker,controller")

        # Out of the group it restarts as a broker, here in the run that takes two more controllers in. When one of
        # them has begun to observe, the leader is killed; when it votes, the run is, and no other node has new files.
        five = grown.of([4, 5, 6, 7, 8])
        with Leaderless(grown.ports) as killed:
            run = five.begin("playbooks/voters.yml")
            lines = drained(run)
            try:
                until(lambda: run.poll() is not None or grown.knows(7), "controller 7 to observe", 600)
                assert run.poll() is None, "".join(lines)[-6000:]
                leader = grown.quorum().leader_id
                assert leader is not None
                five.kill(grown.name(leader))
                until(lambda: run.poll() is not None or 7 in grown.voters(), "controller 7 to vote", 600)
            finally:
                kill(run)
        assert roles(five, "kafka1") == "broker,controller", "".join(lines)[-6000:]

        with Leaderless(grown.ports) as again:
            five.playbook("playbooks/voters.yml").ok()
            assert (grown.voters(), roles(five, "kafka1")) == ([4, 5, 6, 7, 8], "broker")

            # Two of those that came first, of which one may lead.
            gone = five.playbook("playbooks/voters.yml", kafka_controllers_leaving="controller4,controller5").ok()
            assert "Take controller4, controller5 out of kraft_controllers now" in said(gone)
            assert grown.voters() == [6, 7, 8]
            assert not any(five.alive(node) for node in ("controller4", "controller5"))
        until(lambda: len(ledger.acknowledged) >= RECORDS, f"{RECORDS} records", 600)
    lost = ledger.lost(read_all(servers, "orders", timeout=300))
    print(f"{len(ledger.acknowledged)} acknowledged, {len(ledger.failed)} failed, {len(lost)} lost")
    for what, seen in (("planned", planned), ("leader killed", killed), ("planned", again)):
        times = [round(one, 2) for one in seen.times]
        print(f"{what}: without an active controller at most {seen.longest:.2f} s: {times} ({seen.looks} looks)")
        assert seen.looks > 100
        assert seen.longest < MOST_LEADERLESS
    assert (ledger.failed, lost) == ({}, [])

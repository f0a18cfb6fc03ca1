# SPDX-License-Identifier: GPL-3.0-or-later
"""A whole site of inventories/stretch dies under traffic, 20 ms away from the others: nothing is lost."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer

from tests.support.cluster import ROOT, Cluster, free_port_base, kill, read_until, until
from tests.support.line import laid
from tests.support.modules import run_module
from tests.support.traffic import Ledger, producing, read_all

pytestmark = pytest.mark.full

SITES = {1: "site-a", 2: "site-b", 3: "site-c"}
BROKER_OF = {1: "broker4", 2: "broker5", 3: "broker6"}
#: Of the topic orders, as the inventory has it.
PARTITIONS = 6
#: Each way, so that a round trip between sites takes 20 ms.
WAY_MS = 10
#: Longest time in which a partition took nothing: the session of a broker is 9 s, and this machine may be busy.
MOST_GAP = 60
# All that nodes say to each other here is between sites: they bind one address, and advertise that of a long line.
LISTENERS = [
    {"name": "CLIENT", "host": "127.0.0.1", "port": "{{ node_port }}", "purpose": "clients"},
    {"name": "BROKER", "host": "127.0.0.2", "port": "{{ node_port | int + 1 }}", "purpose": "brokers"},
    {"name": "CONTROLLER", "host": "127.0.0.2", "port": "{{ node_port | int + 2 }}", "purpose": "controllers"},
]


@pytest.fixture(scope="module")
def stretch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The shipped inventory, installed with long lines between its nodes."""
    directory = tmp_path_factory.mktemp("stretch")
    # A line listens where the nodes advertise.
    variables = {"kafka_listeners": LISTENERS, "preflight_accept": ["advertised_unbound"]}
    cluster = Cluster(ROOT / "inventories" / "stretch", directory, free_port_base(), variables)
    run = cluster.begin("site.yml")
    with contextlib.ExitStack() as ends:
        ends.callback(cluster.destroy)
        ends.callback(kill, run)
        # The preflight asks for ports that are free at every address: the lines come after it.
        assert run.stdout is not None
        read_until(run, "PLAY [Install, configure and start the nodes")
        for node, number in cluster.identities.items():
            offset = 2 if node.startswith("controller") else 1
            port, own = cluster.port(node, offset), tmp_path_factory.mktemp(node)
            line = ends.enter_context(laid(own, f"127.0.0.1:{port}", f"127.0.0.2:{port}", cluster.port_base + number))
            line.delay(WAY_MS)
        said = run.stdout.read()
        assert run.wait(600) == 0, said[-6000:]
        yield cluster


def health(cluster: Cluster) -> dict[str, Any]:
    """Return what cluster_health says of the loss of a site, and of all else."""
    nodes = [
        {"host": name, "node_id": number, "roles": ["controller" if name.startswith("controller") else "broker"]}
        for name, number in cluster.identities.items()
    ]
    about = {"nodes": nodes, "survive_rack_loss": True, "voter_racks": SITES, "max_quorum_lag": 5}
    return run_module("streamops.kafka.cluster_health", {"bootstrap_servers": cluster.bootstrap_servers, **about})


def whole(cluster: Cluster) -> None:
    """Wait until all replicas are in sync, and elect preferred leaders."""
    servers = {"bootstrap_servers": cluster.bootstrap_servers}
    assert run_module("streamops.kafka.isr_wait", {**servers, "timeout": 180, "interval": 2})["in_sync"]
    run_module("streamops.kafka.leader_election", servers)


class Gaps:
    """The longest time in which each partition acknowledged nothing, from when it is begun."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._seen = ledger, len(ledger.acknowledged)
        now = time.monotonic()
        self._last = {place[0]: now for place in list(ledger.acknowledged.values())}
        self.fresh: set[int] = set()
        self.longest = 0.0

    def look(self) -> bool:
        """Look at what was acknowledged since; return whether each partition has acknowledged something."""
        now, places = time.monotonic(), list(self._ledger.acknowledged.values())
        for partition in {place[0] for place in places[self._seen :]}:
            self.longest = max(self.longest, now - self._last[partition])
            self._last[partition] = now
            self.fresh.add(partition)
        self._seen = len(places)
        return len(self.fresh) == len(self._last)


def wait_for_fetches(cluster: Cluster, site: str, broker: int) -> None:
    """Read as a reader of this site, until it fetches all partitions from this broker."""
    fetched: dict[int, int] = {}

    def told(text: str) -> None:
        partitions = json.loads(text)["topics"].get("orders", {}).get("partitions", {})
        fetched.update({int(one): about["broker"] for one, about in partitions.items() if int(one) >= 0})

    settings = {"group.id": "near", "auto.offset.reset": "earliest", "client.rack": site, "stats_cb": told}
    servers = ",".join(cluster.bootstrap_servers)
    consumer = Consumer({"bootstrap.servers": servers, "statistics.interval.ms": 500, **settings})
    consumer.subscribe(["orders"])

    def is_near() -> bool:
        consumer.consume(5000, 0.2)
        return len(fetched) == PARTITIONS and set(fetched.values()) == {broker}

    try:
        until(is_near, f"a reader of {site} to fetch from broker {broker} alone", 60)
    finally:
        consumer.close()


def test_a_site_dies_under_traffic_and_comes_back_and_nothing_is_lost(stretch: Cluster) -> None:
    whole(stretch)
    before = health(stretch)
    assert (before["status"], before["findings"]) == ("OK", [])
    assert [(one["rack"], one["survives"]) for one in before["racks"]] == [(site, True) for site in SITES.values()]
    # The hardest one: that of the active controller.
    number = before["cluster"]["controller_id"]
    gone, others = SITES[number], [site for one, site in SITES.items() if one != number]
    supervisor = int((Path(stretch.directory) / "run" / "supervisord.pid").read_text())
    with producing(stretch.bootstrap_servers, "orders", rate=500) as ledger:
        until(lambda: len(ledger.acknowledged) > 2000, "the producer to be under way")
        os.kill(supervisor, signal.SIGSTOP)
        try:
            # One process starts the nodes of all sites here; it must not start these again.
            gaps = Gaps(ledger)
            stretch.kill(BROKER_OF[number])
            stretch.kill(f"controller{number}")
            until(gaps.look, "all partitions to take records without the site", MOST_GAP + 10)
            until(lambda: gaps.look() and "broker_down" in _kinds(health(stretch)), "health to miss the broker", 60)
            # Both others are needed now, and health says so.
            without = health(stretch)
            assert without["status"] == "DEGRADED"
            lost = [one["what"] for one in without["findings"] if one["kind"] == "rack_loss"]
            assert [what.split(":")[0] for what in lost] == [
                f"the cluster does not survive the loss of rack {site}" for site in others
            ]
            assert all("would refuse acks=all" in what for what in lost)
            assert {one["rack"]: one["survives"] for one in without["racks"]}[gone]
        finally:
            os.kill(supervisor, signal.SIGCONT)
        whole(stretch)
        gaps.look()
    print(f"{gone} with the active controller was away; longest time without a record: {gaps.longest:.1f} s")
    assert gaps.longest < MOST_GAP
    assert not ledger.failed
    assert not ledger.lost(read_all(stretch.bootstrap_servers, "orders"))
    whole(stretch)
    # Variables of the inventory lead to the same judgement.
    said = stretch.playbook("playbooks/status.yml", status_strict=True).ok().output
    assert "OK           stretch" in said


def test_a_reader_fetches_from_the_replica_in_its_site(stretch: Cluster) -> None:
    wait_for_fetches(stretch, "site-b", 5)


def _kinds(found: dict[str, Any]) -> set[str]:
    return {finding["kind"] for finding in found["findings"]}

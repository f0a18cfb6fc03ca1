"""Two brokers whose advertised addresses are exchanged, each of which answers; and addresses that move."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cluster import Cluster, until
from tests.support.growing import three_nodes

pytestmark = pytest.mark.full

#: What refuses such an inventory before anything restarts; names that lead to the wrong node pass it.
ACCEPTED = {"preflight_accept": ["advertised_of_other", "advertised_unbound"]}


def listening(exchanged: bool = False) -> list[dict[str, Any]]:
    """Listeners of nodes that each have a loopback address for clients, and one port; kafka1 and 2 may advertise wrong.

    Addresses from 127.0.1.1 on stand for machines.
    """
    own = "{{ kafka_node_id }}"
    other = "{{ {1: 2, 2: 1}.get(kafka_node_id | int, kafka_node_id | int) }}"
    return [
        {
            "name": "CLIENT",
            "host": f"127.0.1.{own}",
            "advertised_host": f"127.0.1.{other if exchanged else own}",
            "port": "{{ kafka_port_base | int }}",
            "purpose": "clients",
        },
        {"name": "BROKER", "host": "127.0.0.1", "port": "{{ node_port | int + 1 }}", "purpose": "brokers"},
        {"name": "CONTROLLER", "host": "127.0.0.1", "port": "{{ node_port | int + 2 }}", "purpose": "controllers"},
    ]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes of this file alone."""
    found = three_nodes(tmp_path_factory.mktemp("exchanged"))
    found.variables["kafka_listeners"] = listening()
    try:
        found.playbook().ok()
        yield found
    finally:
        found.destroy()


def client_address(cluster: Cluster, node: int) -> str:
    """Where a node listens for clients."""
    return f"127.0.1.{node}:{cluster.port_base}"


def test_such_an_inventory_is_refused_before_anything_restarts(cluster: Cluster) -> None:
    before = cluster.pids()
    run = cluster.playbook(kafka_listeners=listening(exchanged=True), preflight_accept=["advertised_unbound"])
    assert run.rc != 0
    said = " ".join(run.output.split())
    assert "listener CLIENT advertises the address of kafka2" in said
    assert "listener CLIENT advertises the address of kafka1" in said
    assert cluster.pids() == before


def test_the_first_node_goes_back_and_no_other_restarts(cluster: Cluster) -> None:
    before, files = cluster.pids(), cluster.start_files("kafka1")
    run = cluster.playbook(kafka_listeners=listening(exchanged=True), **ACCEPTED)
    assert run.rc != 0
    said = " ".join(run.output.split())
    who = "leads the control node to another node (identity): broker 2 answers there, not broker 1"
    assert f"kafka1: listener CLIENT at {client_address(cluster, 2)} {who}" in said
    assert "fix: correct advertised_host and port of the listener (kafka_listeners)" in said
    assert "kafka1 did not come back with its new start files. It runs with those from before again" in said
    assert cluster.start_files("kafka1") == files
    after = cluster.pids()
    assert {node for node in after if after[node] != before[node]} == {"kafka1"}


def exchange(cluster: Cluster) -> None:
    """Start kafka1 and kafka2 by hand with each other's address, as no run would leave them."""
    for node, own, other in (("kafka1", 1, 2), ("kafka2", 2, 1)):
        properties = cluster.directory / "config" / node / "current" / "server.properties"
        lines = properties.read_text().splitlines(keepends=True)
        right, wrong = (f"CLIENT://{client_address(cluster, one)}" for one in (own, other))
        changed = [one.replace(right, wrong) if one.startswith("advertised.listeners=") else one for one in lines]
        assert changed != lines
        cluster.stop(node)
        properties.write_text("".join(changed))
        cluster.start(node)


def test_status_says_who_answers_and_a_run_corrects_both(cluster: Cluster) -> None:
    exchange(cluster)
    wanted = f"clients do not reach kafka1 (id 1): at {client_address(cluster, 2)} broker 2 answers there, not broker 1"

    def status() -> str:
        return " ".join(cluster.playbook("playbooks/status.yml").output.split())

    until(lambda: wanted in status(), "status to name kafka1", 180)
    said = status()
    assert f"kafka2 (id 2): at {client_address(cluster, 1)} broker 1 answers there, not broker 2" in said
    assert "unknown: throttles of brokers" not in said

    run = cluster.playbook(kafka_broker_config={"queued.max.requests": 404}).ok()
    # What is wrong is corrected first, by the files that all get.
    assert run.output.index("kafka2 restarted") < run.output.index("kafka3 restarted")
    assert "clients do not reach" not in status()


def test_the_listener_of_administration_moves_broker_by_broker(cluster: Cluster) -> None:
    """No module can begin at the new addresses before a broker has them, nor at the old ones when all have left."""
    moved = [
        {**one, "port": "{{ kafka_port_base | int + 5 }}"} if one["name"] == "CLIENT" else one for one in listening()
    ]
    cluster.variables["kafka_listeners"] = moved
    run = cluster.playbook().ok()
    assert all(f"{node} restarted" in run.output for node in cluster.nodes)
    assert all(f"CLIENT://127.0.1.{n}:{cluster.port_base + 5}" in cluster.start_files(f"kafka{n}") for n in (1, 2, 3))
    assert "OK" in cluster.playbook("playbooks/status.yml").ok().output

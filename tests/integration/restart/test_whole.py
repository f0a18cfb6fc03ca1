"""What calls a node whole: legal values with which it looks well, and which take it out of service for all others."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cluster import Cluster, until
from tests.support.growing import three_nodes
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

#: An address of this machine where nothing of a cluster listens.
NOWHERE = "127.0.0.9"
#: Where the listener with the wrong address is bound: no check can judge where a name leads.
HERE = socket.gethostname()


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes of this file alone; each test leaves them whole."""
    found = three_nodes(tmp_path_factory.mktemp("whole"))
    try:
        found.playbook().ok()
        yield found
    finally:
        found.destroy()


def advertising(cluster: Cluster, node: str, listener: str) -> dict[str, Any]:
    """Variables with which a node advertises one of its listeners at an address where nothing listens."""
    identity = cluster.identities[node]
    wrong = f"{{{{ '{NOWHERE}' if kafka_node_id | int == {identity} else '127.0.0.1' }}}}"
    return {
        "kafka_listeners": [
            {
                "name": name,
                "host": f"{{{{ '{HERE}' if kafka_node_id | int == {identity} else '127.0.0.1' }}}}"
                if name == listener
                else "127.0.0.1",
                "port": f"{{{{ node_port | int + {offset} }}}}",
                "purpose": purpose,
                **({"advertised_host": wrong} if name == listener else {}),
            }
            for offset, (name, purpose) in enumerate(
                [("CLIENT", "clients"), ("BROKER", "brokers"), ("CONTROLLER", "controllers")]
            )
        ]
    }


def goes_back(cluster: Cluster, node: str, **variables: Any) -> str:
    """Roll a value of which a node is to be taken back, under load; nothing acknowledged is lost. Return the output."""
    with producing(cluster.bootstrap_servers, "orders", rate=200) as ledger:
        run = cluster.playbook(**variables)
        until(lambda: len(ledger.acknowledged) > 2000, "2,000 acknowledged records", 120)
    assert run.rc != 0
    said = " ".join(run.output.split())
    assert f"{node} did not come back with its new start files. It runs with those from before again" in said, said
    assert not ledger.failed
    assert not ledger.lost(read_all(cluster.bootstrap_servers, "orders"))
    return said


def test_a_broker_from_which_no_other_can_copy_goes_back(cluster: Cluster) -> None:
    said = goes_back(cluster, "kafka1", **advertising(cluster, "kafka1", "BROKER"))
    assert "cannot copy from broker 1" in said or "are not committed" in said or NOWHERE in said


def test_a_stopped_node_that_starts_with_such_files_goes_back_too(cluster: Cluster) -> None:
    cluster.stop("kafka1")
    goes_back(cluster, "kafka1", **advertising(cluster, "kafka1", "BROKER"))
    assert NOWHERE not in cluster.start_files("kafka1")


def test_a_broker_that_no_client_reaches_goes_back(cluster: Cluster) -> None:
    said = goes_back(cluster, "kafka3", **advertising(cluster, "kafka3", "CLIENT"))
    assert f"{NOWHERE}:{cluster.port('kafka3')}" in said, said


def test_a_sick_node_is_named_and_may_be_corrected(cluster: Cluster) -> None:
    """It was started with such files by hand, or by an older release: no run has seen it whole."""
    properties = cluster.directory / "config" / "kafka1" / "current" / "server.properties"
    good, port = properties.read_text(), cluster.port("kafka1", 1)
    assert f"BROKER://127.0.0.1:{port}," in good.partition("advertised.listeners=")[2]
    cluster.stop("kafka1")
    head, key, rest = good.partition("advertised.listeners=")
    properties.write_text(head + key + rest.replace(f"BROKER://127.0.0.1:{port}", f"BROKER://{NOWHERE}:{port}"))
    cluster.start("kafka1")
    run_module("streamops.kafka.leader_election", {"bootstrap_servers": cluster.bootstrap_servers, "broker": 1})
    until(lambda: cut_off(cluster) == ["1"], "kafka1 to be cut off", 120)

    status = cluster.playbook("playbooks/status.yml").output
    assert "cannot copy from broker 1" in status
    assert f"kafka1 at 127.0.0.1:{port}" in status
    assert "start the brokers that are missing" not in status

    asked = {"bootstrap_servers": cluster.bootstrap_servers, "node_ids": [2], "timeout": 1}
    refused = run_module("streamops.kafka.restart_gate", asked)
    assert "broker_cut_off" in [one["kind"] for one in refused["refusals"]], refused["msg"]

    run = cluster.playbook(kafka_restart_force=True).ok()
    assert "kafka1 is sick" in run.output
    assert run.output.index("kafka1 restarted") < run.output.index("kafka2 restarted")
    assert properties.resolve().read_text() == good
    assert cut_off(cluster) == []


def cut_off(cluster: Cluster) -> list[str]:
    """The ids of the brokers that the gate calls sick."""
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "node_ids": [1]}
    return list(run_module("streamops.kafka.restart_gate", asked, check=True)["sick"])

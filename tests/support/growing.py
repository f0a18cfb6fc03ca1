"""A cluster whose inventory gets more brokers and loses them, for tests of the playbooks that move data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables
from tests.support.modules import run_module

Hosts = dict[str, dict[str, object]]
THREE: Hosts = {f"kafka{n}": {"kafka_node_id": n, "kafka_rack": f"r{n}"} for n in (1, 2, 3)}
FOURTH: Hosts = {"kafka4": {"kafka_node_id": 4, "kafka_rack": "r1"}}
FIFTH: Hosts = {"kafka5": {"kafka_node_id": 5, "kafka_rack": "r1"}}


def three_nodes(directory: Path) -> Cluster:
    """Three combined nodes, not installed yet."""
    inventory = hosts_file(directory / "three", {"kraft_controllers": THREE, "kafka_brokers": THREE}, local_variables())
    variables = {"kafka_resources_move_report_dir": str(directory / "reports")}
    return Cluster(inventory, directory / "cluster", free_port_base(), variables)


def with_brokers(three: Cluster, brokers: Hosts) -> Iterator[Cluster]:
    """The same cluster in an inventory with these brokers besides; in the end they are stopped."""
    groups = {"kraft_controllers": THREE, "kafka_brokers": {**THREE, **brokers}}
    inventory = hosts_file(three.directory.parent / "-".join(brokers), groups, local_variables())
    cluster = Cluster(inventory, three.directory, three.port_base, three.variables)
    yield cluster
    for name in brokers:
        if cluster.alive(name):
            cluster.stop(name)


def held(cluster: Cluster, broker: int) -> int:
    """How many replicas a broker has."""
    options = {"bootstrap_servers": cluster.bootstrap_servers, "brokers": [broker]}
    found = run_module("streamops.kafka.log_dirs", options)
    return int(found["brokers"][0]["replica_count"])


def report(cluster: Cluster, name: str) -> str:
    """A report that a playbook wrote."""
    directory = Path(cluster.variables["kafka_resources_move_report_dir"])
    return (directory / f"{name}.html").read_text()


def moves(output: str) -> int:
    """How many moves a playbook showed before it began."""
    found = re.search(r"(\d+) replicas move", output)
    assert found, output[-3000:]
    return int(found.group(1))

"""A cluster of ZooKeeper mode on this machine: three servers, three brokers, and what tests ask and do to them."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.support.cluster import ROOT, Cluster, hosts_file, local_variables
from tests.support.modules import run_module


@dataclass
class ZookeeperCluster(Cluster):
    """The inventory local_zookeeper, or one made like it, in a folder and a range of ports of its own."""

    @property
    def servers(self) -> list[str]:
        """Inventory names of the servers of ZooKeeper."""
        return [node for node in self.nodes if self.is_server(node)]

    @property
    def brokers(self) -> list[str]:
        """Inventory names of the brokers."""
        return [node for node in self.nodes if not self.is_server(node) and node not in self.controllers]

    @property
    def controllers(self) -> list[str]:
        """Inventory names of the controllers of a migration."""
        return [node for node in self.nodes if node.startswith("controller")]

    @property
    def bootstrap_servers(self) -> list[str]:
        """host:port of every broker for clients."""
        return [f"127.0.0.1:{self.port(node)}" for node in self.brokers]

    def port(self, node: str, offset: int = 0) -> int:
        """The port of a node for its clients."""
        return self.port_base + self.identities[node] + offset

    def ensemble(self, **options: Any) -> dict[str, Any]:
        """What zookeeper_info says about the ensemble and the cluster in it."""
        servers = [{"id": self.identities[s], "host": "127.0.0.1", "port": self.port(s)} for s in self.servers]
        return run_module("streamops.kafka.zookeeper_info", {"servers": servers, **options})

    def word(self, node: str, word: str) -> str:
        """What a server answers to a four-letter word; empty when it does not."""
        try:
            with socket.create_connection(("127.0.0.1", self.port(node)), timeout=5) as connection:
                connection.sendall(word.encode())
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError:
            return ""

    def leader(self) -> str | None:
        """The server that leads; None when none says so."""
        leading = [node for node in self.servers if re.search(r"^Mode: leader$", self.word(node, "srvr"), re.M)]
        return leading[0] if len(leading) == 1 else None

    def data(self, node: str) -> Path:
        """The data directory of a node; of a server that with myid."""
        return self.directory / "data" / node


def inventory(directory: Path, servers: int = 3, brokers: int = 3) -> Path:
    """Writes an inventory like local_zookeeper with any number of servers and brokers."""
    groups: dict[str, dict[str, dict[str, Any]]] = {
        "zookeeper": {f"zookeeper{n}": {"zookeeper_id": n} for n in range(1, servers + 1)},
        "kafka_brokers": {f"broker{n}": {"kafka_node_id": n, "kafka_rack": f"r{n}"} for n in range(11, 11 + brokers)},
    }
    return hosts_file(directory, groups, local_variables("local_zookeeper"))


def with_controllers(inventory: Path, controllers: int = 3) -> None:
    """Rewrites an inventory made here: controllers come beside its brokers, on ports of the same range."""
    hosts = yaml.safe_load((inventory / "hosts.yml").read_text())
    # Racks are for brokers alone, and no id is that of a broker.
    named = {f"controller{n}": {"kafka_node_id": n} for n in range(15, 15 + controllers)}
    hosts["kraft_controllers"] = {"hosts": named}
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    variables = yaml.safe_load((inventory / "group_vars" / "all.yml").read_text())
    listener = {"name": "CONTROLLER", "host": "127.0.0.1", "port": "{{ node_port }}", "purpose": "controllers"}
    variables["kafka_listeners"].append(listener)
    (inventory / "group_vars" / "all.yml").write_text(yaml.safe_dump(variables))


def without_zookeeper(inventory: Path) -> None:
    """Rewrites an inventory whose cluster has gone to KRaft: what it says of ZooKeeper is gone."""
    hosts = yaml.safe_load((inventory / "hosts.yml").read_text())
    del hosts["zookeeper"]
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    variables = yaml.safe_load((inventory / "group_vars" / "all.yml").read_text())
    kept = {name: value for name, value in variables.items() if not name.startswith("zookeeper_")}
    (inventory / "group_vars" / "all.yml").write_text(yaml.safe_dump({**kept, "kafka_mode": "kraft_isolated"}))


def shipped() -> Path:
    """The inventory that is part of the collection."""
    return ROOT / "inventories" / "local_zookeeper"


def with_servers(inventory: Path, servers: int) -> None:
    """Rewrites an inventory made here for another number of servers."""
    hosts = yaml.safe_load((inventory / "hosts.yml").read_text())
    hosts["zookeeper"] = {"hosts": {f"zookeeper{n}": {"zookeeper_id": n} for n in range(1, servers + 1)}}
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))

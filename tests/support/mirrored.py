"""Two clusters on this machine with mirrors between them, installed by the product's own playbooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.cluster import ROOT, Cluster, free_port_base
from tests.support.shuffled import tree, write

SHIPPED = ROOT / "inventories" / "local_mirror"
#: The port of a mirror for its peers, above the ports of all brokers.
REST = 70
#: Offset of a node's port for mirrors that come by a line.
MIRROR = 3
#: The listener at the end of that line, whose other end has the same port of 127.0.0.1.
BEHIND_LINE = {
    "name": "MIRROR",
    "host": "127.0.0.2",
    "advertised_host": "127.0.0.1",
    "port": f"{{{{ node_port + {MIRROR} }}}}",
    "purpose": "clients",
}


class Mirrored(Cluster):
    """The inventory local_mirror, or one made like it: clusters dc_a and dc_b, and mirrors whose names begin so."""

    @property
    def mirrors(self) -> list[str]:
        """Inventory names of the mirrors."""
        return [node for node in self.nodes if node.startswith("mirror")]

    def __post_init__(self) -> None:
        super().__post_init__()
        hosts = self.inventory.joinpath("hosts.yml").read_text()
        found = [f"mirror{number}" for number in range(1, 4) if f" mirror{number}:" in hosts]
        self.identities.update({host: REST // 10 + number for number, host in enumerate(found)})

    def servers(self, cluster: str) -> list[str]:
        """host:port of every broker of dc_a or dc_b for clients."""
        return [f"127.0.0.1:{self.port(node)}" for node in self.nodes if node.startswith(cluster[-1])]

    def service(self, node: str) -> str:
        """The name of a node's service."""
        return f"mirror-maker-{node}" if node in self.mirrors else super().service(node)


def local_mirror(directory: Path, **variables: Any) -> Mirrored:
    """The shipped inventory in a folder and a range of ports of its own; not installed yet."""
    return Mirrored(SHIPPED, directory, free_port_base(), variables)


def small_mirror(directory: Path, both_ways: bool = False, far: bool = False, **variables: Any) -> Mirrored:
    """The same with one node in each cluster; not installed yet.

    both_ways -- whether a second mirror stands next to dc_a, for flows the other way. far -- whether mirrors reach the
    other cluster by a line, which the test lays.
    """
    found = tree(SHIPPED)
    if far:
        brokers = found["group_vars/kafka_brokers.yml"]
        brokers["kafka_listeners"].append(BEHIND_LINE)
        brokers["mirror_listener"] = BEHIND_LINE["name"]
    if both_ways:
        hosts = found["hosts.yml"]
        ports = {"mirror_maker_rest_port": REST + 10, "kafka_metrics_port": REST + 13}
        base = "kafka_port_base | streamops.kafka.integer('kafka_port_base')"
        hosts["mirror_makers"]["hosts"]["mirror2"] = {
            name: f"{{{{ {base} + {port} }}}}" for name, port in ports.items()
        }
        del hosts["dc_b"]["children"]["mirror_makers"]
        hosts["dc_b"]["hosts"], hosts["dc_a"]["hosts"] = {"mirror1": None}, {"mirror2": None}
    for name in "ab":
        hosts = found["hosts.yml"][f"dc_{name}_brokers"]["hosts"]
        del hosts[f"{name}2"], hosts[f"{name}3"]
    for topic in found["group_vars/dc_a.yml"]["kafka_topics"]:
        topic["replication_factor"] = 1
    write(found, directory / "inventory")
    return Mirrored(directory / "inventory", directory / "run", free_port_base(), variables)

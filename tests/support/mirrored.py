"""Two clusters on this machine with mirrors between them, installed by the product's own playbooks."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

from tests.support.cluster import ROOT, Cluster, free_port_base

SHIPPED = ROOT / "inventories" / "local_mirror"
#: The port of a mirror for its peers, above the ports of all brokers.
REST = 70


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


def small_mirror(directory: Path, **variables: Any) -> Mirrored:
    """The same with one node in each cluster; not installed yet."""
    inventory = directory / "inventory"
    shutil.copytree(SHIPPED, inventory)
    hosts, topics = inventory / "hosts.yml", inventory / "group_vars" / "dc_a.yml"
    hosts.write_text(re.sub(r"^ +[ab][23]: .*\n", "", hosts.read_text(), flags=re.M))
    topics.write_text(topics.read_text().replace("replication_factor: 3", "replication_factor: 1"))
    return Mirrored(inventory, directory / "run", free_port_base(), variables)

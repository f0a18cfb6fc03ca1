# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The clusters that others installed: which nodes belong together, and what such a cluster is by their properties."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...module_utils._core.addresses import is_loopback
from .listeners import words
from .nodes import KAFKA, MIRROR, ZOOKEEPER, ForeignNode

#: Properties that name the voters of a static quorum, and the controllers of a dynamic one (KIP-595, KIP-853).
VOTERS, BOOTSTRAP = "controller.quorum.voters", "controller.quorum.bootstrap.servers"
#: In which order clusters are shown.
_ORDER = (KAFKA, ZOOKEEPER, MIRROR)


@dataclass(frozen=True)
class ForeignCluster:
    """Nodes of one product that belong together. cluster_id -- empty where no directory tells it, and of ZooKeeper."""

    product: str
    cluster_id: str
    nodes: tuple[ForeignNode, ...]

    @property
    def title(self) -> str:
        """Return how a line names it."""
        if self.product == KAFKA:
            return self.cluster_id or "a cluster without a known id"
        return "ensemble of ZooKeeper" if self.product == ZOOKEEPER else "MirrorMaker"

    @property
    def mode(self) -> str:
        """Return who keeps the metadata of a cluster of Kafka, by process.roles (KIP-500); empty of other products."""
        roles = [node.roles for node in self._known]
        kraft = [node.roles for node in self._known if "process.roles" in node.told["properties"]]
        if self.product != KAFKA:
            return ""
        if not roles:
            return "mode not known"
        if len(kraft) < len(roles):
            return "zookeeper, and controllers of KRaft beside it" if kraft else "zookeeper"
        are_combined = {len(words_of_node) > 1 for words_of_node in kraft}
        if are_combined == {True, False}:
            return "kraft, combined and isolated nodes"
        return "kraft, combined" if True in are_combined else "kraft, isolated"

    @property
    def quorum(self) -> str:
        """Return how its quorum is made by the properties: a list of voters makes it static (KIP-595)."""
        kraft = [node.told["properties"] for node in self._known if "process.roles" in node.told["properties"]]
        are_static = {bool(words(properties, VOTERS)) for properties in kraft}
        if self.product != KAFKA or not are_static:
            return ""
        if len(are_static) > 1:
            return "static quorum on some nodes and dynamic on others"
        return "static quorum" if True in are_static else "dynamic quorum"

    @property
    def releases(self) -> str:
        """Return the releases of its nodes."""
        return ", ".join(sorted({node.version or "release not known" for node in self.nodes}))

    @property
    def broker_ids(self) -> set[int]:
        """Return the ids of its brokers, as far as they are known."""
        return self._ids("broker")

    @property
    def controller_ids(self) -> set[int]:
        """Return the ids of its controllers, as far as they are known."""
        return self._ids("controller")

    @property
    def _known(self) -> list[ForeignNode]:
        """Return the nodes whose properties could be read."""
        return [node for node in self.nodes if node.told["properties"]]

    def _ids(self, role: str) -> set[int]:
        return {node.node_id for node in self.nodes if role in node.roles and node.node_id is not None}


def clusters_of(nodes: Sequence[ForeignNode]) -> list[ForeignCluster]:
    """Return the clusters that nodes form, those of Kafka first; a node in a container is in none.

    A node whose directories could not be read is of the cluster whose nodes name the same controllers, or the same
    ensemble, where these are of one cluster.
    """
    nodes = [node for node in nodes if not node.is_contained]
    ids_by_link: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        if node.cluster_id:
            ids_by_link[_link(node)].add(node.cluster_id)
    members: dict[tuple[str, str, str], list[ForeignNode]] = defaultdict(list)
    for node in nodes:
        link = _link(node)
        linked = ids_by_link[link] if link else set()
        cluster_id = node.cluster_id or (next(iter(linked)) if len(linked) == 1 else "")
        members[node.product, cluster_id, "" if cluster_id else link].append(node)
    return [
        ForeignCluster(product, cluster_id, tuple(together))
        for (product, cluster_id, _link_of_nodes), together in sorted(
            members.items(), key=lambda entry: (_ORDER.index(entry[0][0]), *entry[0][1:])
        )
    ]


def _link(node: ForeignNode) -> str:
    """Return what nodes of one cluster name alike: controllers, an ensemble, its servers; empty where nothing is.

    Loopback means another machine on each.
    """
    properties = node.told["properties"]
    if node.product == MIRROR:
        return ""
    if node.product == ZOOKEEPER:
        servers = sorted(f"{key}={value}" for key, value in properties.items() if key.startswith("server."))
        return ",".join(servers) or node.host
    keys = (VOTERS, BOOTSTRAP, "zookeeper.connect")
    named = next((listed for key in keys if (listed := words(properties, key))), [])
    is_local = any(is_loopback(word.rpartition("@")[2].rpartition(":")[0].strip("[]")) for word in named)
    return ",".join([*sorted(named), *([node.host] if is_local else [])])

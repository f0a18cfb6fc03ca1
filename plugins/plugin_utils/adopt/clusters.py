# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The clusters that others installed: which nodes belong together, and what such a cluster is by their properties."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from ...module_utils._node.installed import KAFKA, MIRROR, ZOOKEEPER
from ..guards.foreign import ForeignNode
from ..inventory.nodes import VOTERS
from .listeners import words

#: In which order clusters are shown.
_ORDER = (KAFKA, ZOOKEEPER, MIRROR)
#: The mode of a cluster that goes from ZooKeeper to KRaft, which is not taken over, and what is to be done with it.
ON_ITS_WAY = "zookeeper, and controllers of KRaft beside it"
END_ITS_WAY = (
    "end the way of the cluster from ZooKeeper to KRaft, or go back, by the means with which it was begun: on that way "
    "no node is taken over"
)


@dataclass(frozen=True)
class ForeignCluster:
    """Nodes of one product that belong together. cluster_id -- empty where no directory tells it, and of ZooKeeper.

    ours -- its nodes that this collection runs already: they are not shown, and are no strangers in its metadata.
    """

    product: str
    cluster_id: str
    nodes: tuple[ForeignNode, ...]
    ours: tuple[ForeignNode, ...] = ()

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
            return ON_ITS_WAY if kraft else "zookeeper"
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
        members = (*self.nodes, *self.ours)
        return {node.node_id for node in members if role in node.roles and node.node_id is not None}


def clusters_of(nodes: Sequence[ForeignNode], ours: Sequence[ForeignNode] = ()) -> list[ForeignCluster]:
    """Return the clusters that nodes form, those of Kafka first; a node in a container is in none.

    ours -- nodes that this collection runs already, which form no cluster by themselves
    """
    members: dict[tuple[str, str], list[ForeignNode]] = defaultdict(list)
    for node in nodes:
        if not node.is_contained:
            members[node.product, node.belongs_to].append(node)
    return [
        ForeignCluster(
            product,
            together[0].cluster_id,
            tuple(together),
            tuple(node for node in ours if (node.product, node.belongs_to) == (product, belongs_to)),
        )
        for (product, belongs_to), together in sorted(
            members.items(), key=lambda entry: (_ORDER.index(entry[0][0]), entry[1][0].cluster_id, entry[0][1])
        )
    ]

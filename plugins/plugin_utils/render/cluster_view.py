# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The cluster of the host that asks: its nodes, what they hold together, and what keeps other runs away from it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from ...module_utils._migration.modes import ZOOKEEPER
from ..addresses import resolved
from ..inventory.build import build_inventory, build_node
from ..inventory.model import Inventory, Node
from ..inventory.nodes import ZOOKEEPER_MODE, endpoints, listener_for, peer_names, stage_of
from ..inventory.provers import provers
from ..run.results import Results
from . import firewall, kafka
from .bounds import node_addresses, node_names
from .copies import Copies
from .parts import key
from .readers import Reader
from .static_quorum import is_static, static_voters

#: What the proof of a node takes at most beside the limits that users set, and going back with it: its listeners, its
#: leaders, the time without a bad look, the quorum.
_PROOF_SECONDS = 900


class ClusterView:
    """What the nodes of a cluster have in common; a part that cannot be made raises ValueError."""

    def __init__(self, reader: Reader, results: Results) -> None:
        self._reader, self.results = reader, results

    @cached_property
    def inventory(self) -> Inventory:
        """All nodes of all clusters, typed."""
        return build_inventory(self._reader.read, self._reader.groups)

    @key
    def settings(self) -> Mapping[str, Any]:
        """The variables of the host that asks, typed."""
        return self._reader.read(self._reader.host)

    @property
    def name(self) -> str:
        """The name of the cluster."""
        return str(self.settings["kafka_cluster_name"]).strip()

    @key
    def nodes(self) -> list[dict[str, Any]]:
        """Its nodes of Kafka, controllers first."""
        return self._plain(self.inventory.kafka)

    @property
    def known_nodes(self) -> list[dict[str, Any]]:
        """Return its nodes of Kafka that the host knows: one with ZooKeeper has no part in a quorum that is to come.

        So controllers that come into the inventory restart no broker.
        """
        return self._plain(self._known)

    @property
    def _known(self) -> list[Node]:
        without = stage_of(self.settings) == ZOOKEEPER
        return [node for node in self._own(self.inventory.kafka) if node.broker or not without]

    @key
    def identities(self) -> list[dict[str, Any]]:
        """Return who its nodes of Kafka are: host, node_id and roles."""
        return [node.identity() for node in self._own(self.inventory.kafka)]

    @key
    def zookeepers(self) -> list[dict[str, Any]]:
        """The servers of ZooKeeper beside it, also those that come or go."""
        return self._plain(node for node in self.inventory.nodes if node.zookeeper)

    @key
    def mirrors(self) -> list[dict[str, Any]]:
        """The mirrors next to it."""
        return self._plain(self.inventory.mirrors)

    @key
    def members(self) -> list[dict[str, Any]]:
        """The members of the ensemble: all servers, but for those that come or go just now."""
        return [node for node in self.zookeepers if self._is_member(node["host"])]

    def _plain(self, nodes: Iterable[Node]) -> list[dict[str, Any]]:
        """Return those of the nodes that belong to the cluster, as tasks read them."""
        return [node.plain() for node in self._own(nodes)]

    def _own(self, nodes: Iterable[Node]) -> list[Node]:
        return [node for node in nodes if node.cluster == self.name]

    # Tasks ask most often who does what is done once for a cluster: names alone, for which no listener is read.

    @key
    def hosts(self) -> list[str]:
        """The hosts of its nodes of Kafka."""
        return self._hosts(self.inventory.kafka)

    @key
    def first_host(self) -> str:
        """The first of its hosts and of the members of its ensemble; of a mirror alone, itself."""
        return next(iter(self._sharing), self._reader.host)

    @key
    def first_in_play(self) -> str:
        """The first of them that the play has; empty where it has none."""
        play_hosts = set(self._reader.play_hosts)
        return next((host for host in self._sharing if host in play_hosts), "")

    @key
    def provers(self) -> list[str]:
        """The brokers that want a proof of the roll."""
        return self._hosts(provers(self.inventory.nodes))

    @cached_property
    def _sharing(self) -> list[str]:
        """The hosts of the cluster: its nodes of Kafka, then the members of its ensemble."""
        return [*self.hosts, *filter(self._is_member, self._servers)]

    @property
    def every_host(self) -> list[str]:
        """The hosts of its nodes, and of all servers of ZooKeeper beside it."""
        return [*self.hosts, *self._servers]

    @cached_property
    def _servers(self) -> list[str]:
        return self._hosts(node for node in self.inventory.nodes if node.zookeeper)

    def _hosts(self, nodes: Iterable[Node]) -> list[str]:
        return [node.name for node in self._own(nodes)]

    def _is_member(self, server: str) -> bool:
        """Tell whether a server belongs to the ensemble, and is not about to come or go."""
        named = self.settings["zookeeper_members"]
        return not named or server in named

    @key
    def bootstrap_servers(self) -> list[str]:
        """Return where clients begin, as host:port."""
        return endpoints(self.nodes, "clients")

    @property
    def servers_now(self) -> list[str]:
        """Say where clients begin, first by the inventory, then where running brokers advertise the same listener now.

        They differ while the inventory moves that listener to another port or address: brokers take it one by one.
        """
        now = [
            (self.results.of(node["host"]).look.get("advertised") or {}).get(listener_for(node, "clients")["name"])
            for node in self.nodes
            if "broker" in node["roles"]
        ]
        return list(dict.fromkeys([*self.bootstrap_servers, *(server for server in now if server)]))

    @key
    def super_users(self) -> list[str]:
        """The principals that no ACL binds."""
        return kafka.super_users(self.nodes, self.settings)

    @key
    def peer_names(self) -> list[str]:
        """The names by which the host must find the others."""
        return peer_names([*self.nodes, *self.zookeepers], self._reader.host)

    @key
    def copies(self) -> Copies:
        """Our defaults about copies."""
        return Copies(self, self.results)

    @key
    def copies_in_sync(self) -> Any:
        """The min.insync.replicas of its brokers; the first of them speaks for all."""
        cluster = next(one for one in self.inventory.clusters() if one.name == self.name)
        return cluster.properties(cluster.brokers[0], self.copies["defaults"])["min.insync.replicas"].value

    @key
    def static_voters(self) -> list[str]:
        """The voters of a static quorum, id@host:port; empty of a dynamic one, and in ZooKeeper mode.

        A cluster that migrates has one: with controller.quorum.voters kafka-storage formats for it (page "KRaft" of
        3.9, "Static versus Dynamic KRaft Quorums"), and Kafka from 4.1 makes it dynamic (docs/quorum.md).
        """
        settings, asked = self.settings, self.copies["asked"]
        infos = (self.results.of(node["host"]).look for node in self.identities if "controller" in node["roles"])
        # What --check shows of such a run is what comes behind the change of kraft.version.
        foreseen = settings.get("_common_changes_voters", False) and settings.get("ansible_check_mode", False)
        if settings["kafka_mode"] == ZOOKEEPER_MODE:
            # Without voters in its properties a controller would be formatted for a dynamic quorum.
            return [] if stage_of(settings) == ZOOKEEPER else static_voters(self.nodes, asked)
        if not is_static(asked, infos):
            return []
        if foreseen and settings["kafka_dynamic_quorum"]:
            return []
        return static_voters(self.nodes, asked)

    @key
    def lock(self) -> dict[str, Any]:
        """The machines that may keep the lock of the cluster and its file on each, and after how many seconds it ends.

        A run takes it on the first of them that it reaches. It ends by itself when no restart can take longer.
        """
        settings, file = self.settings, f"{self.name}.lock"
        limits = ("kafka_gate_timeout", "kafka_stop_timeout", "kafka_start_timeout", "kafka_sync_timeout")
        return {
            "machines": [
                {"host": host, "path": f"{self._reader.read(host)['kafka_config_dir']}/{file}"}
                for host in dict.fromkeys(self._sharing)
            ],
            "seconds": sum(settings[name] for name in limits) + settings["kafka_sync_timeout"] + _PROOF_SECONDS,
        }

    @key
    def places(self) -> list[dict[str, Any]]:
        """Return where the nodes of all clusters are, and the other hosts that their firewalls let in."""
        groups = self._reader.groups
        known = {node.name: node for node in self.inventory.processes}
        wanted = [host for node in known.values() for host in node.let_in(groups)]
        peers = [
            build_node(host, variables=self._reader.read(host), undefined={}, controller=False, broker=False)
            for host in dict.fromkeys(wanted)
            if host not in known and self._reader.is_host(host)
        ]
        return firewall.places([*known.values(), *peers], groups)

    @key
    def firewall_rules(self) -> list[dict[str, Any]]:
        """Return who may connect to which port of the machine of the host."""
        return firewall.rules(self.places, self._reader.host, resolved(firewall.unresolved(self.places)))

    @property
    def node_addresses(self) -> list[str]:
        """Return what the nodes that its host knows connect from, as far as the control node can resolve it."""
        unknown = {*self.hosts} - {node.name for node in self._known}
        places = [place for place in self.places if place["host"] not in unknown]
        return node_addresses(places, self.name, resolved(node_names(places, self.name)))

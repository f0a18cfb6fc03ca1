# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The model as roles read it: plain data about the cluster of one host, each part made when it is first asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from os.path import expanduser
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.addresses import resolved
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import (
    build_inventory,
    build_node,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.mirror_nodes import rest_url
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    GROUP_FIX,
    GROUP_NAMES,
    GROUPS,
    PAGE_GROUP,
    PROMETHEUS_GROUP,
    Inventory,
    Node,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.nodes import (
    ZOOKEEPER_MODE,
    awaited_ports,
    endpoints,
    peer_names,
    voter_listeners,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.provers import provers
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import firewall, kafka, metrics
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.access import Access
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.bounds import node_addresses, node_names
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.certificates import (
    certificates,
    keystore,
    stores,
    truststore,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.copies import Copies
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.parts import Parts, Results
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.paths import owners, paths, shared
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.process import jvm_arguments, process
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.proof import steady_seconds
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.readers import MirrorReader, Reader
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.release import release
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import (
    certificate_names,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.static_quorum import (
    for_static,
    is_static,
    static_voters,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.turns import Turns

#: What the proof of a node takes at most beside the limits that users set, and going back with it: its listeners, its
#: leaders, the time without a bad look, the quorum.
_PROOF_SECONDS = 900


class View(Parts):
    """What docs/development/house.md lists; a part that cannot be made raises ValueError."""

    def __init__(self, reader: Reader) -> None:
        reader = self._reader = MirrorReader(reader)
        self._results = Results(reader.read, reader.host)
        self._access = Access(self)
        parts: dict[str, Callable[[], Any]] = {
            "settings": lambda: reader.read(reader.host),
            "node": self._node,
            "nodes": lambda: self._plain(self._inventory.kafka),
            "zookeepers": lambda: self._plain(node for node in self._inventory.nodes if node.zookeeper),
            "mirrors": lambda: self._plain(self._inventory.mirrors),
            "members": self._members,
            "hosts": lambda: self._hosts(self._inventory.kafka),
            "first_host": lambda: next(iter(self._shares_cluster()), reader.host),
            "first_in_play": self._first_in_play,
            "provers": lambda: self._hosts(provers(self._inventory.nodes)),
            "bootstrap_servers": lambda: endpoints(self["nodes"], "clients"),
            "super_users": lambda: kafka.super_users(self["nodes"], self["settings"]),
            "copies": lambda: Copies(self, self._results),
            "copies_in_sync": self._copies_in_sync,
            "properties": self._properties,
            "static_voters": self._static_voters,
            "steady_seconds": lambda: steady_seconds(self["properties"], str(self["settings"]["kafka_mode"])),
            "paths": self._paths,
            "owners": lambda: owners(self["settings"]),
            "release": lambda: release(self["node"], self["settings"]),
            "process": lambda: process(self["node"], self["settings"], self["paths"]),
            "jvm_arguments": self._jvm_arguments,
            "manifest": self._manifest,
            "certificate": lambda: certificates(self["settings"]),
            "keystore": lambda: keystore(self["certificate"]),
            "truststore": lambda: truststore(self["certificate"]),
            "stores": self._stores,
            "metrics": self._metrics,
            "lock": self._lock,
            "certificate_names": lambda: certificate_names(self["node"]),
            "peer_names": lambda: peer_names([*self["nodes"], *self["zookeepers"]], reader.host),
            "voter_listeners": lambda: voter_listeners(self["node"]),
            "awaited_ports": lambda: awaited_ports(self["node"], len(self["members"])),
            "rest_url": lambda: rest_url(self["node"]),
            "places": self._places,
            "firewall_rules": self._firewall_rules,
            "firewall_trial": self._firewall_trial,
            "answers": self._answers,
            "seen": self._seen,
            "ensemble": self._ensemble,
            "voters": self._voters,
            "reports": self._reports,
            "mirroring": self._mirroring,
            "monitoring": self._monitoring,
            "client_bundle": self._client_bundle,
            "canary": self._canary,
            "page": self._page,
            "prometheus": self._prometheus,
            **self._access.parts(),
            **Turns(reader, lambda: self._inventory.processes).parts(),
        }
        super().__init__(parts)

    @property
    def _inventory(self) -> Inventory:
        made: Inventory = self._once("inventory", lambda: build_inventory(self._reader.read, self._reader.groups))
        return made

    def _plain(self, nodes: Iterable[Node]) -> list[dict[str, Any]]:
        cluster = self._cluster()
        return [node.plain() for node in nodes if node.cluster == cluster]

    # Tasks ask most often who does what is done once for a cluster: names alone, for which no listener is read.

    def _hosts(self, nodes: Iterable[Node]) -> list[str]:
        cluster = self._cluster()
        return [node.name for node in nodes if node.cluster == cluster]

    def _shares_cluster(self) -> list[str]:
        """Return the hosts of the cluster: its nodes of Kafka, then the members of its ensemble."""
        servers = self._hosts(node for node in self._inventory.nodes if node.zookeeper)
        return [*self["hosts"], *filter(self._is_member, servers)]

    def _is_member(self, server: str) -> bool:
        """Tell whether a server belongs to the ensemble, and is not about to come or go."""
        named = self["settings"]["zookeeper_members"]
        return not named or server in named

    def _first_in_play(self) -> str:
        """Return the first of them that the play has; empty where it has none."""
        play_hosts = set(self._reader.play_hosts)
        return next((host for host in self._shares_cluster() if host in play_hosts), "")

    def _cluster(self) -> str:
        return str(self["settings"]["kafka_cluster_name"]).strip()

    def _node(self) -> dict[str, Any]:
        # Not by way of all nodes: most tasks ask for nothing of the others, whose listeners are templates.
        own = (node for node in self._inventory.processes if node.name == self._reader.host)
        found = self._plain(own)
        if not found:
            raise ValueError(f"{self._reader.host} is in none of the groups {GROUP_NAMES}; fix: {GROUP_FIX}")
        return found[0]

    def _members(self) -> list[dict[str, Any]]:
        """The members of the ensemble: all servers, but for those that come or go just now."""
        return [node for node in self["zookeepers"] if self._is_member(node["host"])]

    def _properties(self) -> dict[str, Any]:
        """The native properties of the node; a mirror has none of these."""
        node, settings = self["node"], self["settings"]
        if node["node_id"] is None and "mirror" not in node["roles"]:
            name = "zookeeper_id" if "zookeeper" in node["roles"] else "kafka_node_id"
            raise ValueError(f"{node['host']} has no {name}; fix: set it as a host variable and never change it")
        if "zookeeper" in node["roles"]:
            return kafka.zookeeper_properties(node, self["members"], settings)
        if "broker" in node["roles"]:
            addresses = self._node_addresses()
            copies = self["copies"]["defaults"]
            found = kafka.broker_properties(node, self["nodes"], self["members"], settings, addresses, copies)
            return for_static(found, self["static_voters"])
        if "controller" in node["roles"]:
            return for_static(kafka.controller_properties(node, self["nodes"], settings), self["static_voters"])
        return {}

    def _static_voters(self) -> list[str]:
        """The voters of a static quorum, id@host:port; empty of a dynamic one, and in ZooKeeper mode."""
        settings, asked = self["settings"], self["copies"]["asked"]
        infos = (
            self._results.of(node["host"], "__common_node_info")
            for node in self["nodes"]
            if "controller" in node["roles"]
        )
        # What --check shows of such a run is what comes behind the change of kraft.version.
        foreseen = settings.get("_common_changes_voters", False) and settings.get("ansible_check_mode", False)
        if settings["kafka_mode"] == ZOOKEEPER_MODE or not is_static(asked, infos):
            return []
        if foreseen and settings["kafka_dynamic_quorum"]:
            return []
        return static_voters(self["nodes"], asked)

    def _copies_in_sync(self) -> Any:
        """The min.insync.replicas of the brokers of the cluster; the first of them speaks for all."""
        cluster = next(one for one in self._inventory.clusters() if one.name == self._cluster())
        return cluster.properties(cluster.brokers[0], self["copies"]["defaults"])["min.insync.replicas"].value

    def _paths(self) -> dict[str, Any]:
        host = self._reader.host
        beside = (self._reader.groups.get(group, ()) for group in (PAGE_GROUP, PROMETHEUS_GROUP))
        if host not in self._everywhere and any(host in hosts for hosts in beside):
            return dict(shared(self["settings"]))
        own = next(node for node in self._inventory.processes if node.name == self["node"]["host"])
        return paths(self["node"], own.log_dirs(), self["settings"])

    def _jvm_arguments(self) -> list[str]:
        node, settings = self["node"], self["settings"]
        release_dir, agent = self["release"]["dir"], self._metrics_argument()
        return jvm_arguments(node, settings, self["paths"], release_dir, bool(self["jaas"]), agent)

    def _metrics_argument(self) -> str:
        """The argument of Java that loads the Prometheus agent; empty without it. Its login is not asked for."""
        listener = self["node"]["metrics"]
        if not listener:
            return ""
        return metrics.argument(metrics.agent(self["settings"])["path"], listener, self["paths"]["metrics"])

    def _metrics(self) -> dict[str, Any]:
        """The Prometheus agent of the node: its jar, its configuration, and the part of it that needs a restart."""
        node, settings = self["node"], self["settings"]
        if not node["metrics"]:
            return {}
        store = {}
        if self["certificate"]:
            path = f"{self['paths']['config']}/metrics-{self['stores']['digest']}-keystore.p12"
            store = {"path": path, "password": self["stores"]["password"]}
        access = metrics.access(node["host"], settings, store)
        return {
            "agent": metrics.agent(settings),
            "access": access,
            "configuration": metrics.configuration(node["roles"], access),
        }

    def _stores(self) -> dict[str, str]:
        """The stores that Java's own TLS reads; here -- where the control node keeps them, without their endings."""
        found = stores(self["certificate"])
        here = f"{self['settings']['kafka_cache_dir']}/stores/{self._reader.host}-{found['digest']}"
        return {**found, "here": expanduser(here)}

    def _lock(self) -> dict[str, Any]:
        """The machines that may keep the lock of the cluster and its file on each, and after how many seconds it ends.

        A run takes it on the first of them that it reaches. It ends by itself when no restart can take longer.
        """
        settings, file = self["settings"], f"{self._cluster()}.lock"
        hosts = dict.fromkeys(node["host"] for node in (*self["nodes"], *self["members"]))
        limits = ("kafka_gate_timeout", "kafka_stop_timeout", "kafka_start_timeout", "kafka_sync_timeout")
        return {
            "machines": [
                {"host": host, "path": f"{self._reader.read(host)['kafka_config_dir']}/{file}"} for host in hosts
            ],
            "seconds": sum(settings[name] for name in limits) + settings["kafka_sync_timeout"] + _PROOF_SECONDS,
        }

    def _node_addresses(self) -> list[str]:
        """What the nodes connect from, as far as the control node can resolve it."""
        cluster = self._cluster()
        return node_addresses(self["places"], cluster, resolved(node_names(self["places"], cluster)))

    def _firewall_rules(self) -> list[dict[str, Any]]:
        """Who may connect to which port of the machine."""
        names = resolved(firewall.unresolved(self["places"]))
        return firewall.rules(self["places"], self._reader.host, names)

    def _places(self) -> list[dict[str, Any]]:
        inventory, groups = self._inventory, self._reader.groups
        known = {node.name: node for node in inventory.processes}
        wanted = [host for node in known.values() for host in node.let_in(groups)]
        peers = [
            build_node(host, variables=self._reader.read(host), undefined={}, controller=False, broker=False)
            for host in dict.fromkeys(wanted)
            if host not in known and self._reader.is_host(host)
        ]
        return firewall.places([*known.values(), *peers], groups)

    # Few tasks ask for the parts below, and a process that does not shall not compile what they need.

    def _manifest(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.manifest import ManifestParts

        return ManifestParts(self, self._reader.managed)

    def _seen(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.seen import Seen

        return Seen(self, self._results, self._restarted)

    def _firewall_trial(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.firewall_trial import FirewallTrial

        return FirewallTrial(self, self._results, self._reader.play_hosts)

    def _answers(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.answers import Answers

        return Answers(self, self._reader.read, self._results, self._access.administrator)

    def _ensemble(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.ensemble import Ensemble

        return Ensemble(self, self._results)

    def _voters(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.voters import Voters

        return Voters(self, self._results)

    def _reports(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.reports import Reports

        mirrors = self._reader.groups.get("mirror_makers", [])
        return Reports(self, self._results, self._restarted, self._everywhere, mirrors)

    def _mirroring(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.mirroring import Mirroring

        return Mirroring(self, self._reader.read, self._reader.groups, self._results)

    def _monitoring(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.monitoring import Monitoring

        return Monitoring(self._inventory, self._reader.read, self._reader.groups)

    def _client_bundle(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.client_bundle import ClientBundle

        return ClientBundle(self)

    def _canary(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.canary import Canary

        return Canary(self, self._reader.read, self._reader.groups, self._results)

    def _page(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.page import Page

        return Page(self, lambda: self._inventory, self._reader.read, self._reader.groups, self._reader.host)

    def _prometheus(self) -> Parts:
        from ansible_collections.streamops.kafka.plugins.plugin_utils.render.prometheus import Prometheus

        return Prometheus(self, self._reader.read, self._results)

    @property
    def _everywhere(self) -> list[str]:
        """The hosts of all clusters and mirrors, in whichever play of the run they had their tasks."""
        groups = self._reader.groups
        return sorted({host for group in GROUPS.values() for host in groups.get(group, ())})

    @property
    def _restarted(self) -> Sequence[str]:
        """The hosts that this run has restarted."""
        return self._reader.groups.get("_streamops_restarted", [])

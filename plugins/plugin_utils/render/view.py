# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The model as roles read it: plain data about the cluster of one host, each part made when it is first asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from os.path import expanduser
from typing import Any, Protocol

from ansible_collections.streamops.kafka.plugins.plugin_utils.addresses import resolved
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import (
    build_inventory,
    build_node,
    machine_of,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.mirror_nodes import mirror_reach, rest_url
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.mirror_release import MirrorVariables
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import (
    GROUP_FIX,
    GROUP_NAMES,
    GROUPS,
    MIRROR_GROUP,
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
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.properties import effective, written
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.provers import provers
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.zookeeper_nodes import expected_servers
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import firewall, kafka, metrics
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
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.process import jvm_arguments, process, service_name
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.proof import steady_seconds
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.release import release
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import (
    certificate_names,
    client_certificates,
    connection,
    scram_credential,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.static_quorum import (
    for_static,
    is_static,
    static_voters,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.zookeeper_security import (
    access_options,
    client_jaas,
    server_jaas,
)

#: What hosts of one machine have alike that share a piece of work: preparing it, installing a release, its firewall,
#: ending what runs their processes.
ALIKE = {
    "machine": (
        "kafka_service_manager",
        "kafka_user",
        "kafka_group",
        "kafka_install_dir",
        "kafka_config_dir",
        "kafka_data_dir",
        "kafka_log_dir",
        "kafka_run_dir",
        "kafka_java_home",
        "kafka_java_package",
    ),
    "release": (
        "kafka_install_dir",
        "kafka_install_source",
        "kafka_version",
        "kafka_archive_sha512",
        "zookeeper_version",
        "zookeeper_archive_sha512",
    ),
    "firewall": ("kafka_service_manager",),
    # Its configuration and its socket: two nodes with both alike have one supervisord.
    "supervisord": ("kafka_service_manager", "kafka_config_dir", "kafka_run_dir"),
}


#: What the proof of a node takes at most beside the limits that users set, and going back with it: its listeners, its
#: leaders, the time without a bad look, the quorum.
_PROOF_SECONDS = 900


class Reader(Protocol):
    """Who reads the variables of hosts: task.TaskReader, or a test."""

    host: str

    def read(self, host: str) -> Mapping[str, Any]:
        """The typed variables of a host."""

    def is_host(self, name: str) -> bool:
        """Whether the inventory has a host of this name."""

    def managed(self, template: str) -> str:
        """The line by which Ansible is known in a file that this template (a path) makes, unless a user sets it."""

    @property
    def groups(self) -> Mapping[str, list[str]]:
        """The groups of the inventory."""

    @property
    def play_hosts(self) -> Sequence[str]:
        """All hosts of the play."""


class MirrorReader:
    """Reads the variables of hosts, of which a mirror has a release of its own (inventory/mirror_release.py)."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self.host = reader, reader.host
        self.is_host, self.managed = reader.is_host, reader.managed

    def read(self, host: str) -> Mapping[str, Any]:
        """The typed variables of a host."""
        found = self._reader.read(host)
        members = {group for group in GROUPS.values() if host in self.groups.get(group, ())}
        return MirrorVariables(found) if members == {MIRROR_GROUP} else found

    @property
    def groups(self) -> Mapping[str, list[str]]:
        """The groups of the inventory."""
        return self._reader.groups

    @property
    def play_hosts(self) -> Sequence[str]:
        """All hosts of the play."""
        return self._reader.play_hosts


class View(Parts):
    """What docs/development/house.md lists; a part that cannot be made raises ValueError."""

    def __init__(self, reader: Reader) -> None:
        reader = self._reader = MirrorReader(reader)
        self._results = Results(reader.read, reader.host)
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
            "first": self._first,
            "provers": lambda: self._hosts(provers(self._inventory.nodes)),
            "services": self._services,
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
            "client_certificates": self._client_certificates,
            "keystore": lambda: keystore(self["certificate"]),
            "truststore": lambda: truststore(self["certificate"]),
            "stores": self._stores,
            "metrics": self._metrics,
            "admin_credentials": self._admin_credentials,
            "lock": self._lock,
            "connection": self._connection,
            "zookeeper_access": self._zookeeper_access,
            "endpoint": self._endpoint,
            "jaas": self._jaas,
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

    def _client_certificates(self) -> list[dict[str, Any]]:
        """What the development CA issues where clients show certificates: to the administrator and to them."""
        settings = self["settings"]
        shown = (one for one in self["node"]["listeners"] if one["purpose"] == "clients" and one["protocol"] == "SSL")
        if not any(shown):
            return []
        # The page shows one too, as the principal that has its rights.
        pages = [settings["kafka_page_user"]] if self["page"]["acl_owners"] else []
        return client_certificates(
            list(dict.fromkeys([*settings["kafka_tls_client_names"], *pages])),
            {
                "directory": f"{settings['kafka_tls_ca_dir']}/clients",
                "admin_user": settings["kafka_admin_user"],
                "admin_certificate_file": settings["kafka_admin_certificate_file"],
                "admin_key_file": settings["kafka_admin_key_file"],
            },
        )

    def _admin_credentials(self) -> list[str]:
        """The credentials of the administrator for every SCRAM mechanism, each with a salt of its own."""
        settings = self["settings"]
        user, password = settings["kafka_admin_user"], settings["kafka_admin_password"]
        mechanisms = [one for one in settings["kafka_sasl_mechanisms"] if one.startswith("SCRAM-")]
        return [scram_credential(mechanism, user, password, os.urandom(16)) for mechanism in mechanisms]

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

    def _connection(self) -> dict[str, Any]:
        """How the modules reach the cluster: the defaults of the action group streamops.kafka.cluster."""
        return connection(self["nodes"], {"bootstrap_servers": self["bootstrap_servers"], **self._administrator()})

    def _administrator(self) -> dict[str, Any]:
        """Who the administrator is, and what shows it; paths on the control node."""
        settings = self["settings"]
        return {
            "mechanisms": settings["kafka_sasl_mechanisms"],
            "admin_user": settings["kafka_admin_user"],
            "admin_password": settings["kafka_admin_password"],
            "ca_file": expanduser(settings["kafka_tls_ca_file"]),
            "admin_certificate_file": expanduser(settings["kafka_admin_certificate_file"]),
            "admin_key_file": expanduser(settings["kafka_admin_key_file"]),
        }

    def _zookeeper_access(self) -> dict[str, Any]:
        """How the modules reach the ensemble: the defaults of the action group streamops.kafka.zookeeper."""
        settings = self["settings"]
        return access_options(
            expected_servers(self["members"]),
            {
                "tls": settings["zookeeper_tls"],
                "sasl": bool(settings["zookeeper_password"]),
                "ca_file": expanduser(settings["kafka_tls_ca_file"]),
                "user": settings["zookeeper_user"],
                "password": settings["zookeeper_password"],
            },
        )

    def _endpoint(self) -> dict[str, Any]:
        """What mirrors have to know of this cluster, and the Spark jobs that compare it with another one."""
        settings = self["settings"]
        near, far = mirror_reach(self["nodes"]), mirror_reach(self["nodes"], settings["mirror_listener"])
        return {
            "cluster": settings["kafka_cluster_name"],
            "bootstrap_servers": self["bootstrap_servers"],
            "protocol": near["protocol"],
            "mirror_bootstrap_servers": far["bootstrap_servers"],
            "mirror_protocol": far["protocol"],
            "mechanism": settings["kafka_sasl_mechanisms"][0],
            "user": settings["mirror_user"],
            "password": settings["mirror_password"],
            "canary_user": settings["mirror_canary_user"],
            "canary_password": settings["mirror_canary_password"],
            "ca_file": expanduser(settings["kafka_tls_ca_file"]),
            "brokers": self["copies"]["brokers"],
            "has_authorizer": self._has_authorizer(),
            "connection": self["connection"],
            "job_properties": settings["spark_validation_client_properties"],
        }

    def _has_authorizer(self) -> bool:
        """Whether the brokers use ACLs; without an authorizer they refuse them. A native property wins over ours."""
        own = effective(written(["broker"], self["settings"].__getitem__)).get("authorizer.class.name")
        return bool(self["settings"]["kafka_authorizer"] if own is None else str(own.value or "").strip())

    def _jaas(self) -> str:
        """How a node logs in at ZooKeeper, or a server knows who may; empty where nobody logs in there."""
        settings, roles = self["settings"], self["node"]["roles"]
        if not settings["zookeeper_password"]:
            return ""
        if "zookeeper" in roles:
            return server_jaas(settings["zookeeper_user"], settings["zookeeper_password"])
        if settings["kafka_mode"] != ZOOKEEPER_MODE or "mirror" in roles:
            return ""
        return client_jaas(settings["zookeeper_user"], settings["zookeeper_password"])

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

    def _first(self) -> dict[str, bool]:
        """Whether the host is the first of the play that shares a piece of work on its machine."""
        return {work: self._is_first(alike) for work, alike in ALIKE.items()}

    def _is_first(self, alike: Iterable[str]) -> bool:
        return next(self._sharing(alike)) == self._reader.host

    def _sharing(self, alike: Iterable[str]) -> Iterator[str]:
        """The hosts of the play that share a piece of work on the machine, nodes first and by their ids."""

        def shared(host: str) -> list[Any]:
            """What hosts that share the work have alike."""
            variables = self._reader.read(host)
            return [machine_of(variables, host), *(variables[name] for name in alike)]

        own = shared(self._reader.host)
        places = {node.name: number for number, node in enumerate(self._inventory.processes)}
        hosts = sorted(self._reader.play_hosts, key=lambda host: (places.get(host, len(places)), host))
        return (host for host in hosts if shared(host) == own)

    def _services(self) -> list[str]:
        """The services of those hosts of the play that one supervisord runs with this one."""
        sharing = set(self._sharing(ALIKE["supervisord"]))
        return [service_name(node.plain()) for node in self._inventory.processes if node.name in sharing]

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

        return Answers(self, self._reader.read, self._results, self._administrator)

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

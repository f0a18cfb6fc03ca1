# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The one model of an inventory: rules, roles, firewall and reports read it (docs/development/house.md, "The model").

Accessors are forgiving: what has the wrong shape is left out (the rules of preflight name it), so that one mistake
never hides another. `plain` is not: a node that has no port where its variables name one is an error.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ansible.errors import AnsibleError

from ...module_utils._core.addresses import host_port, plain_host
from ...module_utils._core.values import UnclearValueError
from ...module_utils._migration.modes import KRAFT
from .mirror_nodes import PURPOSE as MIRROR_PURPOSE
from .mirror_nodes import ROLE as MIRROR
from .mirror_nodes import runs_legacy
from .nodes import PURPOSES, STAGE, ZOOKEEPER_MODE
from .properties import Property, copies_defaults, effective, written
from .variables import UNDEFINED, as_bool, as_int, dicts, entries, known
from .zookeeper_nodes import PORTS as ZOOKEEPER_PORTS
from .zookeeper_nodes import ROLE as ZOOKEEPER
from .zookeeper_nodes import data_dir

CONTROLLER_GROUP = "kraft_controllers"
BROKER_GROUP = "kafka_brokers"
ZOOKEEPER_GROUP = "zookeeper"
MIRROR_GROUP = "mirror_makers"
#: The groups of the inventory by the role of their hosts, Kafka's first. Their names are fixed: Ansible chooses the
#: hosts of a play before it knows any variable of a host or a group.
GROUPS = {
    "controller": CONTROLLER_GROUP,
    "broker": BROKER_GROUP,
    ZOOKEEPER: ZOOKEEPER_GROUP,
    MIRROR: MIRROR_GROUP,
}
#: The groups as messages name them, each with what its hosts run; a combined node is in the first two.
GROUP_NAMES = ", ".join(f"{group} ({role})" for role, group in GROUPS.items())
#: How an inventory with groups of its own gets these.
GROUP_FIX = "put the host, or a group that it is in, into one of them (kafka_brokers: {children: {my_brokers: {}}})"
#: The hosts that run the page. They are no nodes, so the group is none of GROUPS: a node may be in it too.
PAGE_GROUP = "kafka_page"
#: The hosts that run Prometheus and Alertmanager, in the same way.
PROMETHEUS_GROUP = "prometheus"
NO_CLUSTER = ""
REST_PORT = "mirror_maker_rest_port"
#: The port of the Prometheus agent in the process of a node, and what it is for.
METRICS_PORT = "kafka_metrics_port"
METRICS_PURPOSE = "metrics"
# The connections that end on the control node itself.
LOCAL = ("local", "ansible.builtin.local")
#: What the names of this collection's own variables begin with.
OWN_PREFIXES = ("kafka_", "kraft_controller_", "mirror_", "preflight_", "spark_validation_", "zookeeper_")
# What the example inventory holds where a user must decide.
PLACEHOLDER = "CHANGE-ME"

CONTROLLER_PURPOSE = "controllers"
BROKER_PURPOSES = tuple(purpose for purpose in PURPOSES if purpose != CONTROLLER_PURPOSE)


@dataclass(frozen=True)
class Listener:
    """One entry of kafka_listeners as it holds for one node, or a port of a ZooKeeper server or a mirror.

    port is None when it is not a number; host and advertised_host have no brackets (socket does). opens: whether this
    node opens it (controllers open the listeners for controllers, brokers those for clients and brokers); the others
    are still known to it, since it connects to them. checked_from: the places that ask whether it answers; None leaves
    them to render/answers.py. advertised_port: the port that others connect to, where it is not the one that the node
    opens (a container, a router); None where it is.
    """

    name: str
    port: int | None
    protocol: str
    host: str
    advertised_host: str
    purpose: str
    networks: tuple[str, ...] = ()
    opens: bool = True
    checked_from: tuple[str, ...] | None = None
    advertised_port: int | None = None

    @property
    def reached_port(self) -> int | None:
        """Return the port that others connect to."""
        return self.advertised_port or self.port

    @property
    def socket(self) -> str:
        """Return where others connect to, as host:port; an IPv6 address in brackets."""
        return host_port(self.advertised_host, self.reached_port)


@dataclass(frozen=True)
class Topic:
    """One entry of kafka_topics; numbers are None when missing or no numbers."""

    name: str
    partitions: int | None
    replication_factor: int | None
    config: Mapping[str, Any]
    wanted: bool


@dataclass(frozen=True)
class Node:
    """One inventory host of the groups of Kafka, ZooKeeper and MirrorMaker with its templated variables."""

    name: str
    cluster: str
    machine: str
    controller: bool
    broker: bool
    variables: Mapping[str, Any]
    undefined: Mapping[str, str] = field(default_factory=dict)
    # Values that are not what their variables hold; all others of booleans and numbers are converted.
    unclear: tuple[UnclearValueError, ...] = ()
    # What plugin_utils/inventory/certificates read of the files that the node brings; None when it brings none.
    certificate: Mapping[str, Any] | None = None
    # The same of the administrator's, where clients show certificates.
    admin_certificate: Mapping[str, Any] | None = None
    zookeeper: bool = False
    # Of the group of mirrors; its cluster is then the one that it mirrors into.
    mirror: bool = False

    def get(self, name: str, default: Any = None) -> Any:
        """The value of a variable; the default when it is missing, null or could not be templated."""
        value = self.variables.get(name)
        return default if value is None or value is UNDEFINED else value

    def text(self, name: str) -> str:
        """The value of a variable as text without surrounding space; empty when missing."""
        return str(self.get(name, "")).strip()

    def names(self, name: str) -> list[str]:
        """The value of a variable that is a list of names; none when it is missing or no list."""
        listed = self.get(name, [])
        return [str(one) for one in listed] if isinstance(listed, (list, tuple)) else []

    def client_hosts(self, groups: Mapping[str, Sequence[str]]) -> list[str]:
        """The hosts of the groups whose hosts connect to it as clients, each once and sorted."""
        named = (groups.get(group, ()) for group in self.names("kafka_firewall_client_groups"))
        return sorted({host for hosts in named for host in hosts})

    def metrics_hosts(self, groups: Mapping[str, Sequence[str]]) -> list[str]:
        """The hosts of the groups that read its metrics, each once and sorted; none where it has none."""
        named = (groups.get(group, ()) for group in self.names("kafka_metrics_client_groups"))
        return sorted({host for hosts in named for host in hosts}) if self.metrics() else []

    def let_in(self, groups: Mapping[str, Sequence[str]]) -> list[str]:
        """Hosts and addresses its firewall allows: clients, Prometheus, administrators; also hosts outside of it."""
        by_group = [*self.client_hosts(groups), *self.metrics_hosts(groups)]
        return list(dict.fromkeys([*by_group, *self.names("kafka_firewall_admin_addresses")]))

    def java_package(self, system: Mapping[str, str] | None) -> str:
        """Return the package that a run installs on its machine if that has no Java, "" where it brings none.

        system -- what node_info says of the system of the machine, None where that did not answer.
        """
        if self.text("kafka_service_manager") != "systemd" or self.text("kafka_java_home"):
            return ""
        package = self.text("kafka_java_package")
        return (system or {}).get("java_package", "") if package == "auto" else package

    def is_member(self) -> bool:
        """Return whether a server of ZooKeeper belongs to its ensemble, and is not about to come or go."""
        return self.name in (self.names("zookeeper_members") or (self.name,))

    @property
    def only_mirrors(self) -> bool:
        """Return whether the host runs MirrorMaker and nothing else."""
        return self.mirror and not (self.broker or self.controller or self.zookeeper)

    def written(self) -> list[Property]:
        """Every native property that the inventory writes for it, without the values that could not be templated."""
        return list(written(self.roles, lambda name: known(self.get(name))))

    def properties(self) -> dict[str, Property]:
        """By key the native properties that the inventory gives it: of several layers the last one wins."""
        return effective(self.written())

    def value(self, key: str) -> Any:
        """The value of one of these properties; None when the inventory does not set it."""
        found = self.properties().get(key)
        return None if found is None else found.value

    @property
    def id(self) -> int | None:
        """Its number in the cluster or the ensemble; None for a mirror, and for what is no number."""
        if self.only_mirrors:
            return None
        return as_int(self.get("zookeeper_id" if self.zookeeper else "kafka_node_id"))

    @property
    def place(self) -> tuple[int, str, bool, int, str]:
        """Return its place among all nodes, wherever its inventory has it: AWX orders hosts anew each time.

        Controllers come before other brokers, those before servers of ZooKeeper; each by cluster, id and name.
        """
        rank = (self.controller, self.broker, self.zookeeper, True).index(True)
        try:
            number = self.id
        except (UnclearValueError, AnsibleError):
            number = None  # whoever needs it says so; another cluster's must not matter
        return rank, self.cluster, number is None, number or 0, self.name

    @property
    def roles(self) -> tuple[str, ...]:
        """Return what it runs: broker, controller (Kafka's process.roles, in their order), zookeeper or mirror."""
        if self.only_mirrors:
            return ("mirror",)
        return tuple(role for role in ("broker", "controller", "zookeeper") if getattr(self, role))

    @property
    def address(self) -> str:
        """Return what others reach it by unless a listener says something else."""
        return plain_host(self.get("ansible_host") or self.name)

    def listeners(self) -> list[Listener]:
        """Those of all_listeners that this node opens."""
        return [listener for listener in self.all_listeners() if listener.opens]

    def all_listeners(self) -> list[Listener]:
        """The well-formed entries of kafka_listeners; of a server of ZooKeeper, and of a mirror, the ports it has."""
        if self.zookeeper:
            return [self._port(*port) for port in ZOOKEEPER_PORTS]
        if self.only_mirrors:
            return [] if runs_legacy(self.get("mirror_flows"), self.cluster) else [self._rest()]
        return [self._listener(entry) for entry in dicts(self.get("kafka_listeners")) if entry.get("name")]

    def metrics(self) -> Listener | None:
        """The port of its Prometheus agent, bound to its address unless kafka_metrics_host says another; None if off.

        It is none of its listeners: the agent opens it, before Kafka begins, and Kafka knows nothing of it.
        """
        if not as_bool(self.get("kafka_metrics_enabled", False)):
            return None
        protocol = "SSL" if self.text("kafka_tls_source") else "PLAINTEXT"
        host = plain_host(self.text("kafka_metrics_host")) or self.address
        return Listener("METRICS", as_int(self.get(METRICS_PORT)), protocol, host, self.address, METRICS_PURPOSE)

    def ports(self) -> list[Listener]:
        """All that its process opens: its listeners, and the port of its metrics."""
        own = self.metrics()
        return [*self.listeners(), *([own] if own else [])]

    def _port(self, name: str, purpose: str, variable: str, default: int) -> Listener:
        protocol = "SSL" if as_bool(self.get("zookeeper_tls")) else "PLAINTEXT"
        port = as_int(self.get(variable, default))
        return Listener(name, port, protocol, plain_host(self.text("zookeeper_host")), self.address, purpose)

    def _rest(self) -> Listener:
        """Return what mirrors of one target tell each other by (inventory/mirror_nodes.py)."""
        protocol = "SSL" if self.text("kafka_tls_source") else "PLAINTEXT"
        return Listener("REST", as_int(self.get(REST_PORT)), protocol, self.address, self.address, MIRROR_PURPOSE)

    def _listener(self, entry: Mapping[str, Any]) -> Listener:
        purpose = str(entry.get("purpose", "clients"))
        networks, places = entry.get("networks"), entry.get("checked_from")
        return Listener(
            name=str(entry["name"]),
            port=as_int(entry.get("port")),
            protocol=str(entry.get("protocol", "PLAINTEXT")),
            host=plain_host(entry.get("host") or ""),
            advertised_host=plain_host(entry.get("advertised_host") or self.address),
            purpose=purpose,
            networks=tuple(map(str, networks)) if isinstance(networks, (list, tuple)) else (),
            opens=self.controller if purpose == CONTROLLER_PURPOSE else self.broker,
            checked_from=tuple(map(str, places)) if isinstance(places, (list, tuple)) else None,
            advertised_port=as_int(entry.get("advertised_port")),
        )

    def identity(self) -> dict[str, Any]:
        """Return who the node is, for which no listener is read: host, node_id, roles."""
        return {"host": self.name, "node_id": self.id, "roles": list(self.roles)}

    def plain(self) -> dict[str, Any]:
        """The node as roles read it: its identity, rack, machine, and all its listeners.

        Raises ValueError for a listener whose port is no number.
        """
        return {
            **self.identity(),
            "rack": self.get("kafka_rack") or None,
            "machine": self.machine,
            "listeners": [self._plain(listener) for listener in self.all_listeners()],
        }

    def with_metrics(self) -> dict[str, Any]:
        """The node as roles read it, with the port of its metrics, of which others need to know nothing."""
        metrics = self.metrics()
        return {**self.plain(), "metrics": self._plain(metrics) if metrics else None}

    def _plain(self, listener: Listener) -> dict[str, Any]:
        if listener.port is None:
            raise ValueError(f"{self.name}: listener {listener.name} has no port")
        return _plain(listener)

    def log_dirs(self) -> list[str]:
        """Its data directories: kafka_log_dirs, else one below kafka_data_dir; of ZooKeeper two, of a mirror none."""
        if self.zookeeper:
            named = (
                data_dir(self.name, self.text("zookeeper_data_dir"), self.text("kafka_data_dir")),
                self.text("zookeeper_data_log_dir"),
            )
            # Both may be one directory.
            return list(dict.fromkeys(path for path in named if path))
        if self.only_mirrors:
            return []
        listed = self.get("kafka_log_dirs")
        if isinstance(listed, str) and listed.strip():
            return [part.strip() for part in listed.split(",")]
        if isinstance(listed, (list, tuple)) and listed:
            return [str(part) for part in listed]
        parent = self.text("kafka_data_dir")
        return [f"{parent}/{self.name}"] if parent else []


def in_order(nodes: Iterable[Node]) -> list[Node]:
    """The nodes in the order of their places, the one that all lists and all choices of one among several go by."""
    return sorted(nodes, key=lambda node: node.place)


@dataclass(frozen=True)
class Cluster:
    """The nodes that carry one kafka_cluster_name, in the order of their places (never empty)."""

    name: str
    nodes: tuple[Node, ...]

    @property
    def controllers(self) -> tuple[Node, ...]:
        """The nodes that are controllers."""
        return tuple(node for node in self.nodes if node.controller)

    @property
    def brokers(self) -> tuple[Node, ...]:
        """The nodes that are brokers."""
        return tuple(node for node in self.nodes if node.broker)

    @property
    def broker_count(self) -> int:
        """Count the brokers of the inventory and the nodes that it may lack (kafka_accept_missing_nodes)."""
        accepted = {as_int(one) for one in entries(self.nodes[0].get("kafka_accept_missing_nodes"))}
        return len(self.brokers) + len(accepted - {None, *(node.id for node in self.nodes)})

    @property
    def zookeepers(self) -> tuple[Node, ...]:
        """The servers that are members of its ensemble: all, but for those that come or go just now."""
        return tuple(node for node in self.nodes if node.zookeeper and node.is_member())

    @property
    def hosts(self) -> tuple[str, ...]:
        """The inventory names of all nodes."""
        return tuple(node.name for node in self.nodes)

    def super_users(self, node: Node) -> set[str]:
        """Return who may do everything by the variables of a node: nodes, administrator and kafka_super_users."""
        return {*self.hosts, node.text("kafka_admin_user"), *node.names("kafka_super_users")}

    @property
    def production(self) -> bool:
        """True unless every node says development: the strict reading wins while they disagree."""
        return any(node.get("kafka_profile", "production") != "development" for node in self.nodes)

    @property
    def version(self) -> str:
        """The Kafka version of the cluster."""
        return self.nodes[0].text("kafka_version")

    def properties(self, broker: Node, copies: Mapping[str, Any] | None = None) -> dict[str, Property]:
        """By key the native properties of one of its brokers, with our defaults about copies below the inventory's.

        copies -- these defaults, where more is known of the cluster than its inventory.
        """
        kraft = broker.get("kafka_mode") != ZOOKEEPER_MODE or broker.text(STAGE) == KRAFT
        defaults = copies_defaults(self.broker_count, kraft) if copies is None else copies
        return effective([*(Property(key, value) for key, value in defaults.items()), *broker.written()])

    def all_topics(self) -> list[Topic]:
        """The well-formed entries of kafka_topics; the first node that has the list speaks for the cluster."""
        lists = [node.get("kafka_topics") for node in self.nodes]
        entries = next((dicts(listed) for listed in lists if listed), [])
        return [_topic(entry) for entry in entries if entry.get("name")]

    def topics(self) -> list[Topic]:
        """The topics that shall exist."""
        return [topic for topic in self.all_topics() if topic.wanted]

    def accepted(self) -> list[str]:
        """The rows whose policy the inventory overrides by name (preflight_accept)."""
        return self.nodes[0].names("preflight_accept")


@dataclass(frozen=True)
class Inventory:
    """All nodes of all clusters, and how this run was started.

    limit is the text of --limit or None; play_hosts are the hosts the play would work on; known_variables are the names
    the collection reads (to tell a typing error); undefined entries live in the nodes. peers are the other hosts that
    firewalls let in, addresses what the control node resolved for the firewalls (name to addresses). mirrors are the
    hosts that run MirrorMaker and nothing else; they belong to no Cluster, since what makes a cluster (quorum, ids,
    copies) is not about them. pages are the hosts that run the page, and monitors those that run Prometheus; both may
    be nodes too. unkept are the nodes whose development CA would be made where it is lost with the control node, each
    with the directory and the reason. unread_cas are the CA files of external clusters that cannot be used, as mirrors
    name them, each with what was found.
    """

    nodes: tuple[Node, ...]
    limit: str | None = None
    play_hosts: tuple[str, ...] = ()
    known_variables: tuple[str, ...] = ()
    peers: tuple[Node, ...] = ()
    addresses: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mirrors: tuple[Node, ...] = ()
    pages: tuple[Node, ...] = ()
    monitors: tuple[Node, ...] = ()
    unkept: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    unread_cas: Mapping[str, str] = field(default_factory=dict)

    @property
    def processes(self) -> tuple[Node, ...]:
        """All hosts that this collection runs something on: the nodes, and the mirrors."""
        return (*self.nodes, *self.mirrors)

    @property
    def kafka(self) -> tuple[Node, ...]:
        """The nodes of Kafka, without the servers of ZooKeeper."""
        return tuple(node for node in self.nodes if not node.zookeeper)

    def clusters(self) -> list[Cluster]:
        """The clusters, sorted by name; nodes without a name are in none."""
        names = sorted({node.cluster for node in self.nodes if node.cluster != NO_CLUSTER})
        return [Cluster(name, tuple(node for node in self.nodes if node.cluster == name)) for name in names]


def _plain(listener: Listener) -> dict[str, Any]:
    lists = {"networks": list(listener.networks)}
    if listener.checked_from is not None:
        lists["checked_from"] = list(listener.checked_from)
    return {**asdict(listener), **lists, "advertised_port": listener.reached_port, "socket": listener.socket}


def _topic(entry: Mapping[str, Any]) -> Topic:
    return Topic(
        name=str(entry["name"]),
        partitions=as_int(entry.get("partitions")),
        replication_factor=as_int(entry.get("replication_factor")),
        config=known(entry.get("config")),
        wanted=entry.get("state", "present") == "present",
    )

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows from the nodes of one cluster: their order, bootstrap lists, quorum lists, listener properties.

One inventory host is one node. Nodes are plain here, as Node.plain of the model makes them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleError

from ...module_utils._core.addresses import host_port, is_address
from ...module_utils._migration.modes import BROKER, KRAFT, LEFT_ALONE, MIGRATING, ZOOKEEPER
from .directory_id import directory_id
from .variables import as_int

PURPOSES = ("clients", "brokers", "controllers")
#: The kafka_mode of brokers on an ensemble of ZooKeeper.
ZOOKEEPER_MODE = "zookeeper"
#: The variable that holds the stage of a host while its cluster migrates to KRaft (plugin_utils/migration/stage.py).
STAGE = "_kafka_stage"
#: Where a node of KRaft finds the quorum: of a dynamic one, and of a static one.
BOOTSTRAP, VOTERS = "controller.quorum.bootstrap.servers", "controller.quorum.voters"


def stage_of(settings: Mapping[str, Any]) -> str:
    """Return the stage of the host of these variables: ZOOKEEPER or KRAFT by its kafka_mode where none migrates."""
    if settings["kafka_mode"] != ZOOKEEPER_MODE:
        return KRAFT
    return str(settings.get(STAGE) or ZOOKEEPER)


def disk_mode(roles: Iterable[str], settings: Mapping[str, Any]) -> str:
    """Return whose data may be on the disks of a node: its kafka_mode, or its stage where its cluster migrates.

    Beside brokers of ZooKeeper a controller without a stage is left alone. settings -- the variables of its host.
    """
    if settings["kafka_mode"] != ZOOKEEPER_MODE:
        return str(settings["kafka_mode"])
    return str(settings.get(STAGE) or "") or (ZOOKEEPER if BROKER in roles else LEFT_ALONE)


def formats_itself(roles: Iterable[str], mode: str) -> bool:
    """Tell whether a node formats its directories when it starts: a broker of ZooKeeper, with the migration flag too.

    mode -- as disk_mode returns it
    """
    return BROKER in roles and mode in (ZOOKEEPER, MIGRATING)


def listener_for(node: Mapping[str, Any], purpose: str) -> Mapping[str, Any]:
    """The listener of a node that serves a purpose; brokers without one of their own talk over the clients' one."""
    for wanted in (purpose, "clients") if purpose == "brokers" else (purpose,):
        for listener in node["listeners"]:
            if listener["purpose"] == wanted:
                return dict(listener)
    raise ValueError(
        f"{node['host']} has no listener for {purpose}: kafka_listeners needs one with purpose {purpose!r}"
    )


def endpoints(nodes: Iterable[Mapping[str, Any]], purpose: str) -> list[str]:
    """The advertised host:port of every node that opens a listener for this purpose."""
    found = []
    for node in nodes:
        role = "controller" if purpose == "controllers" else "broker"
        if role in node["roles"]:
            found.append(listener_for(node, purpose)["socket"])
    return found


def peer_names(nodes: Iterable[Mapping[str, Any]], host: str) -> list[str]:
    """The names, no addresses, by which a node reaches others on other machines.

    Every node reaches all controllers and all servers of ZooKeeper, a broker all brokers too.

    What is advertised to clients is left out: it may be a name that only they know.
    """
    listed = list(nodes)
    own = next(node for node in listed if node["host"] == host)
    found: dict[str, None] = {}
    for node in listed:
        if node["machine"] == own["machine"]:
            continue
        if "controller" in node["roles"]:
            found[listener_for(node, "controllers")["advertised_host"]] = None
        if "zookeeper" in node["roles"]:
            found[node["listeners"][0]["advertised_host"]] = None
        if "broker" in node["roles"] and "broker" in own["roles"]:
            found[listener_for(node, "brokers")["advertised_host"]] = None
    return [name for name in found if not is_address(name)]


def listener_properties(node: Mapping[str, Any], controllers: Sequence[str]) -> dict[str, Any]:
    """The native listener properties of one node.

    controllers -- host:port of every controller, the bootstrap list of the dynamic quorum (KIP-853); without any the
    cluster is one of ZooKeeper mode, whose brokers know of no controllers' listener.
    Kafka wants a broker to know the controllers' listener by name even though it does not open it (KIP-631), and
    forbids an isolated controller to name an inter-broker listener that it does not open.
    """
    opened = [listener for listener in node["listeners"] if listener["opens"]]
    known = node["listeners"] if controllers else opened
    properties: dict[str, Any] = {
        "listeners": [f"{one['name']}://{host_port(one['host'], one['port'])}" for one in opened],
        "advertised.listeners": [f"{one['name']}://{one['socket']}" for one in opened],
        "listener.security.protocol.map": [f"{one['name']}:{one['protocol']}" for one in known],
    }
    if controllers:
        properties["controller.listener.names"] = listener_for(node, "controllers")["name"]
        properties[BOOTSTRAP] = list(controllers)
    if "broker" in node["roles"]:
        properties["inter.broker.listener.name"] = listener_for(node, "brokers")["name"]
    return properties


def initial_controllers(nodes: Iterable[Mapping[str, Any]], cluster_id: str) -> str:
    """The argument of `kafka-storage format --initial-controllers`: id@host:port:directory-id, by node id (KIP-853)."""
    voters = sorted((node for node in nodes if "controller" in node["roles"]), key=lambda node: node["node_id"])
    parts = []
    for node in voters:
        address = listener_for(node, "controllers")["socket"]
        parts.append(f"{node['node_id']}@{address}:{directory_id(cluster_id, node['node_id'])}")
    return ",".join(parts)


def awaited_ports(node: Mapping[str, Any], servers: int) -> list[int]:
    """The ports that a node opens when it has started.

    servers -- members of its ensemble: only the leader listens for followers, and one alone (standaloneEnabled) holds
    no election either.
    """
    closed = {"zookeeper_quorum", "zookeeper_election"} if servers == 1 else {"zookeeper_quorum"}
    return [one["port"] for one in node["listeners"] if one["opens"] and one["purpose"] not in closed]


def voter_listeners(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return where other controllers reach a controller: name, host and port, as quorum_voter takes them."""
    listener = listener_for(node, "controllers")
    return [{"name": listener["name"], "host": listener["advertised_host"], "port": listener["advertised_port"]}]


def by_node_id(
    hosts: Iterable[str], hostvars: Mapping[str, Mapping[str, Any]], variable: str = "kafka_node_id"
) -> list[str]:
    """Sort hosts of one group as Node.place sorts them, wherever the inventory has them; C(variable) has their ids.

    A play knows less of a host than its tasks do, variables of the play for example. What it cannot read is unknown: a
    run that has configured nodes must not end before it restarts them.
    """

    def read(host: str, name: str) -> Any:
        try:
            return hostvars.get(host, {}).get(name)
        except AnsibleError:
            return None

    def place(host: str) -> tuple[str, bool, int, str]:
        """Return where a host comes; one without an id by its name behind those that have one."""
        number = as_int(read(host, variable))
        return str(read(host, "kafka_cluster_name") or ""), number is None, number or 0, host

    return sorted(hosts, key=place)

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the inventory says about the nodes of one cluster, as plain data.

One inventory host is one node. Everything that needs to know the other nodes (bootstrap lists, quorum lists,
machines shared by several nodes) starts from the list that `cluster_nodes` returns.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import to_integer
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.directory_id import directory_id

PURPOSES = ("clients", "brokers", "controllers")
#: The kafka_mode of brokers on an ensemble of ZooKeeper.
ZOOKEEPER_MODE = "zookeeper"


def machine_of(variables: Mapping[str, Any], host: str) -> str:
    """The machine that a host runs on: hosts with the same connection target share one."""
    if variables.get("ansible_connection") in ("local", "ansible.builtin.local"):
        return "localhost"
    return str(variables.get("ansible_host") or host)


def node_id_of(variables: Mapping[str, Any], name: str) -> int | None:
    """The id that a variable of a host holds, as a number: ids are compared with what clusters answer."""
    return None if variables.get(name) is None else to_integer(variables[name], name)


def cluster_nodes(
    hostvars: Mapping[str, Mapping[str, Any]],
    brokers: Sequence[str],
    controllers: Sequence[str],
    cluster: str,
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The nodes of one cluster, controllers first, each once, in inventory order.

    defaults -- values for variables that a host leaves out (role defaults of other hosts cannot be seen):
    kafka_cluster_name and kafka_listeners.

    A node is {host, node_id, roles, rack, machine, listeners}; roles are Kafka's process.roles in their own order.
    """
    nodes = []
    for host in dict.fromkeys([*controllers, *brokers]):
        variables = hostvars[host]
        if variables.get("kafka_cluster_name", defaults["kafka_cluster_name"]) != cluster:
            continue
        roles = [role for role, group in (("broker", brokers), ("controller", controllers)) if host in group]
        nodes.append(
            {
                "host": host,
                "node_id": node_id_of(variables, "kafka_node_id"),
                "roles": roles,
                "rack": variables.get("kafka_rack") or None,
                "machine": machine_of(variables, host),
                "listeners": node_listeners(
                    variables.get("kafka_listeners", defaults["kafka_listeners"]),
                    roles,
                    str(variables.get("ansible_host") or host),
                ),
            }
        )
    return nodes


def node_listeners(listeners: Iterable[Mapping[str, Any]], roles: Sequence[str], address: str) -> list[dict[str, Any]]:
    """The listeners of a cluster as one node sees them.

    Each gets `opens`: whether this node opens it (controllers open the listeners for controllers, brokers those for
    clients and brokers); the others are still named in the protocol map, since a node also connects to them.
    """
    seen = []
    for listener in listeners:
        for_controllers = listener["purpose"] == "controllers"
        seen.append(
            {
                "name": listener["name"],
                "port": to_integer(listener["port"], "kafka_listeners.port"),
                "protocol": listener.get("protocol", "PLAINTEXT"),
                "host": listener.get("host", ""),
                "advertised_host": listener.get("advertised_host") or address,
                "purpose": listener["purpose"],
                "networks": [str(network) for network in listener.get("networks") or []],
                "opens": ("controller" if for_controllers else "broker") in roles,
            }
        )
    return seen


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
            listener = listener_for(node, purpose)
            found.append(f"{listener['advertised_host']}:{listener['port']}")
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
    return [name for name in found if not _is_address(name)]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


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
        "listeners": [f"{one['name']}://{one['host']}:{one['port']}" for one in opened],
        "advertised.listeners": [f"{one['name']}://{one['advertised_host']}:{one['port']}" for one in opened],
        "listener.security.protocol.map": [f"{one['name']}:{one['protocol']}" for one in known],
    }
    if controllers:
        properties["controller.listener.names"] = listener_for(node, "controllers")["name"]
        properties["controller.quorum.bootstrap.servers"] = list(controllers)
    if "broker" in node["roles"]:
        properties["inter.broker.listener.name"] = listener_for(node, "brokers")["name"]
    return properties


def initial_controllers(nodes: Iterable[Mapping[str, Any]], cluster_id: str) -> str:
    """The argument of `kafka-storage format --initial-controllers`: id@host:port:directory-id, by node id (KIP-853)."""
    voters = sorted((node for node in nodes if "controller" in node["roles"]), key=lambda node: node["node_id"])
    parts = []
    for node in voters:
        listener = listener_for(node, "controllers")
        address = f"{listener['advertised_host']}:{listener['port']}"
        parts.append(f"{node['node_id']}@{address}:{directory_id(cluster_id, node['node_id'])}")
    return ",".join(parts)


def voter_listeners(node: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Where other controllers reach a controller: name, host and port, as quorum_voter takes them."""
    listener = listener_for(node, "controllers")
    return [{"name": listener["name"], "host": listener["advertised_host"], "port": listener["port"]}]


def with_disks(
    nodes: Iterable[Mapping[str, Any]], hostvars: Mapping[str, Mapping[str, Any]], mode: str = ""
) -> list[dict[str, Any]]:
    """The nodes together with what node_info saw on each; a host that did not answer has disks None (not known).

    mode -- the cluster's kafka_mode, which says whose data may be on the disks.
    """
    seen = []
    for node in nodes:
        info = hostvars[node["host"]].get("__common_node_info") or {}
        running = bool((info.get("process") or {}).get("running"))
        traces = list(info.get("traces") or [])
        seen.append({**node, "disks": info.get("disks"), "running": running, "mode": mode, "traces": traces})
    return seen


def live_properties(
    nodes: Iterable[Mapping[str, Any]], hostvars: Mapping[str, Mapping[str, Any]], restarted: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """By node id the overrides of properties that brokers take live, null for none, as node_info told them apart.

    A node that was restarted since node_info looked has all wanted values in its file and needs no override.
    """
    wanted = {}
    for node in nodes:
        live = (hostvars[node["host"]].get("__common_node_info") or {}).get("live_properties") or {}
        fresh = node["host"] in restarted
        wanted[str(node["node_id"])] = {key: None if fresh else value for key, value in live.items()}
    return wanted


def node_lines(nodes: Iterable[Mapping[str, Any]], registered: Iterable[Mapping[str, Any]]) -> list[str]:
    """A few words about each node for people; `registered` are the brokers as cluster_info lists them."""
    fenced = {broker["id"]: broker["fenced"] for broker in registered}
    lines = []
    for node in nodes:
        state = ""
        if "broker" in node["roles"]:
            state = {True: ", fenced", False: "", None: ", not registered"}[fenced.get(node["node_id"])]
        lines.append(f"{node['host']} (id {node['node_id']}, {' and '.join(node['roles'])}{state})")
    return lines


def machine_hosts(
    hostvars: Mapping[str, Mapping[str, Any]], play_hosts: Sequence[str], host: str, alike: Sequence[str]
) -> list[str]:
    """The hosts of the play on the machine of `host` that give the variables `alike` the same values, in its order.

    The first of them does what all need once: it is the same host whichever of them asks.
    """

    def place(one: str) -> list[Any]:
        """What hosts must have alike to share the work."""
        return [machine_of(hostvars[one], one), *(hostvars[one].get(name) for name in alike)]

    return [other for other in play_hosts if place(other) == place(host)]

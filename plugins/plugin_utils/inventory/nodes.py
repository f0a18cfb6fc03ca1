# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows from the nodes of one cluster: bootstrap lists, quorum lists, listener properties.

One inventory host is one node. Nodes are plain here, as Node.plain of the model makes them.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.directory_id import directory_id

PURPOSES = ("clients", "brokers", "controllers")
#: The kafka_mode of brokers on an ensemble of ZooKeeper.
ZOOKEEPER_MODE = "zookeeper"


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

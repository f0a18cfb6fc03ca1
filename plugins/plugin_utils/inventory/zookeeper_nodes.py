# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows from the servers of a ZooKeeper ensemble: membership, addresses, and the steps between memberships.

A server is a node like every other (see model.py), with the role zookeeper and three ports that appear as listeners:
for clients (the brokers), for the quorum (who follows connects to who leads), and for the election.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...module_utils._zookeeper.ensemble import SERVING

ROLE = "zookeeper"
# Name and purpose of each port, with the variable that moves it and ZooKeeper's own number.
PORTS = (
    ("CLIENT", "zookeeper_clients", "zookeeper_client_port", 2181),
    ("QUORUM", "zookeeper_quorum", "zookeeper_quorum_port", 2888),
    ("ELECTION", "zookeeper_election", "zookeeper_election_port", 3888),
)


def _port(node: Mapping[str, Any], name: str) -> int:
    return next(int(port["port"]) for port in node["listeners"] if port["name"] == name)


def _socket(node: Mapping[str, Any], name: str) -> str:
    return next(str(port["socket"]) for port in node["listeners"] if port["name"] == name)


def data_dir(host: str, given: str, parent: str) -> str:
    """Return where a server keeps snapshots and myid.

    given -- its zookeeper_data_dir; where that is empty the directory has the name of the host, in parent
    """
    return given or f"{parent}/{host}"


def server_properties(nodes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """The membership as ZooKeeper's native properties: server.N=host:quorum port:election port (zoo.cfg)."""
    return {f"server.{node['node_id']}": f"{_socket(node, 'QUORUM')}:{_port(node, 'ELECTION')}" for node in nodes}


def client_addresses(nodes: Iterable[Mapping[str, Any]]) -> list[str]:
    """host:port of every server for its clients."""
    return [_socket(node, "CLIENT") for node in nodes]


def connect_string(nodes: Iterable[Mapping[str, Any]], chroot: str = "") -> str:
    """The value of zookeeper.connect: all servers, and once behind the last the path that the cluster keeps to."""
    path = chroot.strip().rstrip("/")
    return ",".join(client_addresses(nodes)) + (path if not path or path.startswith("/") else f"/{path}")


def expected_servers(nodes: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The servers as the modules zookeeper_info and zookeeper_wait take them: id, host and port for clients."""
    return [
        {"id": node["node_id"], "host": node["listeners"][0]["advertised_host"], "port": _port(node, "CLIENT")}
        for node in nodes
    ]


def membership_changes(reasons: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The restart reasons by which a member would come or go; a member that only moves is none of them."""
    return [
        one for one in reasons
        if str(one["name"]).startswith("server.") and (one["from"] is None or one["to"] is None)
    ]  # fmt: skip


def member_steps(running: Sequence[Mapping[str, Any]], target: Iterable[int]) -> list[list[int]]:
    """The memberships, as ids, that lead from the one that runs to the target, the first being the one that runs.

    running -- the servers as zookeeper_info returns them. Each step adds or removes one server, adding first, so that
    every two majorities that follow each other share a server. A run that was cut in the middle of a step left servers
    with the memberships before and after it: then the one farther from the target is where this run begins.
    Raises ValueError when the servers that serve do not agree otherwise.
    """
    goal = set(target)
    serving = [server for server in running if server["state"] in SERVING]
    memberships = {tuple(sorted(server["members"])) for server in serving if server["members"]}
    if not memberships:
        raise ValueError("no ensemble member is running; start one with site.yml")
    ordered = sorted(memberships, key=lambda ids: (-len(goal.symmetric_difference(ids)), ids))
    if len(ordered) > 2 or (len(ordered) == 2 and len(set(ordered[0]).symmetric_difference(ordered[1])) != 1):
        shown = "; ".join(", ".join(map(str, ids)) for ids in ordered)
        raise ValueError(
            f"the servers run with memberships that are no single step apart ({shown}): restore one of them"
        )
    current = set(ordered[0])
    steps = [sorted(current)]
    for comer in sorted(goal - current):
        current = current | {comer}
        steps.append(sorted(current))
    for goer in sorted(current - goal, reverse=True):
        current = current - {goer}
        steps.append(sorted(current))
    return steps


def own_steps(steps: Sequence[Sequence[int]], server: int) -> list[int]:
    """The numbers of the steps in which a server is a member."""
    return [number for number, members in enumerate(steps) if server in members]

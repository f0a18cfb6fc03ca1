# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Make the model of an inventory (model.py) from the variables of its hosts and from its groups."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...module_utils._core.addresses import plain_host
from ...module_utils._core.values import UnclearValueError
from .mirror_nodes import ROLE as MIRROR
from .mirror_release import MirrorVariables
from .model import GROUPS, LOCAL, NO_CLUSTER, Inventory, Node, in_order
from .variables import UNDEFINED


def machine_of(variables: Mapping[str, Any], host: str) -> str:
    """The machine that a host runs on: hosts with the same connection target share one."""
    if variables.get("ansible_connection") in LOCAL:
        return "localhost"
    address = variables.get("ansible_host")
    return host if address is UNDEFINED else plain_host(address or host)


def build_node(
    name: str,
    *,
    controller: bool,
    broker: bool,
    variables: Mapping[str, Any],
    undefined: Mapping[str, str],
    unclear: tuple[UnclearValueError, ...] = (),
    certificate: Mapping[str, Any] | None = None,
    admin_certificate: Mapping[str, Any] | None = None,
    zookeeper: bool = False,
    mirror: bool = False,
) -> Node:
    """A Node from a host's name, its groups, its templated variables and the paths that could not be templated."""
    cluster = variables.get("kafka_cluster_name")
    if mirror and not (controller or broker or zookeeper):
        variables = MirrorVariables(variables)
    return Node(
        name=name,
        cluster=NO_CLUSTER if cluster is UNDEFINED else str(cluster or NO_CLUSTER).strip(),
        machine=machine_of(variables, name),
        controller=controller,
        broker=broker,
        variables=variables,
        undefined=undefined,
        unclear=unclear,
        certificate=certificate,
        admin_certificate=admin_certificate,
        zookeeper=zookeeper,
        mirror=mirror,
    )


def build_inventory(read: Callable[[str], Mapping[str, Any]], groups: Mapping[str, Sequence[str]]) -> Inventory:
    """All clusters of an inventory, from its groups (GROUPS).

    read -- the typed variables of a host. Controllers come first and servers of ZooKeeper last, each host once and by
    its id, wherever the inventory has it; a host of another group is no mirror.
    """
    members = {role: groups.get(group, ()) for role, group in GROUPS.items()}
    hosts = dict.fromkeys(host for role in members if role != MIRROR for host in members[role])
    nodes = [
        build_node(
            host,
            variables=read(host),
            undefined={},
            controller=host in members["controller"],
            broker=host in members["broker"],
            zookeeper=host in members["zookeeper"],
            mirror=host in members["mirror"],
        )
        for host in hosts
    ]
    mirrors = [
        build_node(host, variables=read(host), undefined={}, controller=False, broker=False, mirror=True)
        for host in members["mirror"]
        if host not in hosts
    ]
    return Inventory(nodes=tuple(in_order(nodes)), mirrors=tuple(in_order(mirrors)))

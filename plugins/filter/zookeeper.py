# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about the servers of an ensemble (plugin_utils/inventory/zookeeper_nodes.py)."""

from __future__ import annotations

DOCUMENTATION = r"""
name: zookeeper
short_description: "PRIVATE: ensembles of ZooKeeper"
description:
  - The roles of this collection call the filters of this file; their names and what they take may change with any
    release.
options:
  _input:
    description: See the functions of this file.
    type: raw
    required: true
author: The streamops engineers (@streamops)
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.once import once


def zookeeper_nodes(
    hostvars: Mapping[str, Any],
    groups: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The servers of the cluster `names.cluster`; `names.zookeeper` is their group."""
    from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory import zookeeper_nodes as servers

    cluster, hosts = str(names["cluster"]), tuple(groups.get(names["zookeeper"], []))
    return once(
        ("zookeeper_nodes", cluster, hosts),
        lambda: servers.zookeeper_nodes(hostvars, hosts, cluster, defaults),
    )


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "zookeeper_access": explained("render.zookeeper_security.access_options"),
            "zookeeper_broker_security": explained("render.zookeeper_security.broker_properties"),
            "zookeeper_client_jaas": explained("render.zookeeper_security.client_jaas"),
            "zookeeper_comers_and_goers": explained("inventory.zookeeper_nodes.comers_and_goers"),
            "zookeeper_connect": explained("inventory.zookeeper_nodes.connect_string"),
            "zookeeper_member_steps": explained("inventory.zookeeper_nodes.member_steps"),
            "zookeeper_nodes": explained(zookeeper_nodes),
            "zookeeper_own_steps": explained("inventory.zookeeper_nodes.own_steps"),
            "zookeeper_server_list": explained("inventory.zookeeper_nodes.expected_servers"),
            "zookeeper_server_jaas": explained("render.zookeeper_security.server_jaas"),
            "zookeeper_server_security": explained("render.zookeeper_security.server_properties"),
            "zookeeper_servers": explained("inventory.zookeeper_nodes.server_properties"),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about the nodes of a cluster and its mirrors.

What they answer is in plugin_utils/inventory/nodes.py, guards/replace.py and mirrors/.
"""

from __future__ import annotations

DOCUMENTATION = r"""
name: nodes
short_description: "PRIVATE: the nodes of a cluster and its mirrors"
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


def cluster_nodes(
    hostvars: Mapping[str, Any],
    groups: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The nodes of the cluster `names.cluster`; `names` also gives the two groups: brokers, controllers."""
    from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory import nodes

    cluster = str(names["cluster"])
    brokers, controllers = (tuple(groups.get(names[group], [])) for group in ("brokers", "controllers"))
    return once(
        ("cluster_nodes", cluster, brokers, controllers),
        lambda: nodes.cluster_nodes(hostvars, brokers, controllers, cluster, defaults),
    )


def mirror_nodes(
    hostvars: Mapping[str, Any],
    groups: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The mirrors next to the cluster `names.cluster`; `names.mirrors` is their group."""
    from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory import mirror_nodes as mirrors

    cluster, hosts = str(names["cluster"]), tuple(groups.get(names["mirrors"], []))
    return once(("mirror_nodes", cluster, hosts), lambda: mirrors.mirror_nodes(hostvars, hosts, cluster, defaults))


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "cluster_endpoints": explained("mirrors.clients.cluster_endpoints"),
            "cluster_nodes": explained(cluster_nodes),
            "endpoints": explained("inventory.nodes.endpoints"),
            "initial_controllers": explained("inventory.nodes.initial_controllers"),
            "live_properties": explained("inventory.nodes.live_properties"),
            "listener_properties": explained("inventory.nodes.listener_properties"),
            "machine_hosts": explained("inventory.nodes.machine_hosts"),
            "mirror_clients": explained("mirrors.clients.mirror_clients"),
            "mirror_nodes": explained(mirror_nodes),
            "mirror_reach": explained("inventory.mirror_nodes.mirror_reach"),
            "mirror_secrets": explained("mirrors.clients.mirror_secrets"),
            "mirror_trusts": explained("mirrors.clients.mirror_trusts"),
            "node_lines": explained("inventory.nodes.node_lines"),
            "peer_names": explained("inventory.nodes.peer_names"),
            "place_refusal": explained("guards.replace.place_refusal"),
            "quorum_never_formed": explained("guards.quorum_formed.never_formed"),
            "replace_refusal": explained("guards.replace.replace_refusal"),
            "rest_url": explained("inventory.mirror_nodes.rest_url"),
            "voter_listeners": explained("inventory.nodes.voter_listeners"),
            "with_disks": explained("inventory.nodes.with_disks"),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about the nodes of a cluster and its mirrors.

What they answer is in module_utils/_nodes.py, _replace_guard.py and _mirror_*.py.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained
from ansible_collections.streamops.kafka.plugins.plugin_utils.once import once


def cluster_nodes(
    hostvars: Mapping[str, Any],
    groups: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The nodes of the cluster `names.cluster`; `names` also gives the two groups: brokers, controllers."""
    from ansible_collections.streamops.kafka.plugins.module_utils import _nodes

    cluster = str(names["cluster"])
    brokers, controllers = (tuple(groups.get(names[group], [])) for group in ("brokers", "controllers"))
    return once(
        ("cluster_nodes", cluster, brokers, controllers),
        lambda: _nodes.cluster_nodes(hostvars, brokers, controllers, cluster, defaults),
    )


def mirror_nodes(
    hostvars: Mapping[str, Any],
    groups: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The mirrors next to the cluster `names.cluster`; `names.mirrors` is their group."""
    from ansible_collections.streamops.kafka.plugins.module_utils import _mirror_nodes

    cluster, hosts = str(names["cluster"]), tuple(groups.get(names["mirrors"], []))
    return once(
        ("mirror_nodes", cluster, hosts), lambda: _mirror_nodes.mirror_nodes(hostvars, hosts, cluster, defaults)
    )


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "cluster_endpoints": explained("_mirror_clients.cluster_endpoints"),
            "cluster_nodes": explained(cluster_nodes),
            "endpoints": explained("_nodes.endpoints"),
            "initial_controllers": explained("_nodes.initial_controllers"),
            "live_properties": explained("_nodes.live_properties"),
            "listener_properties": explained("_nodes.listener_properties"),
            "machine_hosts": explained("_nodes.machine_hosts"),
            "mirror_clients": explained("_mirror_clients.mirror_clients"),
            "mirror_nodes": explained(mirror_nodes),
            "mirror_reach": explained("_mirror_nodes.mirror_reach"),
            "mirror_secrets": explained("_mirror_clients.mirror_secrets"),
            "mirror_trusts": explained("_mirror_clients.mirror_trusts"),
            "node_lines": explained("_nodes.node_lines"),
            "peer_names": explained("_nodes.peer_names"),
            "place_refusal": explained("_replace_guard.place_refusal"),
            "quorum_never_formed": explained("_quorum_formed.never_formed"),
            "replace_refusal": explained("_replace_guard.replace_refusal"),
            "rest_url": explained("_mirror_nodes.rest_url"),
            "voter_listeners": explained("_nodes.voter_listeners"),
            "with_disks": explained("_nodes.with_disks"),
        }

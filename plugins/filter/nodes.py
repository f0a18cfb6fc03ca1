# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that answer questions about the nodes of a cluster; the answers are computed in module_utils/_nodes.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils import _nodes
from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


def cluster_nodes(
    hostvars: Mapping[str, Any],
    groups: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The nodes of the cluster `names.cluster`; `names` also gives the two groups: brokers, controllers."""
    return _nodes.cluster_nodes(
        hostvars,
        list(groups.get(names["brokers"], [])),
        list(groups.get(names["controllers"], [])),
        names["cluster"],
        defaults,
    )


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "cluster_nodes": explained(cluster_nodes),
            "endpoints": explained(_nodes.endpoints),
            "initial_controllers": explained(_nodes.initial_controllers),
            "live_properties": explained(_nodes.live_properties),
            "listener_properties": explained(_nodes.listener_properties),
            "machine_hosts": explained(_nodes.machine_hosts),
            "node_lines": explained(_nodes.node_lines),
            "peer_names": explained(_nodes.peer_names),
            "voter_listeners": explained(_nodes.voter_listeners),
            "with_disks": explained(_nodes.with_disks),
        }

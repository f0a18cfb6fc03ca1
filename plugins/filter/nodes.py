# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that answer questions about the nodes of a cluster; the answers are computed in module_utils/_nodes.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.module_utils import _nodes


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


def _explained(function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        """The filter itself, with its mistakes as a template error."""
        try:
            return function(*args, **kwargs)
        except (KeyError, TypeError, ValueError) as error:
            raise AnsibleFilterError(f"{function.__name__}: {error}") from error

    return call


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "cluster_nodes": _explained(cluster_nodes),
            "endpoints": _explained(_nodes.endpoints),
            "initial_controllers": _explained(_nodes.initial_controllers),
            "live_properties": _explained(_nodes.live_properties),
            "listener_properties": _explained(_nodes.listener_properties),
            "machine_hosts": _explained(_nodes.machine_hosts),
            "node_lines": _explained(_nodes.node_lines),
            "peer_names": _explained(_nodes.peer_names),
            "voter_listeners": _explained(_nodes.voter_listeners),
            "with_disks": _explained(_nodes.with_disks),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about the servers of an ensemble; what they answer is computed in module_utils/_zookeeper_nodes.py."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible.errors import AnsibleFilterError

from ansible_collections.streamops.kafka.plugins.module_utils import _zookeeper_nodes, _zookeeper_security


def zookeeper_nodes(
    hostvars: Mapping[str, Any],
    groups: Mapping[str, Sequence[str]],
    names: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[dict[str, Any]]:
    """The servers of the cluster `names.cluster`; `names.zookeeper` is their group."""
    hosts = list(groups.get(names["zookeeper"], []))
    return _zookeeper_nodes.zookeeper_nodes(hostvars, hosts, names["cluster"], defaults)


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
            "zookeeper_access": _explained(_zookeeper_security.access_options),
            "zookeeper_broker_security": _explained(_zookeeper_security.broker_properties),
            "zookeeper_client_jaas": _explained(_zookeeper_security.client_jaas),
            "zookeeper_comers_and_goers": _explained(_zookeeper_nodes.comers_and_goers),
            "zookeeper_connect": _explained(_zookeeper_nodes.connect_string),
            "zookeeper_member_steps": _explained(_zookeeper_nodes.member_steps),
            "zookeeper_nodes": _explained(zookeeper_nodes),
            "zookeeper_own_steps": _explained(_zookeeper_nodes.own_steps),
            "zookeeper_server_list": _explained(_zookeeper_nodes.expected_servers),
            "zookeeper_server_jaas": _explained(_zookeeper_security.server_jaas),
            "zookeeper_server_security": _explained(_zookeeper_security.server_properties),
            "zookeeper_servers": _explained(_zookeeper_nodes.server_properties),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Inventories as dicts, read by the model as it reads those of Ansible."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import HostVariables
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options


class DataReader:
    """Reads hosts (name to variables) without templates; what a host leaves out has the default of its spec."""

    def __init__(
        self,
        hosts: Mapping[str, Mapping[str, Any]],
        groups: Mapping[str, Sequence[str]],
        host: str = "",
        **common: Any,
    ) -> None:
        self._hosts, self._common = hosts, common
        self.groups = {"all": list(hosts), **{group: list(members) for group, members in groups.items()}}
        self.host = host or next(iter(hosts))
        self.play_hosts: Sequence[str] = list(hosts)

    def read(self, host: str) -> HostVariables:
        """The typed variables of a host."""
        defaults = {name: spec["default"] for name, spec in role_options().items() if "default" in spec}
        return HostVariables({**defaults, **self._common, **self._hosts[host]}, lambda value: value)

    def is_host(self, name: str) -> bool:
        """Whether there is a host of this name."""
        return name in self._hosts

    def managed(self, template: str) -> str:
        """The line by which Ansible is known in a file that a template makes."""
        return str({**self._common, **self._hosts[self.host]}.get("ansible_managed", "managed"))


def view(
    hosts: Mapping[str, Mapping[str, Any]],
    *,
    brokers: Sequence[str] = (),
    controllers: Sequence[str] = (),
    zookeepers: Sequence[str] = (),
    mirrors: Sequence[str] = (),
    restarted: Sequence[str] = (),
    host: str = "",
    **common: Any,
) -> View:
    """The model as one host sees it (the first unless told); `common` are variables of all hosts.

    What tasks left behind on a host stands among its variables.
    """
    groups = {
        "kafka_brokers": brokers,
        "kraft_controllers": controllers,
        "zookeeper": zookeepers,
        "mirror_makers": mirrors,
        "_streamops_restarted": restarted,
    }
    return View(DataReader(hosts, groups, host, **common))

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What this collection would write for the nodes of an inventory, by its own model and nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible.parsing.dataloader import DataLoader
from ansible.template import Templar

from ...module_utils._core.properties import value_text
from ..inventory.task import trusted_defaults
from ..inventory.variables import HostVariables
from ..render.view import View
from ..run.results import HostRun
from .written import Value

#: What a task leaves on a host when node_info has looked at its disks.
_LOOK: str = vars(HostRun)["look"].name


class GivenReader:
    """Reads hosts of an inventory that is not written yet; what a host leaves out has the default of its spec."""

    def __init__(
        self, hosts: Mapping[str, Mapping[str, Value]], groups: Mapping[str, Sequence[str]], host: str, templar: Templar
    ) -> None:
        """Take the variables by host, which are values and no templates, the groups, and the host that asks."""
        self._hosts, self._templar = hosts, templar
        self.groups = {"all": list(hosts), **{group: list(members) for group, members in groups.items()}}
        self.host = host
        self.play_hosts: Sequence[str] = list(hosts)

    def read(self, host: str) -> HostVariables:
        """The typed variables of a host."""
        raw = {**trusted_defaults(), "inventory_hostname": host, **self._hosts[host]}
        return HostVariables(raw, self._templar.copy_with_new_env(available_variables=raw).template)

    def is_host(self, name: str) -> bool:
        """Return whether there is a host of this name."""
        return name in self._hosts

    def managed(self, template: str) -> str:
        """The line by which Ansible is known in a file; nothing is written here."""
        return ""


def rendered(
    hosts: Mapping[str, Mapping[str, Value]], groups: Mapping[str, Sequence[str]], static: Sequence[str]
) -> dict[str, dict[str, str]]:
    """Return by host the native properties, as texts, that this collection would start its node with.

    hosts -- by name its variables; groups -- those of the inventory; static -- the hosts whose properties name the
    voters of their quorum, as node_info sees it on their disks (render/static_quorum.py).
    """
    templar = Templar(loader=DataLoader())
    seen: dict[str, Value] = {_LOOK: {"quorum": {"static": True}}}
    known = {name: {**values, **(seen if name in static else {})} for name, values in hosts.items()}
    return {
        name: {key: value_text(key, value) for key, value in _properties(known, groups, name, templar).items()}
        for name in hosts
    }


def _properties(
    hosts: Mapping[str, Mapping[str, Value]], groups: Mapping[str, Sequence[str]], host: str, templar: Templar
) -> dict[str, Any]:
    return dict(View(GivenReader(hosts, groups, host, templar))["properties"])

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads the variables of all hosts as a task of a role sees them; the rules read them by reader.py.

A task sees the variables of its own host with all that its play and its role add; of another host it sees what the
inventory says (hostvars). What play and role add is the same for all hosts, and defaults of roles that are not at work
stand in the argument specs: so each host is read here as a task of its own would see it.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from functools import cache
from os.path import basename
from typing import Any

from ansible.template import generate_ansible_template_vars, trust_as_template

from ..specs import role_options
from .variables import UNDEFINED, HostVariables

#: Only the inventory says where a host is: a task delegated to the control node carries these of the control node.
CONNECTION = ("ansible_connection", "ansible_host", "ansible_port", "ansible_ssh_port")


class TaskReader:
    """The variables of all hosts, each read once; to be kept no longer than the task runs."""

    def __init__(self, templar: Any, variables: Mapping[str, Any]) -> None:
        """Take what a lookup has: its templar, and the variables of the task."""
        self._templar, self._task = templar, variables
        self.host = str(variables["inventory_hostname"])
        self._hostvars = variables["hostvars"]
        defaults = trusted_defaults()
        inventory = self._hostvars.raw_get(self.host)
        given = {name: value for name, value in variables.items() if name not in CONNECTION}
        self._beneath = {**defaults, **{name: value for name, value in given.items() if name not in inventory}}
        # What play or role say in place of the inventory, which need not name it for this host. The default of a role
        # is that of its argument spec, so what differs from it was said.
        silent = {**defaults, **inventory}
        self._above = {
            name: given[name] for name in role_options() if name in given and given[name] != silent.get(name, UNDEFINED)
        }
        place = {name: inventory[name] for name in CONNECTION if name in inventory}
        self._read = {self.host: self._variables({**defaults, **given, **place})}

    def read(self, host: str) -> HostVariables:
        """The variables of a host, templated and typed when they are asked for."""
        if host not in self._read:
            self._read[host] = self._variables({**self._beneath, **self._hostvars.raw_get(host), **self._above})
        return self._read[host]

    def _variables(self, raw: Mapping[str, Any]) -> HostVariables:
        return HostVariables(raw, self._templar.copy_with_new_env(available_variables=raw).template)

    def is_host(self, name: str) -> bool:
        """Return whether the inventory has a host of this name."""
        return name in self._hostvars

    def managed(self, template: str) -> str:
        """The line by which Ansible is known in a file that this template (a path) makes.

        As in Ansible's template module: ansible.cfg or a variable say it, and it may name `template_uid`, `{host}` ...
        """
        variables = {**generate_ansible_template_vars(basename(template), template), **self._task}
        return str(
            self._templar.copy_with_new_env(available_variables=variables).template(variables["ansible_managed"])
        )

    @property
    def groups(self) -> Mapping[str, list[str]]:
        """The groups of the inventory."""
        return dict(self._task["groups"])

    @property
    def play_hosts(self) -> list[str]:
        """All hosts of the play."""
        return list(self._task.get("ansible_play_hosts_all", ()))


def is_worker() -> bool:
    """Say whether this is the process of one task on one host, where nothing that was read changes before it ends."""
    return multiprocessing.parent_process() is not None


@cache
def trusted_defaults() -> Mapping[str, Any]:
    """Return by variable the default of its argument spec, as a task of its role sees it; nobody changes them."""
    return {name: _trusted(spec["default"]) for name, spec in role_options().items() if "default" in spec}


def _trusted(value: Any) -> Any:
    """A default of an argument spec as Ansible takes it from defaults/main.yml: its templates are ours."""
    if isinstance(value, dict):
        return {key: _trusted(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_trusted(part) for part in value]
    return trust_as_template(value) if isinstance(value, str) else value

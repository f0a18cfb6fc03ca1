# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads what the inventory says about every host, role defaults included, without touching a host.

hostvars alone does not do: it knows no role defaults, gives up at the first value that cannot be templated, and a task
sees only its own host's defaults.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible.errors import AnsibleError
from ansible.parsing.vault import EncryptedString

from ...module_utils._core.values import all_typed
from ..specs import role_options
from .build import build_node
from .certificates import read_certificate
from .mirror_nodes import ROLE as MIRROR
from .model import GROUPS, MIRROR_GROUP, OWN_PREFIXES, PAGE_GROUP, PLACEHOLDER, PROMETHEUS_GROUP, Node, in_order
from .nodes import STAGE
from .variables import UNDEFINED

if TYPE_CHECKING:
    from ansible.plugins.action import ActionBase

ROLES = Path(__file__).resolve().parents[3] / "roles"
# The defaults of the cluster's names stand once, there; a role dependency would bring them too, but would also check
# the arguments host by host and stop at the first mistake.
SHARED_DEFAULTS = ROLES / "_common" / "defaults" / "main.yml"
# Those of the roles beside the clusters, which are at work in none of their plays, by the group of their hosts.
BESIDE = {
    PAGE_GROUP: ROLES / "kafka_page" / "defaults" / "main.yml",
    PROMETHEUS_GROUP: ROLES / "kafka_monitoring" / "defaults" / "main.yml",
}
# The variables that name a certificate, its key, and whom it must lead to.
NODE_FILES = ("kafka_tls_certificate_file", "kafka_tls_key_file", "kafka_tls_ca_file")
ADMIN_FILES = ("kafka_admin_certificate_file", "kafka_admin_key_file", "kafka_tls_ca_file")
READ_PREFIXES = (*OWN_PREFIXES, "kraft_", "vault_")
READ_NAMES = (
    "ansible_host",
    "ansible_connection",
    "ansible_port",
    "ansible_ssh_port",
    # What runs of voters.yml and of adopt.yml say of themselves; no inventory has it.
    "_common_changes_voters",
    "_common_foresees_claim",
    # What a run makes of a host while its cluster migrates to KRaft.
    STAGE,
)
# Facts of a host and what roles derive are not there yet: a value made from them is not wrong, only not known.
_NOT_YET = re.compile(r"ansible_facts|'(ansible_|_)\w+' is undefined")


class InventoryReader:
    """The nodes of the inventory as an action plugin sees them."""

    def __init__(self, action: ActionBase, task_vars: Mapping[str, Any]) -> None:
        self._action = action
        self._hostvars = task_vars["hostvars"]
        self._groups = task_vars["groups"]
        self._defaults = action._loader.load_from_file(str(SHARED_DEFAULTS), trusted_as_template=True)

    def nodes(self) -> list[Node]:
        """All hosts of Kafka and ZooKeeper, controllers first, servers of ZooKeeper last, each once and by its id."""
        members = {role: self._groups.get(group, []) for role, group in GROUPS.items()}
        hosts = dict.fromkeys(host for role in members if role != MIRROR for host in members[role])
        return in_order(self._node(host, {role: host in named for role, named in members.items()}) for host in hosts)

    def mirrors(self, nodes: Sequence[Node]) -> list[Node]:
        """The hosts of the group of mirrors that are none of the nodes: there the mistake is that they are in both."""
        taken = {node.name for node in nodes}
        alone = {role: role == MIRROR for role in GROUPS}
        mirrors = self._groups.get(MIRROR_GROUP, [])
        return in_order(self._node(host, alone) for host in mirrors if host not in taken)

    def beside(self, group: str) -> list[Node]:
        """The hosts that run the page or Prometheus (a group of BESIDE), each without what else it runs."""
        hosts, none = sorted(self._groups.get(group, [])), dict.fromkeys(GROUPS, False)
        own = self._action._loader.load_from_file(str(BESIDE[group]), trusted_as_template=True) if hosts else {}
        return [self._node(host, none, own) for host in hosts]

    def peers(self, nodes: Sequence[Node]) -> list[Node]:
        """The other hosts that firewalls of these nodes let in: those of client groups, and named administrators."""
        wanted: dict[str, None] = {}
        for node in nodes:
            wanted.update(dict.fromkeys(host for host in node.let_in(self._groups) if host in self._hostvars))
        taken = {node.name for node in nodes}
        none = dict.fromkeys(GROUPS, False)
        return [self._node(host, none) for host in wanted if host not in taken]

    def _node(self, host: str, roles: dict[str, bool], defaults: Mapping[str, Any] | None = None) -> Node:
        raw = {**(defaults or {}), **self.raw(host)}
        templar = self._action._templar.copy_with_new_env(available_variables=raw)
        undefined: dict[str, str] = {}
        wanted = [
            name for name in raw if name.startswith(READ_PREFIXES) or name in READ_NAMES or name in role_options()
        ]
        found = {name: _template(templar, name, raw[name], undefined) for name in wanted}
        variables, unclear = all_typed(found, role_options(), UNDEFINED)
        node = build_node(
            host,
            controller=roles["controller"],
            broker=roles["broker"],
            zookeeper=roles["zookeeper"],
            mirror=roles["mirror"],
            variables=variables,
            undefined=undefined,
            unclear=unclear,
        )
        shown = any(one.purpose == "clients" and one.protocol == "SSL" for one in node.listeners())
        return dataclasses.replace(
            node,
            certificate=_certificate(variables, NODE_FILES),
            admin_certificate=_certificate(variables, ADMIN_FILES, by_clients=False) if shown else None,
        )

    def raw(self, host: str) -> dict[str, Any]:
        """All variables of a host as the task would see them there, not templated."""
        task = self._action._task
        play, target = task.get_play(), self._hostvars._inventory.get_host(host)
        known = self._hostvars._variable_manager.get_vars(play=play, host=target, task=task)
        return {**self._defaults, **known}

    def read_variables(self) -> list[str]:
        """The names of all variables that the roles of this collection read, from their argument specs."""
        return sorted({*self._defaults, *role_options()})


def _certificate(variables: Mapping[str, Any], names: Sequence[str], by_clients: bool = True) -> dict[str, Any] | None:
    """Return what a certificate's files hold; None when the user does not bring them or has not named them yet."""
    if variables.get("kafka_tls_source") != "files":
        return None
    certificate, key, ca = (str(variables.get(name, "")) for name in names)
    if any(PLACEHOLDER in file for file in (certificate, key, ca)):
        return None
    return read_certificate(certificate, key, ca, by_clients)


def _template(templar: Any, path: str, value: Any, undefined: dict[str, str]) -> Any:
    """The value with every template in it done; what cannot be done becomes UNDEFINED and is noted with the reason."""
    if isinstance(value, Mapping):
        return {key: _template(templar, f"{path}['{key}']", part, undefined) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_template(templar, f"{path}[{index}]", part, undefined) for index, part in enumerate(value)]
    if isinstance(value, (int, float)) or (isinstance(value, str) and "{" not in value):
        return value  # a thousand topics on each of a hundred hosts: what holds no template costs nothing
    try:
        done = templar.template(value)
        return str(done) if isinstance(done, EncryptedString) else done  # decrypted here, where a failure has a name
    except AnsibleError as problem:
        reason = str(problem).splitlines()[0]
        template = value if isinstance(value, str) else ""  # a sealed vault value cannot even be printed
        if not _NOT_YET.search(f"{template} {reason}"):
            undefined[path] = reason
        return UNDEFINED

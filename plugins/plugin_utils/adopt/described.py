# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The inventory of one of the clusters that a look found, and all that keeps it from being written."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Union

from ...module_utils._core.names import capped
from ...module_utils._core.properties import PropertiesError
from ..findings import NOTE, REFUSE, Finding, refused
from ..guards.foreign import Process
from .accepted import Check
from .asked import Answer, Question
from .chosen import canonical_name, gaps, left_out, part_of
from .clusters import ForeignCluster
from .contents import contents, source_of
from .inventory import Written, inventory
from .screen import Looked, all_findings
from .written import Value

#: Variables by which Ansible reaches a host, without passwords.
CONNECTION = (
    "ansible_host",
    "ansible_port",
    "ansible_user",
    "ansible_connection",
    "ansible_python_interpreter",
    "ansible_ssh_private_key_file",
    "ansible_ssh_common_args",
    "ansible_ssh_extra_args",
    "ansible_become_method",
    "ansible_become_user",
)
PASSWORDS = (
    "ansible_password",
    "ansible_ssh_pass",
    "ansible_ssh_password",
    "ansible_become_password",
    "ansible_become_pass",
)
#: sshpass with the password among its options, or in its environment (sshpass(1)); it takes it from a file too.
_SSHPASS = re.compile(r"\bsshpass(\s+-v+|\s+-P\s*\S+)*\s+-v*p|\bSSHPASS=")
_HOSTS_SHOWN = 8


@dataclass(frozen=True)
class Rules:
    """What an inventory is judged by. broker_keys, topic_keys -- by release the properties that Kafka knows.

    check -- gives what the rules of preflight say of a model
    """

    broker_keys: Mapping[str, Collection[str]]
    topic_keys: Mapping[str, Collection[str]]
    check: Check


@dataclass(frozen=True)
class Reached:
    """How Ansible reaches hosts. connections -- by host variables; unsaid -- hosts that have a password for it."""

    connections: Mapping[str, Mapping[str, Value]]
    unsaid: Sequence[str]


def reached(hosts: Mapping[str, Mapping[str, object]]) -> Reached:
    """Return how Ansible reaches hosts, by their variables."""
    connections: dict[str, Mapping[str, Value]] = {}
    unsaid: list[str] = []
    for host, variables in hosts.items():
        known = {name: variables[name] for name in CONNECTION if name in variables}
        connections[host] = {
            name: value for name, value in known.items() if isinstance(value, (str, int)) and not _has_password(value)
        }
        if any(variables.get(name) for name in PASSWORDS) or any(map(_has_password, known.values())):
            unsaid.append(host)
    return Reached(connections, unsaid)


def _has_password(value: object) -> bool:
    """Tell whether options of SSH hold a password, as those of a way through another host may."""
    return isinstance(value, str) and _SSHPASS.search(value) is not None


def described(
    look: Looked,
    cluster: ForeignCluster,
    told: Union[Answer, Question, None],
    held: Union[Process, None],
    name: str,
    hosts: Reached,
    rules: Rules,
) -> Written:
    """Return the files of the inventory of a cluster, none where something is refused, and what was found.

    held -- what resources_info returned of it, None where it was not asked; name -- its kafka_cluster_name
    """
    known = {host: told["ansible_host"] for host, told in hosts.connections.items() if "ansible_host" in told}
    part = part_of(look, cluster, known)
    holds = contents(cluster, held, rules.topic_keys)
    findings = [
        *all_findings(part, [told if member is cluster else None for member in part.clusters]),
        *gaps(part),
        *holds.findings,
        *left_out(look, cluster),
    ]
    if unsaid := [host for host in part.machines if host in hosts.unsaid]:
        what = f"{capped(unsaid, _HOSTS_SHOWN)}: passwords of logins are not written"
        fix = "put ansible_password, or the ansible_ssh_*_args that have one, into the vault too, or use keys"
        findings.append(Finding(NOTE, what, fix))
    if refused(findings):
        return Written({}, findings)
    sources = [
        source_of(
            node,
            hosts.connections.get(node.host, {}),
            canonical_name(node, told) if isinstance(told, Answer) else "",
            holds.settings,
        )
        for node in part.nodes
    ]
    try:
        written = inventory(name, sources, holds.more, rules.broker_keys, rules.check, holds.kept)
    except PropertiesError as problem:
        fix = "correct that in its file, by its old service"
        return Written({}, [*findings, Finding(REFUSE, f"{cluster.title}: {problem}", fix)])
    findings += written.findings
    return Written({} if refused(findings) else written.files, findings)

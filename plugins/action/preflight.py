# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the inventory, or what all hosts answered, and fails once with everything that is wrong; no remote call."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ansible.plugins.action import ActionBase

from ..plugin_utils.addresses import resolved
from ..plugin_utils.inventory.control_node import unkept_cas
from ..plugin_utils.inventory.model import PAGE_GROUP, PROMETHEUS_GROUP, Inventory, Node
from ..plugin_utils.inventory.reader import InventoryReader
from ..plugin_utils.mirrors.external_cas import unread_cas
from ..plugin_utils.preflight.check import check_hosts, check_inventory, preflight_result
from ..plugin_utils.preflight.host import Host, host_of
from ..plugin_utils.preflight.rules.firewall import names_to_resolve
from ..plugin_utils.preflight.trust_reader import trust_facts

# Ansible imports an action in the process of the run, and forks one for each task and host: what the lookup `model`
# needs in nearly all of them is imported once here, and not forty milliseconds long in each.
from ..plugin_utils.render import kafka, view  # noqa: F401  # pylint: disable=unused-import
from ..plugin_utils.run.results import HostRun
from ..plugin_utils.specs import module_options


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Applies the rules of the inventory or those of the hosts."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read all hosts of all clusters, apply all rules, report all violations."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        _checked, options = self.validate_argument_spec(argument_spec=dict(module_options("preflight")))
        reader = InventoryReader(self, known)
        nodes = reader.nodes()
        mirrors = reader.mirrors(nodes)
        if options["of"] == "hosts":
            found = check_hosts(_hosts(reader, (*nodes, *mirrors), known))
        else:
            found = check_inventory(_inventory(reader, nodes, mirrors, known))
        return dict(result, **preflight_result(found, bool(self._task.register)))


def _inventory(
    reader: InventoryReader, nodes: Sequence[Node], mirrors: Sequence[Node], known: Mapping[str, Any]
) -> Inventory:
    inventory = Inventory(
        nodes=tuple(nodes),
        limit=known.get("ansible_limit"),
        play_hosts=tuple(known.get("ansible_play_hosts_all", ())),
        known_variables=tuple(reader.read_variables()),
        peers=tuple(reader.peers(nodes)),
        mirrors=tuple(mirrors),
        pages=tuple(reader.beside(PAGE_GROUP)),
        monitors=tuple(reader.beside(PROMETHEUS_GROUP)),
        unkept=unkept_cas((*nodes, *mirrors), os.environ),
        unread_cas=unread_cas(mirrors),
    )
    return replace(inventory, addresses=resolved(names_to_resolve(inventory)))


def _hosts(reader: InventoryReader, nodes: Iterable[Node], known: Mapping[str, Any]) -> list[Host]:
    """The hosts of the play with what node_info registered there, and what they trust."""
    expected, known_nodes = set(known.get("ansible_play_hosts_all", ())), tuple(nodes)
    hosts: list[Host] = []
    asked: list[tuple[Node, Mapping[str, Any] | None]] = []
    for node in known_nodes:
        if node.name not in expected:
            asked.append((node, None))
        else:
            run = HostRun(node.name, reader.raw)
            host = host_of(node, run.look, known_nodes)
            hosts.append(replace(host, names_version="kafka_version" in reader.raw(node.name)))
            asked.append((node, hosts[-1].info))
    trust, answers = trust_facts(asked), _features(reader, known_nodes)
    return [
        replace(
            host,
            trust=trust.get(host.name),
            features=answers.get(host.cluster, {}).get("features"),
            unasked=str(answers.get(host.cluster, {}).get("msg", "")),
        )
        for host in hosts
    ]


def _features(reader: InventoryReader, nodes: Iterable[Node]) -> dict[str, Mapping[str, Any]]:
    """By cluster the answer about what it has finalised, where one of its hosts asked (_common/tasks/features.yml)."""
    found = ((node.cluster, HostRun(node.name, reader.raw).features) for node in nodes)
    return {name: answer for name, answer in found if answer and not answer.get("skipped")}

# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Checks the whole inventory on the control node and fails once with everything that is wrong; no remote call."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ansible.plugins.action import ActionBase

from ansible_collections.streamops.kafka.plugins.plugin_utils.addresses import resolved
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.reader import InventoryReader
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.firewall import names_to_resolve
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.result import preflight_result
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules import check_inventory

# Ansible imports an action in the process of the run, and forks one for each task and host: what the lookup `model`
# needs in nearly all of them is imported once here, and not forty milliseconds long in each.
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import kafka, view  # noqa: F401

SPEC = {
    "controllers_group": {"type": "str", "default": "kraft_controllers"},
    "brokers_group": {"type": "str", "default": "kafka_brokers"},
    "zookeeper_group": {"type": "str", "default": "zookeeper"},
    "mirror_makers_group": {"type": "str", "default": "mirror_makers"},
}


class ActionModule(ActionBase):  # type: ignore[misc]  # Ansible ships no types
    """Applies the inventory rules."""

    _requires_connection = False
    _supports_check_mode = True

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read all hosts of all clusters, apply all rules, report all violations."""
        result: dict[str, Any] = super().run(tmp, task_vars)
        known = task_vars or {}
        _, options = self.validate_argument_spec(argument_spec=SPEC)
        reader = InventoryReader(self, known)
        groups = (options[f"{name}_group"] for name in ("controllers", "brokers", "zookeeper", "mirror_makers"))
        nodes = reader.nodes(*groups)
        inventory = Inventory(
            nodes=tuple(nodes),
            limit=known.get("ansible_limit"),
            play_hosts=tuple(known.get("ansible_play_hosts_all", ())),
            known_variables=tuple(reader.read_variables()),
            peers=tuple(reader.peers(nodes)),
            mirrors=tuple(reader.mirrors(options["mirror_makers_group"], nodes)),
        )
        inventory = replace(inventory, addresses=resolved(names_to_resolve(inventory)))
        return dict(result, **preflight_result(check_inventory(inventory), bool(self._task.register)))

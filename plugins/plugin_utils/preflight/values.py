# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The preflight rule on booleans and numbers: text is read as Ansible reads it, and what is unclear is refused."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation

#: What rules B1 and B6 say more about.
IDS = ("kafka_node_id", "zookeeper_id")


def unclear(inventory: Inventory) -> Iterator[Violation]:
    """C26: true or false, and numbers, wherever an argument spec asks for them."""
    for node in inventory.processes:
        for one in node.unclear:
            if one.name not in IDS:
                yield Violation(
                    "C26", ERROR, (node.name,), one.name, one.what, one.found, one.allowed,
                    "correct the value, or remove it to get the default",
                )  # fmt: skip


RULES = (unclear,)

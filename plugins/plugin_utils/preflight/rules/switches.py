# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on single properties that switch off what a cluster lives by; Kafka takes each of them."""

from __future__ import annotations

from collections.abc import Iterator

from ...inventory.model import Inventory
from ..in_force import brokers
from ..rule import BY_PROFILE, Problem, rule

#: What ends with these switched off.
SWITCHES = {
    "log.cleaner.enable": "compacted topics, those of groups and transactions too, grow until the disk is full",
    "controlled.shutdown.enable": "each restart leaves partitions without a leader until the broker is missed",
}


@rule(fix="remove it", allowed="true", level=BY_PROFILE, acceptable=True)
def switched_off(inventory: Inventory) -> Iterator[Problem]:
    """`log.cleaner.enable` or `controlled.shutdown.enable` is false: compacted topics (those of groups and transactions
    too) fill the disk, or each restart leaves partitions without a leader."""
    for node in brokers(inventory):
        own = node.properties()
        for key, what in SWITCHES.items():
            if key in own and str(own[key].value).strip().lower() == "false":
                yield Problem(node, what, f"{key} false", variable=own[key].variable)

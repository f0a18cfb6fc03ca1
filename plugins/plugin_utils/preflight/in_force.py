# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The number that holds on a node for a native property: what the inventory sets, else Kafka's own default."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...module_utils._configs.values import without_listener
from ...module_utils._migration.modes import KRAFT
from ..inventory.model import Inventory, Node
from ..inventory.nodes import STAGE, ZOOKEEPER_MODE
from ..inventory.variables import as_int
from .definitions import BROKER_KEYS


@dataclass(frozen=True)
class Number:
    """A whole number in force; variable is where the inventory sets it, empty for a default."""

    key: str
    value: int
    variable: str = ""

    def __str__(self) -> str:
        """Show key and value, and that nobody set it."""
        return f"{self.key} {self.value}{'' if self.variable else ' (default)'}"


def written(node: Node, key: str) -> Number | None:
    """Return the number that the inventory sets; None when it sets none."""
    one = number(node, key)
    return one if one is not None and one.variable else None


def number(node: Node, key: str) -> Number | None:
    """Return the number in force; None when it is none that Kafka takes, or nothing sets it and no default is known."""
    one = node.properties().get(key)
    definition = BROKER_KEYS.get(node.text("kafka_version"), {}).get(without_listener(key))
    if one is not None:
        value = as_int(one.value)
        # What the release refuses has its own rule.
        refused = value is None or (definition is not None and not definition.takes(str(value)))
        return None if value is None or refused else Number(key, value, one.variable)
    if definition is None or definition.default is None:
        return None
    return Number(key, int(definition.default))


def pairs(node: Node, first: str, second: str) -> Iterator[tuple[Number, Number]]:
    """Yield the numbers in force of two keys when both are known and the inventory sets one of them.

    Defaults alone go together, so nothing that nobody set is judged.
    """
    one, other = number(node, first), number(node, second)
    if one is not None and other is not None and culprit(one, other):
        yield one, other


def culprit(*found: Number) -> str:
    """Return the variable of the first number that the inventory sets."""
    return next((one.variable for one in found if one.variable), "")


def in_zookeeper_mode(node: Node) -> bool:
    """Return whether the inventory says what a node of Kafka has with ZooKeeper, in each stage of a migration."""
    return node.text("kafka_mode") == ZOOKEEPER_MODE


def uses_zookeeper(node: Node) -> bool:
    """Return whether a node of Kafka is a broker that keeps its metadata in ZooKeeper in this run."""
    return in_zookeeper_mode(node) and node.text(STAGE) != KRAFT and node.broker


def brokers(inventory: Inventory) -> list[Node]:
    """Return the brokers of all clusters, combined nodes too."""
    return [node for node in inventory.nodes if node.broker]

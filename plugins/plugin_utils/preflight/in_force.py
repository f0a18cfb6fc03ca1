# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What holds on a node for native properties, which the inventory sets, else by Kafka: numbers, keys and logins."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...module_utils._configs.values import without_listener
from ...module_utils._migration.modes import KRAFT
from ..inventory.model import CONTROLLER_PURPOSE, Inventory, Listener, Node
from ..inventory.nodes import STAGE, ZOOKEEPER_MODE
from ..inventory.variables import as_int
from ..render.security import JAAS_FILE, SASL_PROTOCOLS
from .definitions import BROKER_KEYS

#: Where a key is: in a store, or in the property itself (KIP-651); also with the prefix of a listener.
_KEYS = ("ssl.keystore.location", "ssl.keystore.key")
#: What Kafka logs in by where nothing is set (SaslConfigs.DEFAULT_SASL_MECHANISM).
_MECHANISM = "GSSAPI"


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


def brings_key(node: Node) -> bool:
    """Return whether native properties say where the key of a node is: what its certificate names is not known."""
    return any(key == name or key.endswith(f".{name}") for key in node.properties() for name in _KEYS)


def nodes_log_in(node: Node, listener: Listener) -> bool:
    """Return whether the inventory says natively by what other nodes log in at a listener with SASL.

    Kafka takes the login of the listener and its mechanism, else that of KafkaServer in the JAAS file of the JVM
    (JaasContext.loadServerContext). Whether the login is right is not known here.
    """
    if listener.protocol not in SASL_PROTOCOLS:
        return False
    who = "controller" if listener.purpose == CONTROLLER_PURPOSE else "inter.broker"
    mechanism = str(node.value(f"sasl.mechanism.{who}.protocol") or _MECHANISM).strip().lower()
    login = node.value(f"listener.name.{listener.name.lower()}.{mechanism}.sasl.jaas.config")
    return bool(login) or any(word.startswith(JAAS_FILE) for word in node.names("kafka_jvm_options"))

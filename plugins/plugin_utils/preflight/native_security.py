# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What native properties of a node say of its key and its logins, where no variable of this collection does."""

from __future__ import annotations

from ..inventory.model import CONTROLLER_PURPOSE, Listener, Node
from ..render.security import JAAS_FILE, SASL_PROTOCOLS

#: Where a key is: in a store, or in the property itself (KIP-651); also with the prefix of a listener.
_KEYS = ("ssl.keystore.location", "ssl.keystore.key")
#: What Kafka logs in by where nothing is set (SaslConfigs.DEFAULT_SASL_MECHANISM).
_MECHANISM = "GSSAPI"


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

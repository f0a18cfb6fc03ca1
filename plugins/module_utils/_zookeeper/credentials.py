# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""SCRAM credentials as Kafka keeps them in ZooKeeper, and which of those that are wanted are not there yet. Pure.

A broker of ZooKeeper mode reads them at its start, so the first administrator can be there before the first broker is
(what kafka-configs --zookeeper does for this one purpose, KIP-555).
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Any

from .._core.scram import HASHES, salted_password
from .._users.plan import MIN_ITERATIONS

USERS = "/config/users"


def path_of(user: str) -> str:
    """The path of a user below the chroot; names are written as in a URL (org.apache.kafka.common.utils.Sanitizer)."""
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "-_.") else _escaped(char) for char in user)
    return f"{USERS}/{plain}"


def _escaped(char: str) -> str:
    return "".join(f"%{byte:02X}" for byte in char.encode())


def missing(kept: Mapping[str, Any] | None, mechanisms: Sequence[str]) -> list[str]:
    """The mechanisms that a user has no credential for; C(kept) is the content of its path, None for none."""
    known = (kept or {}).get("config", {})
    return [mechanism for mechanism in mechanisms if mechanism in HASHES and mechanism not in known]


def content(kept: Mapping[str, Any] | None, added: Mapping[str, str]) -> bytes:
    """Return what stands at the path of a user afterwards; what is there already stays (ConfigEntityZNode)."""
    config = {**(kept or {}).get("config", {}), **added}
    return json.dumps({"version": 1, "config": config}, sort_keys=True).encode()


def credential(mechanism: str, password: str, salt: bytes) -> str:
    """A credential as Kafka writes it (ScramCredentialUtils.credentialToString), made as in RFC 5802."""
    salted = salted_password(mechanism, password, salt, MIN_ITERATIONS)
    client_key, server_key = (
        hmac.new(salted, text, HASHES[mechanism]).digest() for text in (b"Client Key", b"Server Key")
    )
    words = {
        "salt": salt,
        "stored_key": hashlib.new(HASHES[mechanism], client_key).digest(),
        "server_key": server_key,
    }
    text = ",".join(f"{name}={base64.b64encode(value).decode()}" for name, value in words.items())
    return f"{text},iterations={MIN_ITERATIONS}"

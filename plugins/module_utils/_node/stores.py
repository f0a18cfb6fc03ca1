# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Certificates in the stores that Java's own TLS reads (PKCS 12), made of PEM files.

Kafka's clients and brokers read PEM (KIP-651); the REST server of Kafka Connect does not.
"""

from __future__ import annotations

import datetime
import os
import traceback
from pathlib import Path

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import MissingLibraryError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._node import pem
from ansible_collections.streamops.kafka.plugins.module_utils._node.chain import arranged

try:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    _make_trust = pkcs12.serialize_java_truststore
except (ImportError, AttributeError):
    MISSING = traceback.format_exc()
else:
    MISSING = ""


def write_stores(files: dict[str, str], password: str, dry_run: bool) -> bool:
    """Write the stores that are not there yet; returns whether any was missing.

    files -- key, certificate (with its chain) and ca as PEM to read, keystore and truststore to write. A store that is
    there is left, since each is salted anew and would differ: a name stands for one content.
    """
    missing = [store for store in ("keystore", "truststore") if not Path(files[store]).is_file()]
    if not missing or dry_run:
        return bool(missing)
    if MISSING:
        raise MissingLibraryError("cryptography", "(45 or newer) to write stores for Java", MISSING)
    contents = {"keystore": _keystore, "truststore": _truststore}
    for store in missing:
        try:
            _write(Path(files[store]), contents[store](files, password.encode()))
        except (OSError, ValueError) as error:
            raise StreamopsError(f"{files[store]}: {error}; nothing was written there", store=files[store]) from error
    return True


def _keystore(files: dict[str, str], password: bytes) -> bytes:
    found = [one for _text, one in pem.keys(Path(files["key"]).read_bytes())]
    certificates = pem.certificates(Path(files["certificate"]).read_bytes())
    trusted = pem.certificates(Path(files["ca"]).read_bytes())
    leaf, *above = arranged(certificates, found, trusted, datetime.datetime.now(datetime.UTC))
    key = next((one for one in found if pem.public(one) == pem.public(leaf)), found[0])
    return bytes(
        pkcs12.serialize_key_and_certificates(
            b"node", key, leaf, above or None, serialization.BestAvailableEncryption(password)
        )
    )


def _truststore(files: dict[str, str], password: bytes) -> bytes:
    trusted = pem.certificates(Path(files["ca"]).read_bytes())
    named = [pkcs12.PKCS12Certificate(one, f"ca{number}".encode()) for number, one in enumerate(trusted)]
    return bytes(pkcs12.serialize_java_truststore(named, serialization.BestAvailableEncryption(password)))


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, for its owner only."""
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
    unfinished.replace(path)

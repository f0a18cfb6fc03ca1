# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Certificates in the stores that Java's own TLS reads (PKCS 12), made of PEM files.

Kafka's clients and brokers read PEM (KIP-651); the REST server of Kafka Connect does not.
"""

from __future__ import annotations

import os
import re
import traceback
from pathlib import Path
from typing import Any

from .._core.errors import MissingLibraryError, StreamopsError

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.serialization import pkcs12

    _make_trust = pkcs12.serialize_java_truststore
except (ImportError, AttributeError):
    MISSING = traceback.format_exc()
else:
    MISSING = ""

_KEY = re.compile(rb"-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----", re.S)


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
    keys = _keys(Path(files["key"]).read_bytes())
    certificates = _certificates(files["certificate"])
    # Java puts the chain of a key together by itself, whatever else stands there.
    fitting = [(key, one) for one in certificates for key in keys if _public(key) == _public(one)]
    key, leaf = fitting[0] if fitting else (keys[0], certificates[0])
    above = [one for one in certificates if one != leaf]
    return bytes(
        pkcs12.serialize_key_and_certificates(
            b"node", key, leaf, above or None, serialization.BestAvailableEncryption(password)
        )
    )


def _truststore(files: dict[str, str], password: bytes) -> bytes:
    trusted = _certificates(files["ca"])
    named = [pkcs12.PKCS12Certificate(one, f"ca{number}".encode()) for number, one in enumerate(trusted)]
    return bytes(pkcs12.serialize_java_truststore(named, serialization.BestAvailableEncryption(password)))


def _keys(content: bytes) -> list[Any]:
    """The keys of a file, of which one belongs to the certificate; a whole file that has no block is read as one."""
    return [serialization.load_pem_private_key(one, password=None) for one in _KEY.findall(content) or [content]]


def _certificates(path: str) -> list[Any]:
    """The certificates of a file, each once."""
    return list(dict.fromkeys(x509.load_pem_x509_certificates(Path(path).read_bytes())))


def _public(holder: Any) -> bytes:
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return bytes(holder.public_key().public_bytes(*form))


def _write(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, for its owner only."""
    unfinished = path.with_name(f"{path.name}.new")
    unfinished.unlink(missing_ok=True)
    with os.fdopen(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(content)
    unfinished.replace(path)

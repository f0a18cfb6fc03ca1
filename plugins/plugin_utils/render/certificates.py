# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The key, the certificate and the CAs of a node: what is read of them here, and the stores that are made of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from os.path import expanduser
from pathlib import Path
from typing import Any

from ..inventory.pem_files import stored

#: By what is in them, the variables that name the files of a node on the control node.
CERTIFICATES = {
    "key": "kafka_tls_key_file",
    "certificate": "kafka_tls_certificate_file",
    "truststore": "kafka_tls_ca_file",
}


def certificates(settings: Mapping[str, Any]) -> dict[str, str]:
    """Return what a node gets of its key, its certificate and its CAs, without an end of line behind it.

    Empty where the node has no TLS, or a file is not there: in check mode they may not be issued yet.
    """
    if not settings["kafka_tls_source"]:
        return {}
    files = {name: Path(expanduser(settings[variable])) for name, variable in CERTIFICATES.items()}
    if not all(file.is_file() for file in files.values()):
        return {}
    return stored({name: file.read_bytes() for name, file in files.items()})


def keystore(certificate: Mapping[str, str]) -> str:
    """The store of key and certificate: Kafka reads both from one file."""
    return f"{certificate['key']}\n{certificate['certificate']}\n"


def truststore(certificate: Mapping[str, str]) -> str:
    """The store of the CAs; Kafka finds no certificate in it without the end of the last line."""
    return f"{certificate['truststore']}\n"


def stores(certificate: Mapping[str, str]) -> dict[str, str]:
    """Return {digest, password} of the stores that Java's own TLS reads, which no PEM can be given to.

    A store is salted anew each time that it is made, so it is named by a digest of what is in it. No person has to know
    its password, and who can read the key can make it.
    """
    content = "\n".join((certificate["key"], certificate["certificate"], f"{certificate['truststore']}\n"))
    return {
        "digest": hashlib.sha256(content.encode()).hexdigest()[:16],
        "password": hashlib.sha256(f"stores of {certificate['key']}".encode()).hexdigest(),
    }

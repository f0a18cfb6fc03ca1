# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Read keys and certificates out of PEM files. Files are bytes: what stands around the blocks may have any encoding."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import serialization
except ImportError:  # ansible-core requires it, but its sanity test imports every file without it
    x509 = None  # type: ignore[assignment]

_BLOCK = re.compile(rb"-----BEGIN ([A-Z0-9 ]+)-----.*?-----END \1-----", re.S)
_CERTIFICATE = ("CERTIFICATE", "X509 CERTIFICATE")
_KEY = "PRIVATE KEY"


class PemError(ValueError):
    """A file does not hold what it should; the text says what it holds instead."""


def blocks(content: bytes) -> list[tuple[str, str]]:
    """Return what each block of a file is called, and its text without anything around it."""
    found = [(block[1].decode("ascii"), block[0].decode("ascii", "replace")) for block in _BLOCK.finditer(content)]
    return [(label, "\n".join(line.rstrip() for line in text.splitlines())) for label, text in found]


def certificates(content: bytes) -> list[x509.Certificate]:
    """Return the certificates of a file, in its order.

    Raises:
        PemError: It has none, or one that cannot be read.
    """
    found = [text for label, text in blocks(content) if label in _CERTIFICATE]
    if not found:
        raise PemError(f"no certificate in PEM form, but {_held(content)}")
    read = []
    for number, text in enumerate(found, 1):
        try:
            read.append(x509.load_pem_x509_certificate(text.encode()))
        except ValueError:
            raise PemError(f"certificate {number} of {len(found)} in it cannot be read") from None
    return read


def keys(content: bytes) -> list[tuple[str, Any]]:
    """Return the keys of a file, each with its text.

    Raises:
        PemError: It has none that a node can read: in PKCS 8 form, without a password.
    """
    there = blocks(content)
    found, labels = [text for label, text in there if label == _KEY], [label for label, _text in there]
    if not found and any("ENCRYPTED" in text for text in (*labels, *(text for _label, text in there))):
        raise PemError("the key is encrypted; a node needs one without a password")
    if not found:
        form = "no key in PKCS 8 form (openssl pkcs8 -topk8 -nocrypt makes one)"
        raise PemError(f"{form}, but {_held(content)}" if labels else form)
    try:
        return [(text, serialization.load_pem_private_key(text.encode(), password=None)) for text in found]
    except (ValueError, TypeError):
        raise PemError("no key that can be read") from None
    except Exception as problem:  # UnsupportedAlgorithm, of a library that may be missing
        raise PemError(f"no key that can be read ({problem})") from None


def text_of(certificate: x509.Certificate) -> str:
    """Return a certificate in PEM form, without an end of line behind it."""
    return str(certificate.public_bytes(serialization.Encoding.PEM).decode().rstrip())


def public(holder: Any) -> bytes:
    """Return the public key of a certificate or of a private key, so that two of them can be compared."""
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return bytes(holder.public_key().public_bytes(*form))


def _held(content: bytes) -> str:
    """Say what a file holds that was looked at in vain."""
    counted = Counter(label for label, _text in blocks(content))
    if counted:
        return ", ".join(label if number == 1 else f"{number} {label}" for label, number in counted.items())
    return f"{len(content)} bytes without any block" if content.strip() else "nothing"

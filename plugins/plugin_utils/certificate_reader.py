# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads a node's certificate, key and trusted CAs on the control node and tells plain facts about them."""

from __future__ import annotations

import datetime
import itertools
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import serialization


def read_certificate(certificate_file: str, key_file: str, ca_file: str) -> dict[str, Any]:
    """The facts about one node's certificate; the rules on them stand in _preflight_certificates.

    Returns {errors, common_name, names, days_left, fits_key, trusted}: errors are sentences about files that cannot be
    read, and what cannot be told then is None. ``names`` are the subject alternative names, DNS names and addresses.
    """
    errors: list[str] = []
    chain = _certificates(certificate_file, errors)
    trusted = _certificates(ca_file, errors)
    key = _key(key_file, errors)
    facts: dict[str, Any] = {"errors": errors, "common_name": None, "names": None, "days_left": None}
    facts.update(fits_key=None, trusted=None)
    if chain:
        leaf = chain[0]
        names = leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        left = leaf.not_valid_after_utc - datetime.datetime.now(datetime.UTC)
        facts.update(common_name=str(names[0].value) if names else "", names=_names(leaf), days_left=left.days)
        if trusted:
            facts["trusted"] = _reaches(chain, trusted)
        if key is not None:
            facts["fits_key"] = _public(leaf) == _public(key)
    return facts


def _certificates(path: str, errors: list[str]) -> list[x509.Certificate]:
    try:
        return x509.load_pem_x509_certificates(Path(path).expanduser().read_bytes())
    except OSError as problem:
        errors.append(f"{path}: {problem.strerror}")
    except ValueError:
        errors.append(f"{path}: no certificate in PEM form")
    return []


def _key(path: str, errors: list[str]) -> Any:
    try:
        text = Path(path).expanduser().read_bytes()
        if b"BEGIN PRIVATE KEY" not in text and b"ENCRYPTED" not in text:
            errors.append(f"{path}: no key in PKCS 8 form (openssl pkcs8 -topk8 -nocrypt makes one)")
            return None
        return serialization.load_pem_private_key(text, password=None)
    except OSError as problem:
        errors.append(f"{path}: {problem.strerror}")
    except TypeError:
        errors.append(f"{path}: the key is encrypted; a node needs one without a password")
    except ValueError:
        errors.append(f"{path}: no key that can be read")
    return None


def _names(leaf: x509.Certificate) -> list[str]:
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return []
    addresses = [str(address) for address in names.get_values_for_type(x509.IPAddress)]
    return [*names.get_values_for_type(x509.DNSName), *addresses]


def _reaches(chain: list[x509.Certificate], trusted: list[x509.Certificate]) -> bool:
    """Whether each certificate is signed by the next one, and the last by a trusted one (or is one itself)."""
    pairs = itertools.pairwise(chain)
    if not all(_signed(one, by) for one, by in pairs):
        return False
    return any(chain[-1] == root or _signed(chain[-1], root) for root in trusted)


def _signed(one: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        one.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _public(holder: Any) -> bytes:
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return bytes(holder.public_key().public_bytes(*form))

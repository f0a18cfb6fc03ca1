# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads a node's certificate, key and trusted CAs on the control node and returns plain facts about them."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

try:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.x509.oid import ExtendedKeyUsageOID
except ImportError:  # ansible-core requires it, but its sanity test imports every file without it
    x509 = None  # type: ignore[assignment]

from . import chain as chains
from . import pem
from .host_names import DNS, IP
from .pem import PemError, public

Read = TypeVar("Read")
#: Any purpose for Java; OpenSSL takes such a certificate for no server.
ANY = "anyExtendedKeyUsage"


def read_certificate(certificate_file: str, key_file: str, ca_file: str, by_clients: bool = True) -> dict[str, Any]:
    """The facts about one node's certificate; the rules on them stand in preflight/rules/certificates.py.

    by_clients -- whether OpenSSL judges it as well as Java: a certificate that only brokers see is judged by Java.

    Returns {errors, common_name, subject, names, days_left, days_until, usages, signs, fits_key, faults, in_order}:
    errors are sentences about files that cannot be read, and what cannot be told then is None. ``names`` are the
    subject alternative names with their types (DNS:kafka1, IP:10.0.0.1); ``subject`` is written as Java writes it;
    ``days_until`` is how long the certificate is not valid yet (0 when it is); ``usages`` are the purposes it is
    limited to (None without a limit), ``signs`` whether its key usage lets it sign a handshake; ``faults`` why Java or
    OpenSSL refuses its chain, each {kind, found} (chain.py); ``in_order`` whether the files begin
    with the certificate and its key.
    """
    errors: list[str] = []
    found = _read(certificate_file, pem.certificates, errors)
    trusted = _read(ca_file, pem.certificates, errors)
    keys = [key for _text, key in _read(key_file, pem.keys, errors)]
    unknown = ("common_name", "subject", "names", "days_left", "days_until", "usages", "signs", "fits_key")
    facts: dict[str, Any] = {"errors": errors, **dict.fromkeys((*unknown, "in_order")), "faults": []}
    if found:
        now = datetime.datetime.now(datetime.UTC)
        chain = chains.arranged(found, keys, trusted, now)
        facts.update(_of_leaf(chain[0], now))
        if trusted:
            faults = chains.faults(chain, trusted, now, by_clients, rfc2253)
            facts["faults"] = [{"kind": one.kind, "found": one.found} for one in faults]
        if keys:
            facts["fits_key"] = any(public(chain[0]) == public(key) for key in keys)
            facts["in_order"] = found[0] == chain[0] and public(keys[0]) == public(chain[0])
    return facts


def ca_fault(file: str) -> str:
    """Return why a file on the control node cannot serve as a CA, in words with its name; empty where it can."""
    errors: list[str] = []
    _read(file, pem.certificates, errors)
    return "".join(errors)


def _of_leaf(leaf: x509.Certificate, now: datetime.datetime) -> dict[str, Any]:
    names = leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
    until = leaf.not_valid_before_utc - now
    return {
        "common_name": str(names[0].value) if names else "",
        "subject": rfc2253(leaf.subject),
        "names": _names(leaf),
        "usages": _usages(leaf),
        "signs": _signs(leaf),
        "days_left": (leaf.not_valid_after_utc - now).days,
        "days_until": max(0, until.days + 1),
    }


def pem_certificates(text: str) -> tuple[str, ...]:
    """Each certificate of a text in PEM form, written in one way, so that two of them can be compared."""
    try:
        return tuple(f"{pem.text_of(one)}\n" for one in pem.certificates(text.encode()))
    except PemError:
        return ()


def described(text: str) -> str:
    """The subject of a certificate and its fingerprint, as `openssl x509 -fingerprint -sha256` writes it."""
    one = x509.load_pem_x509_certificate(text.encode())
    return f"{rfc2253(one.subject)} (SHA-256 {one.fingerprint(hashes.SHA256()).hex(':').upper()})"


def issuer(text: str) -> str:
    """The name of who signed a certificate."""
    return rfc2253(x509.load_pem_x509_certificate(text.encode()).issuer)


def reaches(chain: Sequence[str], trusted: Sequence[str], today: bool = False) -> bool:
    """Say whether a chain in PEM form leads to one of these CAs; with `today`, by certificates that are valid now."""
    shown, roots = ([x509.load_pem_x509_certificate(one.encode()) for one in pems] for pems in (chain, trusted))
    return chains.reaches(shown, roots, datetime.datetime.now(datetime.UTC) if today else None)


def key_fits(text: str, key_file: str) -> bool:
    """Return whether the file holds the key of a certificate; keys of the development CA have no password."""
    try:
        key = serialization.load_pem_private_key(Path(key_file).read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        return False
    return public(key) == public(x509.load_pem_x509_certificate(text.encode()))


def _read(path: str, parts: Callable[[bytes], list[Read]], errors: list[str]) -> list[Read]:
    """Return the keys or certificates of a file, none where it cannot be read, which is an error with its name."""
    try:
        return parts(Path(path).expanduser().read_bytes())
    except OSError as problem:
        errors.append(f"{path}: {problem.strerror}")
    except PemError as problem:
        errors.append(f"{path}: {problem}")
    return []


def _names(leaf: x509.Certificate) -> list[str]:
    """The subject alternative names with their types; none where Java and OpenSSL cannot read them either."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    addresses = [f"{IP}:{address}" for address in names.get_values_for_type(x509.IPAddress)]
    return [*(f"{DNS}:{name}" for name in names.get_values_for_type(x509.DNSName)), *addresses]


def _usages(leaf: x509.Certificate) -> list[str] | None:
    """The purposes that the extended key usage names; None without it."""
    try:
        found = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return None
    known = {
        ExtendedKeyUsageOID.SERVER_AUTH: "serverAuth",
        ExtendedKeyUsageOID.CLIENT_AUTH: "clientAuth",
        ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE: ANY,
    }
    return [known.get(one, one.dotted_string) for one in found]


def _signs(leaf: x509.Certificate) -> bool:
    """Return whether the key may sign: Java wants digitalSignature of both sides of TLS 1.3 (EndEntityChecker)."""
    try:
        return leaf.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature
    except x509.ExtensionNotFound:
        return True


# The attributes that X500Principal.getName writes by a word, and the characters that it escapes wherever they stand.
_WORDS = {
    "2.5.4.3": "CN",
    "2.5.4.7": "L",
    "2.5.4.8": "ST",
    "2.5.4.10": "O",
    "2.5.4.11": "OU",
    "2.5.4.6": "C",
    "2.5.4.9": "STREET",
    "0.9.2342.19200300.100.1.25": "DC",
    "0.9.2342.19200300.100.1.1": "UID",
}
_ESCAPED = re.compile(r'([,=+<>#;"\\]|^ +| +$)')


def rfc2253(name: x509.Name) -> str:
    """A subject as Java writes it, which is what Kafka's mapping rules are applied to."""
    return ",".join("+".join(_attribute(one) for one in parts) for parts in reversed(list(name.rdns)))


def _attribute(one: x509.NameAttribute[Any]) -> str:
    word = _WORDS.get(one.oid.dotted_string)
    if word is None:
        return f"{one.oid.dotted_string}=#{_encoded(one).hex()}"
    text = _ESCAPED.sub(lambda found: "".join(f"\\{letter}" for letter in found[0]), str(one.value))
    return f"{word}={text}"


def _encoded(one: x509.NameAttribute[Any]) -> bytes:
    """The value of an attribute in DER: what stands behind its name in sequence, set, sequence."""
    inner = x509.Name([one]).public_bytes()
    for _level in range(3):
        inner = _content(inner)[0]
    return _content(inner)[1]


def _content(der: bytes) -> tuple[bytes, bytes]:
    """The content of the first element, and what stands behind it."""
    length, start = der[1], 2
    if length >= 0x80:
        start += length & 0x7F
        length = int.from_bytes(der[2:start], "big")
    return der[start : start + length], der[start + length :]

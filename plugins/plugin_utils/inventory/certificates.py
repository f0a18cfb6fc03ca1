# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Reads a node's certificate, key and trusted CAs on the control node and returns plain facts about them."""

from __future__ import annotations

import datetime
import itertools
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.x509.oid import ExtendedKeyUsageOID
except ImportError:  # ansible-core requires it, but its sanity test imports every file without it
    x509 = None  # type: ignore[assignment]

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.host_names import DNS, IP


def read_certificate(certificate_file: str, key_file: str, ca_file: str) -> dict[str, Any]:
    """The facts about one node's certificate; the rules on them stand in preflight/certificates.py.

    Returns {errors, common_name, subject, names, days_left, days_until, usages, signs, fits_key, trusted, no_cas,
    too_long}: errors are sentences about files that cannot be read, and what cannot be told then is None. ``names``
    are the subject alternative names with their types (DNS:kafka1, IP:10.0.0.1); ``subject`` is written as Java writes
    it; ``days_until`` is how long the certificate is not valid yet (0 when it is); ``usages`` are the purposes it is
    limited to (None for any), ``signs`` whether its key usage lets it sign a handshake; ``no_cas`` says why Java does
    not accept the trusted certificates that the chain leads to as CAs, where it leads to no other; ``too_long`` which
    of its intermediate CAs allow fewer CAs below them than there are, where that alone stands in the way.
    """
    errors: list[str] = []
    chain = _certificates(certificate_file, errors)
    trusted = _certificates(ca_file, errors)
    key = _key(key_file, errors)
    unknown = ("common_name", "subject", "names", "days_left", "days_until", "usages", "signs", "fits_key")
    facts: dict[str, Any] = {"errors": errors, **dict.fromkeys((*unknown, "trusted", "no_cas", "too_long"))}
    if chain:
        leaf, now = chain[0], datetime.datetime.now(datetime.UTC)
        names = leaf.subject.get_attributes_for_oid(x509.NameOID.COMMON_NAME)
        until = leaf.not_valid_before_utc - now
        facts.update(common_name=str(names[0].value) if names else "", subject=rfc2253(leaf.subject))
        facts.update(names=_names(leaf), usages=_usages(leaf), signs=_signs(leaf))
        facts.update(days_left=(leaf.not_valid_after_utc - now).days, days_until=max(0, until.days + 1))
        if trusted:
            facts["trusted"] = _reaches(chain, trusted)
            facts["no_cas"] = [] if facts["trusted"] else _no_cas(chain, trusted)
            refused = not facts["trusted"] and _reaches(chain, trusted, any_length=True)
            facts["too_long"] = _too_long(chain) if refused else []
        if key is not None:
            facts["fits_key"] = _public(leaf) == _public(key)
    return facts


def pem_certificates(text: str) -> tuple[str, ...]:
    """Each certificate of a text in PEM form, written in one way, so that two of them can be compared."""
    try:
        found = x509.load_pem_x509_certificates(text.encode())
    except ValueError:
        return ()
    return tuple(one.public_bytes(serialization.Encoding.PEM).decode() for one in found)


def described(pem: str) -> str:
    """The subject of a certificate and its fingerprint, as `openssl x509 -fingerprint -sha256` writes it."""
    one = x509.load_pem_x509_certificate(pem.encode())
    return f"{rfc2253(one.subject)} (SHA-256 {one.fingerprint(hashes.SHA256()).hex(':').upper()})"


def issuer(pem: str) -> str:
    """The name of who signed a certificate."""
    return rfc2253(x509.load_pem_x509_certificate(pem.encode()).issuer)


def reaches(chain: Sequence[str], trusted: Sequence[str], today: bool = False) -> bool:
    """Whether a chain in PEM form leads to one of these CAs; with `today`, by certificates that are valid now."""
    shown, roots = ([x509.load_pem_x509_certificate(pem.encode()) for pem in pems] for pems in (chain, trusted))
    return _reaches(shown, roots, datetime.datetime.now(datetime.UTC) if today else None)


def key_fits(pem: str, key_file: str) -> bool:
    """Whether the file holds the key of a certificate; keys of the development CA have no password."""
    try:
        key = serialization.load_pem_private_key(Path(key_file).read_bytes(), password=None)
    except (OSError, ValueError, TypeError):
        return False
    return _public(key) == _public(x509.load_pem_x509_certificate(pem.encode()))


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
    """The subject alternative names with their types; none where Java and OpenSSL cannot read them either."""
    try:
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (x509.ExtensionNotFound, ValueError):
        return []
    addresses = [f"{IP}:{address}" for address in names.get_values_for_type(x509.IPAddress)]
    return [*(f"{DNS}:{name}" for name in names.get_values_for_type(x509.DNSName)), *addresses]


def _usages(leaf: x509.Certificate) -> list[str] | None:
    """The purposes that the extended key usage names; None without it, or when it names any."""
    try:
        found = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return None
    if ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE in found:
        return None
    known = {ExtendedKeyUsageOID.SERVER_AUTH: "serverAuth", ExtendedKeyUsageOID.CLIENT_AUTH: "clientAuth"}
    return [known.get(one, one.dotted_string) for one in found]


def _signs(leaf: x509.Certificate) -> bool:
    """Whether the key may sign: Java wants digitalSignature of both sides of TLS 1.3 (EndEntityChecker)."""
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


def _reaches(
    chain: list[x509.Certificate],
    trusted: list[x509.Certificate],
    at: datetime.datetime | None = None,
    any_length: bool = False,
) -> bool:
    """Whether a trusted CA is met on the way up, each certificate signed by the next one, and valid at a time.

    Java does not ask for the dates of what it trusts itself, nor whether a certificate is a CA that is trusted itself,
    nor how many CAs a trusted one allows below it. C(any_length): nor is that asked of the others.
    """
    if chain and chain[0] in trusted:
        return True
    cas = [root for root in trusted if not _no_anchor(root)]
    for place, (one, by) in enumerate(itertools.zip_longest(chain, chain[1:])):
        if one in cas:
            return True
        if at is not None and not one.not_valid_before_utc <= at <= one.not_valid_after_utc:
            return False
        if any(_signed(one, root) for root in cas):
            return True
        if by is None or not _signed(one, by) or _no_ca(by):
            return False
        if by not in cas and not any_length and _depth(chain[1 : place + 1]) > _most_depth(by):
            return False
    return False


def _depth(cas: list[x509.Certificate]) -> int:
    """How many intermediate CAs count for the path length: those that another name issued (RFC 5280 6.1.4 l)."""
    return sum(one.subject != one.issuer for one in cas)


def _most_depth(ca: x509.Certificate) -> float:
    """How many intermediate CAs a CA certificate allows below it: its pathLenConstraint (RFC 5280 4.2.1.9)."""
    most = ca.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length
    return math.inf if most is None else most


def _too_long(chain: list[x509.Certificate]) -> list[str]:
    """Say which CAs of a chain allow fewer CAs below them than the chain has there."""
    return [
        f"{rfc2253(ca.subject)} has pathLenConstraint {_most_depth(ca)} and {_depth(chain[1:place])} CAs below it"
        for place, ca in enumerate(chain)
        if place and not _no_ca(ca) and _depth(chain[1:place]) > _most_depth(ca)
    ]


def _no_cas(chain: list[x509.Certificate], trusted: list[x509.Certificate]) -> list[str]:
    """Say of the trusted certificates that issued one of a chain why Java does not accept them as CAs."""
    issuers = [root for root in trusted if any(one == root or _signed(one, root) for one in chain)]
    return [f"{rfc2253(root.subject)} has {why}" for root in issuers if (why := _no_anchor(root))]


def _no_anchor(one: x509.Certificate) -> str:
    """Say why Java takes a certificate of the trust store for no CA, "" where it does.

    PKIXValidator.verifyTrustAnchor (JDK-8230318); it asks nothing of version 1, which has no extensions.
    """
    return "" if one.version is x509.Version.v1 else _no_ca(one)


def _no_ca(one: x509.Certificate) -> str:
    """Say what a certificate lacks to sign others, "" for nothing (RFC 5280 4.2.1.3, 4.2.1.9)."""
    try:
        if not one.extensions.get_extension_for_class(x509.BasicConstraints).value.ca:
            return "basicConstraints without CA:TRUE"
    except x509.ExtensionNotFound:
        return "no basicConstraints CA:TRUE"
    try:
        usage = one.extensions.get_extension_for_class(x509.KeyUsage).value
    except x509.ExtensionNotFound:
        return ""
    return "" if usage.key_cert_sign else "a keyUsage without keyCertSign"


def _signed(one: x509.Certificate, by: x509.Certificate) -> bool:
    try:
        one.verify_directly_issued_by(by)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return True


def _public(holder: Any) -> bytes:
    form = (serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return bytes(holder.public_key().public_bytes(*form))

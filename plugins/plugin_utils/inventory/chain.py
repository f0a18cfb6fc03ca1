# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The chain of certificates that a node shows: how it is put in order, and what Java and OpenSSL say of it.

Nodes judge each other with Java (PKIXValidator of the JDK), clients of librdkafka and Python with OpenSSL
(x509_vfy.c), and the two differ: OpenSSL asks of a trusted CA what it asks of any other one, wants a root at the end,
and knows an issuer by name and key identifier before it looks at the signature. A chain passes where both take it.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

try:
    from cryptography import x509
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
    from cryptography.hazmat.primitives.asymmetric import dsa, ec, padding, rsa
    from cryptography.x509.oid import ExtendedKeyUsageOID
except ImportError:  # ansible-core requires it, but its sanity test imports every file without it
    x509 = None  # type: ignore[assignment]

from .pem import public

#: More ways up than any chain has; a file with a whole distribution's CAs has no more either.
_WAYS = 50
#: Bits that the security level 2 of OpenSSL asks of a key (the default from 3.2 on, and of Debian and its like).
_RSA_BITS = 2048
#: The curves that Java and TLS 1.3 share; of keys on others Kafka reads some, and no handshake succeeds.
_CURVES = ("secp256r1", "secp384r1", "secp521r1")
_WEAK = ("md5", "sha1")
#: What is wrong with a chain: it leads nowhere, to a CA that is none, to two of one name, or to one that is no root;
#: a CA of it allows fewer CAs below it, ends, is for another purpose; a signature or a key is weak.
UNTRUSTED, NO_CA, AMBIGUOUS, NO_ROOT = "untrusted", "no_ca", "ambiguous", "no_root"
TOO_LONG, ENDED, PURPOSE, WEAK = "too_long", "ended", "purpose", "weak"


@dataclass(frozen=True)
class Fault:
    """What is wrong with a chain, and the certificate that shows it, in words."""

    kind: str
    found: str


Name = Callable[["x509.Name"], str]


def arranged(
    certificates: Sequence[x509.Certificate],
    keys: Sequence[Any],
    trusted: Sequence[x509.Certificate],
    at: datetime.datetime,
) -> list[x509.Certificate]:
    """Return the certificate that belongs to a key, then its issuers in order, and nothing else of a file.

    Where there are two ways up (a cross-signed CA), the first one that both engines take. Kafka refuses a store in
    which a certificate was not issued by the next one.
    """
    fitting = [one for one in certificates if any(public(one) == public(key) for key in keys)]
    leaf = next(iter(fitting or certificates))
    ways = list(itertools.islice(_ways([leaf], certificates), _WAYS))
    return next((way for way in ways if not faults(way, trusted, at)), ways[0])


def _ways(way: list[x509.Certificate], others: Sequence[x509.Certificate]) -> Iterator[list[x509.Certificate]]:
    """Yield each chain that begins with these certificates and goes up as far as the others reach."""
    top = way[-1]
    above: list[x509.Certificate] = []
    if not is_root(top):
        above = [one for one in dict.fromkeys(others) if one not in way and signed(top, one)]
    for one in above:
        yield from _ways([*way, one], others)
    if not above:
        yield way


def faults(
    chain: Sequence[x509.Certificate],
    trusted: Sequence[x509.Certificate],
    at: datetime.datetime,
    openssl: bool = True,
    name: Name = lambda found: found.rfc4514_string(),
) -> list[Fault]:
    """Return why a chain in order is refused, empty where Java and, with C(openssl), OpenSSL take it.

    The dates of its first certificate are not asked. name -- writes the name of a certificate.
    """
    found = []
    if openssl:
        path, stopped = _way_of_openssl(chain, trusted, at, name)
        found = [*stopped, *_in_path(path, at, name)]
    first = chain[0]
    today = at if first.not_valid_before_utc <= at <= first.not_valid_after_utc else None
    if not found and not reaches(chain, trusted, today):
        found = _of_java(chain, trusted, today, name)
    return found


def _way_of_openssl(
    chain: Sequence[x509.Certificate], trusted: Sequence[x509.Certificate], at: datetime.datetime, name: Name
) -> tuple[list[x509.Certificate], list[Fault]]:
    """Return the certificates that OpenSSL goes through, what is trusted before what is shown, and where it stops."""
    path, rest, anchored = [chain[0]], list(chain[1:]), False
    while True:
        top = path[-1]
        if is_root(top):
            if anchored or top in trusted:
                return path, []
            return path, [Fault(UNTRUSTED, f"{name(top.subject)} is a root that is not trusted")]
        known = [one for one in trusted if one not in path and _may_have_signed(top, one)]
        if known:
            taken = [one for one in known if _is_valid(one, at)] or known
            if not any(signed(top, one) for one in known):
                who = f"the trusted {name(top.issuer)} did not sign {name(top.subject)}, only its name is the same"
                return path, [Fault(UNTRUSTED, who)]
            if not all(signed(top, one) for one in taken):
                who = f"{len(known)} trusted CAs are called {name(top.issuer)}, and no key identifier tells which"
                return path, [Fault(AMBIGUOUS, f"{who} signed {name(top.subject)}")]
            path, anchored = [*path, taken[0]], True
            continue
        if anchored:
            return path, [Fault(NO_ROOT, f"{name(top.subject)} was issued by {name(top.issuer)}, which is not there")]
        above = next((one for one in rest if signed(top, one)), None)
        if above is None:
            who = f"{name(top.issuer)}, which issued {name(top.subject)}, is neither behind it nor trusted"
            return path, [Fault(UNTRUSTED, who)]
        path = [*path, above]
        rest.remove(above)


def _in_path(path: Sequence[x509.Certificate], at: datetime.datetime, name: Name) -> Iterator[Fault]:
    """Yield what OpenSSL finds in the certificates that it goes through, from the last one down."""
    for place, ca in enumerate(path):
        if not place:
            continue
        if (why := no_ca(ca)) and not (ca.version is x509.Version.v1 and is_root(ca)):
            yield Fault(NO_CA if place == len(path) - 1 else UNTRUSTED, f"{name(ca.subject)} has {why}")
        elif (below := depth(path[1:place])) > most_depth(ca):
            yield Fault(TOO_LONG, f"{name(ca.subject)} has pathLenConstraint {most_depth(ca)} and {below} CAs below it")
        if not _is_valid(ca, at):
            yield Fault(ENDED, f"{name(ca.subject)} is valid from {ca.not_valid_before_utc:%F} to {_end(ca)}")
        if usages := _other_purposes(ca):
            yield Fault(PURPOSE, f"{name(ca.subject)} has extended key usage {usages}")
    for place, one in enumerate(path):
        if why := _weak_key(one):
            yield Fault(WEAK, f"{name(one.subject)} has {why}")
        if place < len(path) - 1 and (why := _weak_signature(one)):
            yield Fault(WEAK, f"{name(one.subject)} is signed with {why}")


def _end(one: x509.Certificate) -> str:
    return f"{one.not_valid_after_utc:%F}"


def _of_java(
    chain: Sequence[x509.Certificate], trusted: Sequence[x509.Certificate], at: datetime.datetime | None, name: Name
) -> list[Fault]:
    """Return why Java refuses a chain that it refuses."""
    issuers = [root for root in trusted if any(one == root or signed(one, root) for one in chain)]
    if bad := [f"{name(root.subject)} has {why}" for root in issuers if (why := no_anchor(root))]:
        return [Fault(NO_CA, "; ".join(bad))]
    if at is not None and reaches(chain, trusted):
        ended = [f"{name(one.subject)} is valid until {_end(one)}" for one in chain[1:] if not _is_valid(one, at)]
        return [Fault(ENDED, "; ".join(ended))]
    if reaches(chain, trusted, any_length=True):
        return [Fault(TOO_LONG, "; ".join(_too_long(chain, name)))]
    top = chain[-1]
    return [Fault(UNTRUSTED, f"{name(top.issuer)}, which issued {name(top.subject)}, is not trusted")]


def reaches(
    chain: Sequence[x509.Certificate],
    trusted: Sequence[x509.Certificate],
    at: datetime.datetime | None = None,
    any_length: bool = False,
) -> bool:
    """Say whether Java meets a trusted CA on the way up, each certificate signed by the next one, and valid at a time.

    Java does not ask for the dates of what it trusts itself, nor whether a certificate is a CA that is trusted itself,
    nor how many CAs a trusted one allows below it. C(any_length): nor is that asked of the others.
    """
    if chain and chain[0] in trusted:
        return True
    cas = [root for root in trusted if not no_anchor(root)]
    for place, (one, by) in enumerate(itertools.zip_longest(chain, chain[1:])):
        if one in cas:
            return True
        if at is not None and not _is_valid(one, at):
            return False
        if any(signed(one, root) for root in cas):
            return True
        if by is None or not signed(one, by) or no_ca(by):
            return False
        if by not in cas and not any_length and depth(chain[1 : place + 1]) > most_depth(by):
            return False
    return False


def depth(cas: Sequence[x509.Certificate]) -> int:
    """Return how many intermediate CAs count for the path length: those that another name issued (RFC 5280 6.1.4 l)."""
    return sum(one.subject != one.issuer for one in cas)


def most_depth(ca: x509.Certificate) -> float:
    """Return how many intermediate CAs a CA certificate allows below it: its pathLenConstraint (RFC 5280 4.2.1.9)."""
    try:
        most = ca.extensions.get_extension_for_class(x509.BasicConstraints).value.path_length
    except x509.ExtensionNotFound:
        return math.inf
    return math.inf if most is None else most


def _too_long(chain: Sequence[x509.Certificate], name: Name) -> list[str]:
    """Say which CAs of a chain allow fewer CAs below them than the chain has there."""
    return [
        f"{name(ca.subject)} has pathLenConstraint {most_depth(ca)} and {depth(chain[1:place])} CAs below it"
        for place, ca in enumerate(chain)
        if place and not no_ca(ca) and depth(chain[1:place]) > most_depth(ca)
    ]


def no_anchor(one: x509.Certificate) -> str:
    """Say why Java takes a certificate of the trust store for no CA, "" where it does.

    PKIXValidator.verifyTrustAnchor (JDK-8230318); it asks nothing of version 1, which has no extensions.
    """
    return "" if one.version is x509.Version.v1 else no_ca(one)


def no_ca(one: x509.Certificate) -> str:
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


def signed(one: x509.Certificate, by: x509.Certificate) -> bool:
    """Return whether a certificate was signed by another one, of the name that it says."""
    return _signature(one, by) is True


def is_root(one: x509.Certificate) -> bool:
    """Return whether a certificate was signed by itself."""
    return bool(one.issuer == one.subject) and signed(one, one)


def _may_have_signed(one: x509.Certificate, by: x509.Certificate) -> bool:
    """Say whether OpenSSL takes a certificate for the issuer, by its name and key identifier, before any signature."""
    if _signature(one, by) is None:
        return False
    try:
        wanted = one.extensions.get_extension_for_class(x509.AuthorityKeyIdentifier).value.key_identifier
        has = by.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value.digest
    except x509.ExtensionNotFound:
        return True
    return wanted is None or wanted == has


def _signature(one: x509.Certificate, by: x509.Certificate) -> bool | None:
    """Say whether the key of a certificate signed another one, None where their names or algorithms do not fit."""
    try:
        one.verify_directly_issued_by(by)
    except InvalidSignature:
        return False
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return _old_signature(one, by) if one.issuer == by.subject else None
    return True


def _old_signature(one: x509.Certificate, by: x509.Certificate) -> bool | None:
    """Verify a signature with SHA-1 or MD5, which the library knows, and refuses in a certificate."""
    try:
        digest, key, parts = one.signature_hash_algorithm, by.public_key(), (one.signature, one.tbs_certificate_bytes)
        if digest is None or digest.name not in _WEAK:
            return None
        if isinstance(key, rsa.RSAPublicKey):
            key.verify(*parts, padding.PKCS1v15(), digest)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            key.verify(*parts, ec.ECDSA(digest))
        else:
            return None
    except (InvalidSignature, UnsupportedAlgorithm, ValueError):
        return False
    return True


def _is_valid(one: x509.Certificate, at: datetime.datetime) -> bool:
    return bool(one.not_valid_before_utc <= at <= one.not_valid_after_utc)


def _other_purposes(ca: x509.Certificate) -> str:
    """Return what a CA certificate is limited to where that is not servers; "any" is none for OpenSSL."""
    try:
        usages = ca.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        return ""
    if ExtendedKeyUsageOID.SERVER_AUTH in usages:
        return ""
    named = {ExtendedKeyUsageOID.CLIENT_AUTH: "clientAuth", ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE: "any"}
    return ", ".join(named.get(one, one.dotted_string) for one in usages) or "without any"


def _weak_key(one: x509.Certificate) -> str:
    try:
        key = one.public_key()
    except (ValueError, UnsupportedAlgorithm):
        return ""
    if isinstance(key, (rsa.RSAPublicKey, dsa.DSAPublicKey)) and key.key_size < _RSA_BITS:
        return f"a key of {key.key_size} bits"
    if isinstance(key, ec.EllipticCurvePublicKey):
        return "" if key.curve.name in _CURVES else f"a key on the curve {key.curve.name}"
    return "" if isinstance(key, (rsa.RSAPublicKey, dsa.DSAPublicKey)) else "a key that is neither RSA nor EC"


def _weak_signature(one: x509.Certificate) -> str:
    try:
        used = one.signature_hash_algorithm
    except UnsupportedAlgorithm:
        return "an algorithm that is no longer known"
    return used.name.upper().replace("SHA1", "SHA-1") if used is not None and used.name in _WEAK else ""

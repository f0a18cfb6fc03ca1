"""Files of a certificate as people bring them: in order, and with more in them, beside them or around them."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec

from tests.support.certificates import Issued, issue

#: What is in the files of certificate, key and CAs.
Files = tuple[bytes, bytes, bytes]
NAMES = ("10.0.0.1", "kafka1")


def identified(name: str, by: Issued | None = None, **more: Any) -> Issued:
    """Issue a certificate with the key identifiers by which OpenSSL tells CAs of one name apart."""
    key = ec.generate_private_key(ec.SECP256R1())
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    issuers = x509.AuthorityKeyIdentifier.from_issuer_public_key((by.key if by else key).public_key())
    return issue(name, by=by, key=key, extensions=(own, issuers), **more)


def ca_by_sha1(name: str, by: Issued) -> Issued:
    """Issue a CA with a signature of SHA-1, by the program, as the library refuses to."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        by.write(place, "ca")
        made = issue(name, ca=True)
        made.write(place, "own")
        (place / "extensions").write_text("basicConstraints = critical, CA:TRUE\n")
        for command in (
            f"req -new -key own.key -out request -subj /CN={name}",
            "x509 -req -in request -CA ca.pem -CAkey ca.key -sha1 -extfile extensions -out issued",
        ):
            subprocess.run(["openssl", *command.split()], cwd=place, check=True, capture_output=True)
        return Issued(x509.load_pem_x509_certificate((place / "issued").read_bytes()), made.key)


def rsa_pss(name: str, by: Issued, names: str, place: Path) -> tuple[Path, Path]:
    """Issue a certificate for a key that is for RSA-PSS only, which Kafka cannot load; its file and that of the key."""
    certificate, key = place / f"{name}.pem", place / f"{name}.key"
    with tempfile.TemporaryDirectory() as folder:
        by.write(Path(folder), "ca")
        (Path(folder) / "extensions").write_text(f"subjectAltName = {names}\n")
        for command in (
            f"genpkey -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:2048 -out {key}",
            f"req -new -key {key} -out request -subj /CN={name}",
            f"x509 -req -in request -CA ca.pem -CAkey ca.key -days 90 -extfile extensions -out {certificate}",
        ):
            subprocess.run(["openssl", *command.split()], cwd=folder, check=True, capture_output=True)
    return certificate, key


def _parts() -> tuple[Issued, Issued, Issued]:
    root = issue("root", ca=True)
    between = issue("between", by=root, ca=True)
    return root, between, issue("kafka1", by=between, names=NAMES)


def in_order() -> Files:
    """The certificate, then its issuer."""
    root, between, leaf = _parts()
    return leaf.pem() + between.pem(), leaf.key_pem(), root.pem()


def with_an_older_root() -> Files:
    """Another root behind the chain, which has issued nothing of it."""
    root, between, leaf = _parts()
    return leaf.pem() + between.pem() + issue("older root", ca=True).pem(), leaf.key_pem(), root.pem()


def with_the_issuer_twice() -> Files:
    """The issuing CA twice."""
    root, between, leaf = _parts()
    return leaf.pem() + between.pem() + between.pem(), leaf.key_pem(), root.pem()


def with_its_root() -> Files:
    """The root behind the chain."""
    root, between, leaf = _parts()
    return leaf.pem() + between.pem() + root.pem(), leaf.key_pem(), root.pem()


def root_first() -> Files:
    """The other way round."""
    root, between, leaf = _parts()
    return root.pem() + between.pem() + leaf.pem(), leaf.key_pem(), root.pem()


def one_bundle() -> Files:
    """One file for key and certificates, named twice."""
    root, between, leaf = _parts()
    bundle = leaf.key_pem() + leaf.pem() + between.pem()
    return bundle, bundle, root.pem()


def two_keys() -> Files:
    """The key of a certificate before, and its own."""
    root, between, leaf = _parts()
    return leaf.pem() + between.pem(), issue("x").key_pem() + leaf.key_pem(), root.pem()


def with_comments() -> Files:
    """Comments in Latin-1 around everything."""
    root, between, leaf = _parts()
    said = "# Schlüssel für Zürich\n".encode("latin-1")
    return said + leaf.pem() + said + between.pem(), said + leaf.key_pem(), said + root.pem() + said


def with_a_request() -> Files:
    """A signing request beside the certificate."""
    root, between, leaf = _parts()
    request = b"-----BEGIN CERTIFICATE REQUEST-----\nMIIB\n-----END CERTIFICATE REQUEST-----\n"
    return request + leaf.pem() + between.pem(), leaf.key_pem(), root.pem()


def cross_signed() -> Files:
    """The trusted root, signed by an older root that has expired, behind the chain, and that one too."""
    old = issue("old root", ca=True, days=-3)
    root = issue("root", ca=True)
    crossed = issue("root", by=old, ca=True, key=root.key)
    between = issue("between", by=root, ca=True)
    leaf = issue("kafka1", by=between, names=NAMES)
    chain = leaf.pem() + between.pem() + crossed.pem() + old.pem()
    return chain, leaf.key_pem(), root.pem()


def two_ways() -> Files:
    """The issuing CA, signed by a root that is not trusted and by one that is."""
    other, root = issue("other root", ca=True), issue("root", ca=True)
    first = issue("between", by=other, ca=True)
    second = issue("between", by=root, ca=True, key=first.key)
    leaf = issue("kafka1", by=first, names=NAMES)
    return leaf.pem() + first.pem() + other.pem() + second.pem(), leaf.key_pem(), root.pem()


def renewed_root() -> Files:
    """A root that ended and was issued again for the same key; both are trusted."""
    old = issue("root", ca=True, days=-3)
    new = issue("root", ca=True, key=old.key)
    leaf = issue("kafka1", by=old, names=NAMES)
    return leaf.pem(), leaf.key_pem(), old.pem() + new.pem()


def crlf() -> Files:
    """Files of Windows."""
    certificate, key, ca = in_order()
    return tuple(one.replace(b"\n", b"\r\n") for one in (certificate, key, ca))  # type: ignore[return-value]


#: By what is remarkable about them; a node starts with any of these, and every client takes it.
LAYOUTS: dict[str, Callable[[], Files]] = {
    one.__name__: one
    for one in (
        *(in_order, with_an_older_root, with_the_issuer_twice, with_its_root, root_first, one_bundle, two_keys),
        *(with_comments, with_a_request, cross_signed, two_ways, renewed_root, crlf),
    )
}

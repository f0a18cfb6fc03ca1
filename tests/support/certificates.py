"""Certificates for tests, made here so that any of their fields can be wrong.

As a program: python -m tests.support.certificates DIRECTORY NAME=ADDRESS... writes a CA (ca.pem, ca.key) and for each
name a certificate that its addresses (separated by commas) may show (NAME.pem, NAME.key); a directory that has a CA is
left alone.
"""

from __future__ import annotations

import datetime
import inspect
import ipaddress
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

DAY = datetime.timedelta(days=1)


@dataclass
class Issued:
    """A certificate with its key."""

    certificate: x509.Certificate
    key: Any

    def pem(self) -> bytes:
        """The certificate as text."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    def key_pem(self, password: bytes = b"", form: Any = serialization.PrivateFormat.PKCS8) -> bytes:
        """The key as text, sealed when there is a password."""
        sealed = serialization.BestAvailableEncryption(password) if password else serialization.NoEncryption()
        return self.key.private_bytes(serialization.Encoding.PEM, form, sealed)

    def write(self, directory: Path, name: str) -> tuple[Path, Path]:
        """Both, as NAME.pem and NAME.key; returns the two files."""
        certificate, key = directory / f"{name}.pem", directory / f"{name}.key"
        certificate.write_bytes(self.pem())
        key.touch(mode=0o600)
        key.write_bytes(self.key_pem())
        return certificate, key


def issue(
    name: str,
    by: Issued | None = None,
    days: int = 90,
    names: tuple[str, ...] = (),
    ca: bool | None = False,
    more: tuple[x509.NameAttribute[Any], ...] = (),
    extensions: tuple[x509.ExtensionType, ...] = (),
    begins: int = -400,
    path_length: int | None = None,
    bits: int = 0,
    key: Any = None,
) -> Issued:
    """A certificate of `name` for the alternative `names`, signed by another or by itself, ending in so many days.

    ca -- what basicConstraints say, None for none; path_length -- how many CAs they allow below it. more -- attributes
    of the subject behind the common name; extensions -- usages, say; begins -- in how many days. bits -- of an RSA key
    instead of one on a curve; key -- one that is there already.
    """
    if key is None:
        key = rsa.generate_private_key(65537, bits) if bits else ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name), *more])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(by.certificate.subject if by else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + begins * DAY)
        .not_valid_after(now + days * DAY + datetime.timedelta(hours=1))
    )
    if ca is not None:
        builder = builder.add_extension(x509.BasicConstraints(ca=ca, path_length=path_length), critical=True)
    if names:
        alternatives = [_general(one) for one in names]
        builder = builder.add_extension(x509.SubjectAlternativeName(alternatives), critical=False)
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return Issued(builder.sign(by.key if by else key, hashes.SHA256()), key)


def aged(shown: x509.Certificate, by: Issued, days: int) -> x509.Certificate:
    """Issue a certificate again, for the same key and with the same extensions, so that it ends in so many days."""
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(shown.subject)
        .issuer_name(by.certificate.subject)
        .public_key(shown.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - 400 * DAY)
        .not_valid_after(now + days * DAY)
    )
    for extension in shown.extensions:
        builder = builder.add_extension(extension.value, critical=extension.critical)
    return builder.sign(by.key, hashes.SHA256())


def _general(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def read(directory: Path, name: str) -> Issued:
    """What `write` wrote."""
    key = serialization.load_pem_private_key((directory / f"{name}.key").read_bytes(), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return Issued(x509.load_pem_x509_certificate((directory / f"{name}.pem").read_bytes()), key)


def main(directory: Path, nodes: list[str]) -> None:
    """See the words of this file."""
    if (directory / "ca.pem").exists():
        print(f"{directory} has a CA already")
        return
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    # What Python asks of a CA and of certificates from 3.13 on (VERIFY_X509_STRICT), as those of companies have it.
    key = ec.generate_private_key(ec.SECP256R1())
    signs = {name: name == "key_cert_sign" for name in inspect.signature(x509.KeyUsage).parameters}
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    root = issue("CA of the tests", ca=True, key=key, extensions=(own, x509.KeyUsage(**signs)))
    above = x509.AuthorityKeyIdentifier.from_issuer_public_key(key.public_key())
    for node in nodes:
        name, addresses = node.split("=")
        issue(name, by=root, names=tuple(addresses.split(",")), extensions=(above,)).write(directory, name)
    root.write(directory, "ca")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

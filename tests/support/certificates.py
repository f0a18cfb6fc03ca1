"""Certificate authorities and certificates for tests, made in memory and written as the PEM files that users bring."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec


@dataclass(frozen=True)
class Authority:
    """A CA: its certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    def pem(self) -> str:
        """Its certificate."""
        return _pem(self.certificate)

    def issue(self, directory: Path, name: str, addresses: tuple[str, ...] = ()) -> tuple[Path, Path]:
        """Writes NAME.pem and NAME.key for this common name and these IP addresses; returns the two files."""
        key = ec.generate_private_key(ec.SECP256R1())
        names: list[x509.GeneralName] = [x509.DNSName(name)]
        names += [x509.IPAddress(ipaddress.ip_address(one)) for one in addresses]
        leaf = _builder(name, self.certificate.subject, key, False)
        leaf = leaf.add_extension(x509.SubjectAlternativeName(names), critical=False)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{name}.pem").write_text(_pem(leaf.sign(self.key, hashes.SHA256())))
        text = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (directory / f"{name}.key").write_bytes(text)
        return directory / f"{name}.pem", directory / f"{name}.key"


def authority(name: str) -> Authority:
    """A new CA of this name."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    return Authority(_builder(name, subject, key, True).sign(key, hashes.SHA256()), key)


def _builder(name: str, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, is_ca: bool) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=90))
        .add_extension(x509.BasicConstraints(ca=is_ca, path_length=None), critical=True)
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()

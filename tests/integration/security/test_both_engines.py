"""Certificates as preflight, Kafka's own SslFactory and OpenSSL judge them: what passes here, both of them take."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from cryptography.x509.oid import ExtendedKeyUsageOID

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.certificates import read_certificate
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.host_names import covers
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.pem_files import stored
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.certificates import keystore
from tests.support.certificate_files import LAYOUTS, Files, ca_by_sha1, identified
from tests.support.certificates import Issued, issue
from tests.support.openssl_verdict import openssl_verdict

PROGRAM = Path(__file__).resolve().parents[2] / "support" / "SslVerdicts.java"
SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH
ANY = ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE


@dataclass(frozen=True)
class Case:
    """The files of a certificate and the host that clients look for; passes -- what preflight shall say of it."""

    files: Files
    host: str
    passes: bool


def of(leaf: Issued, *above: Issued, trusted: tuple[Issued, ...], host: str, passes: bool) -> Case:
    """A certificate with its chain in order."""
    chain = b"".join(one.pem() for one in (leaf, *above))
    return Case((chain, leaf.key_pem(), b"".join(one.pem() for one in trusted)), host, passes)


def names() -> Iterator[tuple[str, Case]]:
    """Names and addresses, right and wrong."""
    root = issue("root", ca=True)
    for shown, host, passes in (
        ("kafka1.lan", "kafka1.lan", True),
        ("KAFKA1.LAN", "kafka1.lan", True),
        ("kafka1.lan", "KAFKA1.lan", True),
        ("kafka1.lan", "kafka1.lan.", False),
        ("kafka1.lan.", "kafka1.lan", False),
        ("kafka1.lan.", "kafka1.lan.", False),
        ("kafka_1.lan", "kafka_1.lan", False),
        ("xn--bcher-kva.lan", "xn--bcher-kva.lan", True),
        ("*.lan", "kafka1.lan", False),
        ("*", "kafka1", False),
        ("*.a.lan", "kafka1.a.lan", True),
        ("*.a.lan", "xn--bcher-kva.a.lan", True),
        ("*.a.lan", "b.kafka1.a.lan", False),
        ("kafka*.a.lan", "kafka1.a.lan", False),
        ("kafka1.*.lan", "kafka1.a.lan", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("fd00::1", "fd00::1", True),
        ("10.0.0.1", "::ffff:10.0.0.1", False),
        ("::ffff:10.0.0.1", "10.0.0.1", False),
    ):
        yield (
            f"name {shown} for {host}",
            of(issue("x", by=root, names=(shown,)), trusted=(root,), host=host, passes=passes),
        )
    for text in ("127.0.0.1", "127.0.0.*", "fd00::1"):
        typed = x509.SubjectAlternativeName([x509.DNSName(text)])
        leaf = issue("x", by=root, extensions=(typed,))
        yield f"DNS {text}", of(leaf, trusted=(root,), host=text.replace("*", "1"), passes=False)


def made(**between: Any) -> tuple[Issued, Issued, Issued]:
    """A root, a CA below it with these fields, and a certificate of that."""
    root = issue("root", ca=True)
    middle = issue("between", by=root, ca=True, **between)
    return root, middle, issue("x", by=middle, names=("kafka1",))


def chains() -> Iterator[tuple[str, Case]]:
    """Chains that one of the engines refuses, and those that are near to them."""
    host = "kafka1"
    for name, fields, passes in (
        ("a CA between", {}, True),
        ("expired", {"days": -3}, False),
        ("of tomorrow", {"begins": 1}, False),
        ("for clients", {"extensions": (x509.ExtendedKeyUsage([CLIENT]),)}, False),
        ("for any", {"extensions": (x509.ExtendedKeyUsage([ANY]),)}, False),
        ("for servers", {"extensions": (x509.ExtendedKeyUsage([SERVER, CLIENT]),)}, True),
        ("of 1024 bits", {"bits": 1024}, False),
        ("of 2048 bits", {"bits": 2048}, True),
        ("on P-384", {"key": ec.generate_private_key(ec.SECP384R1())}, True),
        ("no CA", {"path_length": None, "extensions": (no_signer(),)}, False),
    ):
        root, middle, leaf = made(**fields)
        yield f"chain {name}", of(leaf, middle, trusted=(root,), host=host, passes=passes)
    root, middle, leaf = made()
    old = ca_by_sha1("between", root)
    by_old = issue("x", by=old, names=(host,))
    yield "chain SHA-1", of(by_old, old, trusted=(root,), host=host, passes=False)
    yield "chain incomplete", of(leaf, trusted=(root,), host=host, passes=False)
    yield "chain no root", of(leaf, trusted=(middle,), host=host, passes=False)
    yield "chain both trusted", of(leaf, trusted=(middle, root), host=host, passes=True)
    for length, passes in ((0, False), (1, True)):
        top = issue("top", ca=True, path_length=length)
        lower = issue("lower", by=top, ca=True)
        case = of(issue("x", by=lower, names=(host,)), lower, trusted=(top,), host=host, passes=passes)
        yield f"chain root allows {length}", case
    ended = issue("ended", ca=True, days=-3)
    yield "chain root ended", of(issue("x", by=ended, names=(host,)), trusted=(ended,), host=host, passes=False)
    self_signed = issue("x", names=(host,))
    yield "chain trusted itself", of(self_signed, trusted=(self_signed,), host=host, passes=True)
    for name, make, passes in (("one name", issue, False), ("identified", identified, True)):
        first, second = (make("CA", ca=True) for _ in range(2))
        for by in (first, second):
            leaf = make("x", by=by, names=(host,))
            which = "first" if by is first else "second"
            yield f"chain {name} {which}", of(leaf, trusted=(first, second), host=host, passes=passes)
    foreign = issue("x", by=issue("root", ca=True), names=(host,))
    yield "chain of a namesake", of(foreign, trusted=(root,), host=host, passes=False)
    for usages, passes in (([SERVER, CLIENT], True), ([ANY], False), ([CLIENT], False)):
        leaf = issue("x", by=root, names=(host,), extensions=(x509.ExtendedKeyUsage(usages),))
        yield f"usage {len(usages)} {usages[0].dotted_string}", of(leaf, trusted=(root,), host=host, passes=passes)
    for name, key, passes in (
        ("secp256k1", ec.generate_private_key(ec.SECP256K1()), False),
        ("P-521", ec.generate_private_key(ec.SECP521R1()), True),
        ("Ed25519", ed25519.Ed25519PrivateKey.generate(), False),
    ):
        yield f"key {name}", of(issue("x", by=root, names=(host,), key=key), trusted=(root,), host=host, passes=passes)
    for name, more in (("ended", {"days": -3}), ("of tomorrow", {"begins": 1})):
        yield f"leaf {name}", of(issue("x", by=root, names=(host,), **more), trusted=(root,), host=host, passes=False)


def no_signer() -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True, content_commitment=False, key_encipherment=False, data_encipherment=False,
        key_agreement=False, key_cert_sign=False, crl_sign=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


def passes(facts: dict[str, Any], host: str) -> bool:
    """Whether no rule on certificates has anything against these facts, for a node that clients meet."""
    allowed = facts["usages"] is None or "serverAuth" in facts["usages"]
    dates = facts["days_left"] >= 0 and not facts["days_until"]
    return not facts["errors"] and not facts["faults"] and dates and allowed and covers(facts["names"], host)


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    found = {**dict(names()), **dict(chains())}
    found.update({f"layout {name}": Case(make(), "10.0.0.1", True) for name, make in LAYOUTS.items()})
    return found


def test_what_passes_is_taken_by_java_and_by_openssl(
    cases: dict[str, Case], tmp_path: Path, kafka_release: Callable[[str], Path]
) -> None:
    ours, openssl = {}, {}
    for number, (name, case) in enumerate(cases.items()):
        texts = stored(dict(zip(("certificate", "key", "truststore"), case.files, strict=True)))
        store, trust, host = (tmp_path / f"{number}.{part}" for part in ("store", "trust", "host"))
        store.write_text(keystore(texts))
        trust.write_text(f"{texts['truststore']}\n")
        host.write_text(case.host)
        paths = [tmp_path / f"{number}.{part}" for part in ("certificate", "key", "ca")]
        for path, content in zip(paths, case.files, strict=True):
            path.write_bytes(content)
        ours[name] = passes(read_certificate(*map(str, paths)), case.host)
        openssl[name] = [said for level in (1, 2) if (said := openssl_verdict(store, trust, case.host, level))]
    libraries = str(kafka_release("4.3.1") / "libs" / "*")
    command = ["java", "-Xmx256m", "-cp", libraries, str(PROGRAM), str(tmp_path)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    lines = dict(line.split("\t") for line in told.stdout.splitlines() if "\t" in line)
    java = {name: lines[str(number)] for number, name in enumerate(cases)}
    wrong = {name: (java[name], openssl[name]) for name in cases if ours[name] and (java[name] or openssl[name])}
    assert not wrong, "passes here, and an engine refuses it"
    strict = [name for name in cases if not ours[name] and not java[name] and not openssl[name]]
    # Of two namesakes OpenSSL takes the right one by chance.
    assert set(strict) <= {f"chain one name {which}" for which in ("first", "second")}
    assert {name: passed for name, passed in ours.items() if passed != cases[name].passes} == {}
    assert any(java.values())
    assert any(openssl.values())

"""Own certificates, made here with every mistake that people make, read from files and judged by preflight."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization

from ansible_collections.streamops.kafka.plugins.module_utils._preflight_inventory import Inventory, build_node
from ansible_collections.streamops.kafka.plugins.module_utils._preflight_rules import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.certificate_reader import read_certificate
from tests.support.certificates import Issued, issue
from tests.support.preflight_inventories import combined

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "PLAINTEXT", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"},
]


@pytest.fixture(scope="module")
def root() -> Issued:
    return issue("root", ca=True)


@pytest.fixture(scope="module")
def between(root: Issued) -> Issued:
    return issue("between", by=root, ca=True)


def judged(tmp_path: Path, certificate: bytes, key: bytes, ca: bytes) -> list[str]:
    """What preflight says about the node kafka1 at 10.0.0.1 with these files."""
    paths = {"kafka_tls_certificate_file": certificate, "kafka_tls_key_file": key, "kafka_tls_ca_file": ca}
    variables: dict[str, Any] = {"kafka_listeners": LISTENERS, "kafka_tls_source": "files"}
    for name, content in paths.items():
        variables[name] = str(tmp_path / name)
        (tmp_path / name).write_bytes(content)
    nodes = list(combined(**variables).nodes)
    first = nodes[0]
    facts = read_certificate(*(variables[name] for name in paths))
    nodes[0] = build_node(
        first.name, controller=True, broker=True, variables=first.variables, undefined={}, certificate=facts
    )
    return [f"{one.level} {one.sentence()}" for one in check_inventory(Inventory(tuple(nodes)))]


def test_a_certificate_with_its_chain_is_fine(tmp_path: Path, root: Issued, between: Issued) -> None:
    leaf = issue("kafka1", by=between, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem() + between.pem(), leaf.key_pem(), root.pem()) == []


def test_two_trusted_cas_are_fine_while_one_replaces_the_other(tmp_path: Path, root: Issued) -> None:
    leaf = issue("kafka1", by=root, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem(), leaf.key_pem(), issue("new root", ca=True).pem() + root.pem()) == []


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("chain", ["does not lead to a trusted CA", "append the intermediate"]),
        ("ca", ["does not lead to a trusted CA"]),
        ("key", ["the key does not belong"]),
        ("encrypted", ["is encrypted", "without a password"]),
        ("pkcs1", ["PKCS 8", "openssl pkcs8"]),
        ("garbage", ["no certificate in PEM form"]),
        ("ended", ["error", "has ended", "days left"]),
        ("soon", ["warning", "ends soon", "9 days left"]),
        ("address", ["does not name what the node advertises", "also 10.0.0.1"]),
        ("unnamed", ["no name"]),
        ("other", ["warning", "not in the node's name", "CN=kafka9"]),
    ],
)
def test_each_mistake_is_named(mistake: str, words: list[str], tmp_path: Path, root: Issued, between: Issued) -> None:
    names = {"address": ("10.0.0.9", "kafka1"), "unnamed": ()}.get(mistake, ("10.0.0.1", "kafka1"))
    days = {"ended": -3, "soon": 9}.get(mistake, 90)
    by = between if mistake == "chain" else root
    leaf = issue("kafka9" if mistake == "other" else "kafka1", by=by, days=days, names=names)
    key = {
        "key": issue("kafka1").key_pem(),
        "encrypted": leaf.key_pem(b"sesame"),
        "pkcs1": leaf.key_pem(form=serialization.PrivateFormat.TraditionalOpenSSL),
    }.get(mistake, leaf.key_pem())
    ca = issue("foreign", ca=True).pem() if mistake == "ca" else root.pem()
    told = judged(tmp_path, b"-----BEGIN" if mistake == "garbage" else leaf.pem(), key, ca)
    assert any(all(word in line for word in words) for line in told), told


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    found = read_certificate(str(tmp_path / "a.pem"), str(tmp_path / "a.key"), str(tmp_path / "ca.pem"))
    assert [error.rpartition("/")[2] for error in found["errors"]] == [
        "a.pem: No such file or directory",
        "ca.pem: No such file or directory",
        "a.key: No such file or directory",
    ]


def test_a_wildcard_stands_for_one_label(tmp_path: Path, root: Issued) -> None:
    leaf = issue("kafka1", by=root, names=("*.example.com",))
    told = judged(tmp_path, leaf.pem(), leaf.key_pem(), root.pem())
    assert any("also 10.0.0.1" in line for line in told)


@pytest.mark.parametrize(
    ("name", "days", "words"),
    [
        ("admin", 90, []),
        ("orders", 90, ["warning", "in nobody's name", "CN=orders", "CN=admin"]),
        ("admin", -3, ["error", "has ended", "kafka_admin_certificate_file"]),
    ],
)
def test_the_administrators_certificate_is_judged_too(
    name: str, days: int, words: list[str], tmp_path: Path, root: Issued
) -> None:
    leaf = issue(name, by=root, days=days)
    for file, content in (("admin.pem", leaf.pem()), ("admin.key", leaf.key_pem()), ("ca.pem", root.pem())):
        (tmp_path / file).write_bytes(content)
    facts = read_certificate(*(str(tmp_path / file) for file in ("admin.pem", "admin.key", "ca.pem")))
    first, *others = combined(kafka_listeners=LISTENERS, kafka_tls_source="files", kafka_admin_user="admin").nodes
    nodes = (dataclasses.replace(first, admin_certificate=facts), *others)
    told = [f"{one.level} {one.sentence()}" for one in check_inventory(Inventory(nodes))]
    assert any(all(word in line for word in words) for line in told) if words else told == []

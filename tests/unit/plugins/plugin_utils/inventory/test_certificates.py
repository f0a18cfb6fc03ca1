"""Own certificates, made here with every mistake that people make, read from files and judged by preflight."""

from __future__ import annotations

import dataclasses
import subprocess
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.certificates import (
    read_certificate,
    rfc2253,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.certificates import (
    bad_certificate,
    certificate_usage,
)
from tests.support.certificate_files import LAYOUTS, ca_by_sha1, identified
from tests.support.certificates import Issued, issue
from tests.support.preflight_inventories import CERTIFICATE_RULES, combined

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "protocol": "PLAINTEXT", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"},
]
# The default of roles/_common.
RULES = "RULE:^CN=([^,]+).*$/$1/,DEFAULT"
ORGANIZATION = (x509.NameAttribute(NameOID.ORGANIZATION_NAME, "x"),)
SERVER, CLIENT = ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH


def key_usage(signs: bool, certificates: bool = False) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=signs, content_commitment=False, key_encipherment=True, data_encipherment=False,
        key_agreement=False, key_cert_sign=certificates, crl_sign=False, encipher_only=False, decipher_only=False,
    )  # fmt: skip


@pytest.fixture(scope="module")
def root() -> Issued:
    return issue("root", ca=True)


@pytest.fixture(scope="module")
def between(root: Issued) -> Issued:
    return issue("between", by=root, ca=True)


def judged(tmp_path: Path, certificate: bytes, key: bytes, ca: bytes, **more: Any) -> list[str]:
    """What preflight says about the node kafka1 at 10.0.0.1 with these files."""
    paths = {"kafka_tls_certificate_file": certificate, "kafka_tls_key_file": key, "kafka_tls_ca_file": ca}
    variables: dict[str, Any] = {"kafka_listeners": LISTENERS, "kafka_tls_source": "files"}
    variables.update({"kafka_tls_principal_rules": RULES, **more})
    for name, content in paths.items():
        variables[name] = str(tmp_path / name)
        (tmp_path / name).write_bytes(content)
    nodes = list(combined(**variables).nodes)
    first = nodes[0]
    facts = read_certificate(*(variables[name] for name in paths))
    nodes[0] = build_node(
        first.name, controller=True, broker=True, variables=first.variables, undefined={}, certificate=facts
    )
    return [f"{one.level} {one.name} {one.sentence()}" for one in check_inventory(Inventory(tuple(nodes)))]


def test_a_certificate_with_its_chain_is_fine(tmp_path: Path, root: Issued, between: Issued) -> None:
    leaf = issue("kafka1", by=between, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem() + between.pem(), leaf.key_pem(), root.pem()) == []


def test_two_trusted_cas_are_fine_while_one_replaces_the_other(tmp_path: Path, root: Issued) -> None:
    leaf = issue("kafka1", by=root, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem(), leaf.key_pem(), issue("new root", ca=True).pem() + root.pem()) == []


@pytest.mark.parametrize(
    ("mistake", "words"),
    [
        ("chain", ["bad_certificate", "does not lead to a trusted CA", "append the intermediate"]),
        ("ca", ["bad_certificate", "does not lead to a trusted CA"]),
        ("key", ["bad_certificate", "the key does not belong"]),
        ("encrypted", ["is encrypted", "without a password"]),
        ("pkcs1", ["PKCS 8", "openssl pkcs8"]),
        ("garbage", ["no certificate in PEM form"]),
        ("ended", ["error", "expired_certificate", "has expired", "days left"]),
        ("soon", ["warning", "certificate_expires_soon", "9 days left"]),
        ("address", ["certificate_names", "does not name the address that the node advertises", "also IP:10.0.0.1"]),
        ("unnamed", ["no name"]),
        ("other", ["warning", "certificate_principal", "is no super user", "subject CN=kafka9", "becomes User:kafka9"]),
        ("organization", ["warning", "subject O=x,CN=kafka1 (as Java writes it) becomes User:O=x,CN=kafka1"]),
        (
            "server only",
            [
                "error",
                "certificate_usage",
                "may not be used",
                "extended key usage serverAuth",
                "serverAuth and clientAuth",
            ],
        ),
        ("client only", ["error", "may not be used", "extended key usage clientAuth"]),
        ("no signature", ["error", "certificate_usage", "may not sign", "keyUsage = digitalSignature"]),
        ("tomorrow", ["error", "expired_certificate", "not valid yet", "2 days"]),
    ],
)
def test_each_mistake_is_named(mistake: str, words: list[str], tmp_path: Path, root: Issued, between: Issued) -> None:
    names = {"address": ("10.0.0.9", "kafka1"), "unnamed": ()}.get(mistake, ("10.0.0.1", "kafka1"))
    days = {"ended": -3, "soon": 9}.get(mistake, 90)
    by = between if mistake == "chain" else root
    more: dict[str, Any] = {
        "organization": {"more": ORGANIZATION},
        "server only": {"extensions": (x509.ExtendedKeyUsage([SERVER]),)},
        "client only": {"extensions": (x509.ExtendedKeyUsage([CLIENT]), key_usage(signs=True))},
        "no signature": {"extensions": (key_usage(signs=False),)},
        "tomorrow": {"begins": 2},
    }.get(mistake, {})
    leaf = issue("kafka9" if mistake == "other" else "kafka1", by=by, days=days, names=names, **more)
    key = {
        "key": issue("kafka1").key_pem(),
        "encrypted": leaf.key_pem(b"sesame"),
        "pkcs1": leaf.key_pem(form=serialization.PrivateFormat.TraditionalOpenSSL),
    }.get(mistake, leaf.key_pem())
    ca = issue("foreign", ca=True).pem() if mistake == "ca" else root.pem()
    told = judged(tmp_path, b"-----BEGIN" if mistake == "garbage" else leaf.pem(), key, ca)
    assert any(all(word in line for word in words) for line in told), told


@pytest.mark.parametrize(
    ("auth", "fine"),
    [
        ({"listener.name.broker.ssl.client.auth": "none", "listener.name.controller.ssl.client.auth": "None"}, True),
        ({"listener.name.broker.ssl.client.auth": "none"}, False),
        ({f"listener.name.{one}.ssl.client.auth": "requested" for one in ("broker", "controller")}, False),
        # The roles write the setting of each listener, which stands above the general one.
        ({"ssl.client.auth": "none"}, False),
    ],
)
def test_what_nobody_asks_to_see_needs_no_client_auth(
    auth: dict[str, str], fine: bool, tmp_path: Path, root: Issued
) -> None:
    leaf = issue("kafka9", by=root, names=("10.0.0.1",), extensions=(x509.ExtendedKeyUsage([SERVER]),))
    config = {**combined().nodes[0].get("kafka_config"), **auth}
    told = judged(tmp_path, leaf.pem(), leaf.key_pem(), root.pem(), kafka_config=config)
    assert ([one for one in told if "certificate" in one] == []) is fine, told


CA = x509.BasicConstraints(ca=True, path_length=None)
NO_CA = x509.BasicConstraints(ca=False, path_length=None)


@pytest.mark.parametrize(
    ("extensions", "why"),
    [
        ((CA,), ""),
        ((CA, key_usage(signs=True, certificates=True)), ""),
        # As java says of each: TrustAnchor with subject ... is not a CA certificate.
        ((NO_CA,), "basicConstraints without CA:TRUE"),
        ((key_usage(signs=True, certificates=True),), "no basicConstraints CA:TRUE"),
        ((x509.SubjectKeyIdentifier(b"x" * 20),), "no basicConstraints CA:TRUE"),
        # does not have keyCertSign bit set in KeyUsage extension
        ((CA, key_usage(signs=True)), "a keyUsage without keyCertSign"),
    ],
)
@pytest.mark.parametrize("through", [False, True])
def test_a_ca_that_java_does_not_accept_is_refused(
    through: bool, extensions: tuple[x509.ExtensionType, ...], why: str, tmp_path: Path
) -> None:
    bad = issue("bad", ca=None, extensions=extensions)
    between = issue("between", by=bad, ca=True)
    leaf = issue("kafka1", by=between if through else bad, names=("10.0.0.1",))
    shown = leaf.pem() + (between.pem() if through else b"")
    told = judged(tmp_path, shown, leaf.key_pem(), bad.pem())
    if not why:
        assert told == []
        return
    (only,) = told
    assert "bad_certificate" in only
    assert f"Java does not accept the CA of the certificate (found: CN=bad has {why}" in only
    # One more certificate in the file changes nothing, as long as another one leads there.
    good = issue("good", ca=True)
    leaf = issue("kafka1", by=good, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem(), leaf.key_pem(), bad.pem() + good.pem()) == []


def test_a_root_of_version_1_has_no_extensions_and_is_accepted(tmp_path: Path) -> None:
    """Java asks nothing of such a trust anchor."""
    key, request, ca = tmp_path / "v1.key", tmp_path / "v1.csr", tmp_path / "v1.pem"
    for command in (
        ["req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-subj", "/CN=v1", "-out", request],
        ["x509", "-req", "-in", request, "-signkey", key, "-days", "30", "-out", ca],
    ):
        subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)
    root = Issued(x509.load_pem_x509_certificate(ca.read_bytes()), signing_key(key))
    assert root.certificate.version is x509.Version.v1
    leaf = issue("kafka1", by=root, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem(), leaf.key_pem(), ca.read_bytes()) == []


def signing_key(file: Path) -> Any:
    return serialization.load_pem_private_key(file.read_bytes(), None)


def test_a_certificate_that_is_trusted_itself_need_be_no_ca(tmp_path: Path) -> None:
    own = issue("kafka1", names=("10.0.0.1",))
    assert judged(tmp_path, own.pem(), own.key_pem(), own.pem()) == []


def test_an_intermediate_that_may_not_sign_leads_nowhere(tmp_path: Path, root: Issued) -> None:
    between = issue("between", by=root, ca=True, extensions=(key_usage(signs=True),))
    leaf = issue("kafka1", by=between, names=("10.0.0.1",))
    told = judged(tmp_path, leaf.pem() + between.pem(), leaf.key_pem(), root.pem())
    assert any("does not lead to a trusted CA" in line for line in told)


def test_a_chain_of_more_cas_than_one_of_them_allows_is_refused(tmp_path: Path, root: Issued) -> None:
    upper = issue("upper", by=root, ca=True, path_length=0)
    lower = issue("lower", by=upper, ca=True)
    leaf = issue("kafka1", by=lower, names=("10.0.0.1",))
    (only,) = judged(tmp_path, leaf.pem() + lower.pem() + upper.pem(), leaf.key_pem(), root.pem())
    assert "bad_certificate" in only
    assert "(found: CN=upper has pathLenConstraint 0 and 1 CAs below it" in only
    # The certificate of the node itself does not count. A CA that is trusted itself is asked by OpenSSL, not by Java.
    leaf = issue("kafka1", by=upper, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem() + upper.pem(), leaf.key_pem(), root.pem()) == []
    top = issue("top", ca=True, path_length=0)
    lower = issue("lower", by=top, ca=True)
    leaf = issue("kafka1", by=lower, names=("10.0.0.1",))
    (only,) = judged(tmp_path, leaf.pem() + lower.pem(), leaf.key_pem(), top.pem())
    assert "(found: CN=top has pathLenConstraint 0 and 1 CAs below it" in only
    assert "issued anew with a longer path" in only


def test_a_trusted_ca_that_is_no_root_needs_its_root_beside_it(tmp_path: Path, root: Issued, between: Issued) -> None:
    leaf = issue("kafka1", by=between, names=("10.0.0.1",))
    assert judged(tmp_path, leaf.pem(), leaf.key_pem(), between.pem() + root.pem()) == []
    (only,) = judged(tmp_path, leaf.pem(), leaf.key_pem(), between.pem())
    assert "CN=between was issued by CN=root, which is not there" in only
    assert "add the missing certificate to kafka_tls_ca_file" in only


def test_two_trusted_cas_of_one_name_need_key_identifiers(tmp_path: Path) -> None:
    old, new = (issue("CA", ca=True) for _ in range(2))
    leaf = issue("kafka1", by=old, names=("10.0.0.1",))
    (only,) = judged(tmp_path, leaf.pem(), leaf.key_pem(), old.pem() + new.pem())
    assert "two trusted CAs have one name" in only
    old, new = (identified("CA", ca=True) for _ in range(2))
    for by in (old, new):
        leaf = identified("kafka1", by=by, names=("10.0.0.1",))
        assert judged(tmp_path, leaf.pem(), leaf.key_pem(), old.pem() + new.pem()) == []


@pytest.mark.parametrize("layout", LAYOUTS)
def test_what_lies_beside_the_chain_is_no_mistake(layout: str, tmp_path: Path) -> None:
    certificate, key, ca = LAYOUTS[layout]()
    assert judged(tmp_path, certificate, key, ca) == []


@pytest.mark.parametrize(
    ("weak", "words"),
    [
        ({}, "CN=between is signed with SHA-1"),
        ({"bits": 1024}, "CN=between has a key of 1024 bits"),
        ({"days": -3}, "CN=between is valid from"),
        ({"begins": 1}, "CN=between is valid from"),
        ({"extensions": (x509.ExtendedKeyUsage([CLIENT]),)}, "CN=between has extended key usage clientAuth"),
    ],
)
def test_an_intermediate_that_one_engine_refuses_is_named(
    weak: dict[str, Any], words: str, tmp_path: Path, root: Issued
) -> None:
    sha1 = "SHA-1" in words
    between = ca_by_sha1("between", root) if sha1 else issue("between", by=root, ca=True, **weak)
    leaf = issue("kafka1", by=between, names=("10.0.0.1",))
    (only,) = judged(tmp_path, leaf.pem() + between.pem(), leaf.key_pem(), root.pem())
    assert words in only


def test_an_expired_root_is_refused_as_clients_refuse_it(tmp_path: Path) -> None:
    root = issue("old root", ca=True, days=-3)
    leaf = issue("kafka1", by=root, names=("10.0.0.1",))
    (only,) = judged(tmp_path, leaf.pem(), leaf.key_pem(), root.pem())
    assert "CN=old root is valid from" in only


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "but nothing"),
        (b"k\xfc\n", "3 bytes without any block"),
        (issue("x").key_pem(), "but PRIVATE KEY"),
        (b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "certificate 1 of 1 in it cannot be read"),
    ],
)
def test_a_file_without_a_certificate_is_named_with_what_it_holds(
    content: bytes, words: str, tmp_path: Path, root: Issued
) -> None:
    leaf = issue("kafka1", by=root, names=("10.0.0.1",))
    told = [one for one in judged(tmp_path, content, leaf.key_pem(), root.pem()) if "bad_certificate" in one]
    assert len(told) == 1
    assert "kafka_tls_certificate_file: " in told[0]
    assert words in told[0]


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
    assert any("also IP:10.0.0.1" in line for line in told)


@pytest.mark.parametrize(
    ("name", "days", "words"),
    [
        ("admin", 90, []),
        (
            "orders",
            90,
            [
                "warning",
                "principal of the certificate of the administrator is no super user",
                "CN=orders",
                "User:admin",
            ],
        ),
        ("admin", -3, ["error", "has expired", "kafka_admin_certificate_file"]),
    ],
)
def test_the_administrators_certificate_is_judged_too(
    name: str, days: int, words: list[str], tmp_path: Path, root: Issued
) -> None:
    leaf = issue(name, by=root, days=days)
    for file, content in (("admin.pem", leaf.pem()), ("admin.key", leaf.key_pem()), ("ca.pem", root.pem())):
        (tmp_path / file).write_bytes(content)
    facts = read_certificate(*(str(tmp_path / file) for file in ("admin.pem", "admin.key", "ca.pem")))
    clients = {**LISTENERS[0], "protocol": "SSL"}
    first, *others = combined(
        kafka_listeners=[clients, *LISTENERS[1:]], kafka_tls_source="files", kafka_admin_user="admin",
        kafka_tls_principal_rules=RULES, kafka_admin_certificate_file="admin.pem", kafka_admin_key_file="admin.key",
    ).nodes  # fmt: skip
    nodes = (dataclasses.replace(first, admin_certificate=facts), *others)
    told = [f"{one.level} {one.name} {one.sentence()}" for one in check_inventory(Inventory(nodes))]
    assert any(all(word in line for word in words) for line in told) if words else told == []


@pytest.mark.parametrize("layout", ["root_first", "two_keys", "in_order"])
def test_the_administrators_files_begin_with_its_own(layout: str, tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in ("admin.pem", "admin.key", "ca.pem")]
    for path, content in zip(paths, LAYOUTS[layout](), strict=True):
        Path(path).write_bytes(content)
    facts = read_certificate(*paths, by_clients=False)
    assert facts["faults"] == []
    first, *others = combined(kafka_admin_certificate_file=paths[0], kafka_admin_key_file=paths[1]).nodes
    inventory = Inventory((dataclasses.replace(first, admin_certificate=facts), *others))
    told = [one.what for one in bad_certificate(inventory)]
    assert told == (
        []
        if layout == "in_order"
        else ["the files do not begin with a certificate and its key, and clients take the first of each"]
    )


def issued_for_both(root: Issued, **more: Any) -> Issued:
    usages = (x509.ExtendedKeyUsage([SERVER, CLIENT]), key_usage(signs=True))
    return issue("kafka1", by=root, names=("10.0.0.1",), extensions=usages, **more)


def test_usages_that_suffice_are_fine(tmp_path: Path, root: Issued) -> None:
    leaf = issued_for_both(root)
    assert judged(tmp_path, leaf.pem(), leaf.key_pem(), root.pem(), kafka_authorizer=True, **LOGIN) == []
    # Any purpose is none for OpenSSL where it judges a server.
    anything = issue(
        "kafka1", by=root, names=("10.0.0.1",),
        extensions=(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]),),
    )  # fmt: skip
    (only,) = judged(tmp_path, anything.pem(), anything.key_pem(), root.pem())
    assert "extended key usage anyExtendedKeyUsage" in only
    both = issue(
        "kafka1", by=root, names=("10.0.0.1",),
        extensions=(x509.ExtendedKeyUsage([SERVER, ExtendedKeyUsageOID.ANY_EXTENDED_KEY_USAGE]),),
    )  # fmt: skip
    assert judged(tmp_path, both.pem(), both.key_pem(), root.pem()) == []


def test_where_nodes_show_each_other_no_certificate_it_need_be_for_servers_only(tmp_path: Path, root: Issued) -> None:
    listeners = [
        {**LISTENERS[0], "protocol": "SASL_SSL"},
        *({**one, "protocol": "PLAINTEXT"} for one in LISTENERS[1:]),
    ]
    leaf = issue("kafka1", by=root, names=("10.0.0.1",), extensions=(x509.ExtendedKeyUsage([SERVER]),))
    told = judged(tmp_path, leaf.pem(), leaf.key_pem(), root.pem(), **{**LOGIN, "kafka_listeners": listeners})
    assert told == []


LOGIN = {
    "kafka_listeners": [{**LISTENERS[0], "protocol": "SASL_SSL"}, *LISTENERS[1:]],
    "kafka_admin_user": "admin",
    "kafka_admin_password": "f3-long-and-random",
    "kafka_sasl_mechanisms": ["SCRAM-SHA-512"],
}


def test_servers_of_zookeeper_and_brokers_without_a_password_for_them_need_both_usages(root: Issued) -> None:
    facts = {"errors": [], "fits_key": True, "faults": [], "days_left": 90, "days_until": 0, "signs": True}
    facts.update(common_name="zk1", subject="CN=zk1", names=["IP:10.0.0.9", "IP:10.0.0.1"], usages=["serverAuth"])
    variables: dict[str, Any] = {"kafka_cluster_name": "blue", "zookeeper_tls": True, "ansible_host": "10.0.0.9"}
    server = build_node(
        "zk1", controller=False, broker=False, zookeeper=True, variables=variables, undefined={}, certificate=facts
    )
    first, *others = combined(kafka_listeners=[{**one, "protocol": "PLAINTEXT"} for one in LISTENERS]).nodes
    broker = dataclasses.replace(first, certificate=facts)
    told = [f"{one.where.name}: {one.found}" for one in certificate_usage(Inventory((broker, *others, server)))]
    assert [one.partition(":")[0] for one in told] == ["kafka1", "zk1"]
    assert all("extended key usage serverAuth" in one for one in told)
    with_password = dataclasses.replace(server, variables={**variables, "zookeeper_password": "z00-long"})
    told = [f"{one.where.name}: {one.found}" for one in certificate_usage(Inventory((broker, *others, with_password)))]
    assert [one.partition(":")[0] for one in told] == ["zk1"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({}, ["error", "the authorizer denies it everything", "becomes User:O=x,CN=kafka1", "/O=x/CN=name"]),
        ({"kafka_super_users": ["O=x,CN=kafka1"]}, []),
        ({"kafka_tls_principal_rules": "RULE:^.*CN=([^,]+).*$/$1/L"}, []),
        ({"kafka_config": {"listener.name.controller.ssl.principal.mapping.rules": "RULE:^.*CN=(.*)$/$1/"}}, ["error"]),
        ({"kafka_config": {"ssl.principal.mapping.rules": "RULE:^.*CN=(.*)$/$1/"}}, []),
        ({"kafka_tls_principal_rules": "RULE:^CN=(.*)$/$1/"}, ["error", "make no principal", "no rule matches"]),
        ({"kafka_tls_principal_rules": "RULE:^CN=(.*)/$1"}, ["error", "make no principal", "no rule begins with"]),
        ({"kafka_tls_principal_rules": r"RULE:^\p{L}+=.*$/x/"}, ["warning", "this check cannot tell"]),
        ({"kafka_tls_principal_rules": "RULE:^.*$/kafka2/"}, ["warning", "in the name of another node"]),
    ],
)
def test_the_principal_of_a_node_is_that_of_its_whole_subject(
    more: dict[str, Any], words: list[str], tmp_path: Path, root: Issued
) -> None:
    leaf = issued_for_both(root, more=ORGANIZATION)
    given = {"kafka_authorizer": True, **LOGIN, **more}
    told = judged(tmp_path, leaf.pem(), leaf.key_pem(), root.pem(), **given)
    mine = [line for line in told if "topic" not in line and "kafka_config" not in line]
    assert any(all(word in line for word in words) for line in mine) if words else mine == []


def test_rules_that_do_not_fit_the_names_of_the_development_ca_are_refused() -> None:
    given: dict[str, Any] = {**LOGIN, "kafka_authorizer": True, "kafka_tls_source": "development_ca"}
    given.update(kafka_profile="development", kafka_tls_principal_rules="DEFAULT")
    told = [one.sentence() for one in check_inventory(combined(**given)) if one.name in CERTIFICATE_RULES]
    assert len(told) == 3, told
    assert "subject CN=kafka1 (as Java writes it) becomes User:CN=kafka1" in told[0]


#: Subjects, attribute by attribute as they stand in a certificate, and what X500Principal.getName said of each.
SUBJECTS = [
    ([[(NameOID.COMMON_NAME, "c1")], [(NameOID.ORGANIZATION_NAME, "x")]], "O=x,CN=c1"),
    (
        [
            [(NameOID.COUNTRY_NAME, "DE")],
            [(NameOID.STATE_OR_PROVINCE_NAME, "B, y")],
            [(NameOID.COMMON_NAME, "c1"), (NameOID.USER_ID, "u=1")],
        ],
        r"CN=c1+UID=u\=1,ST=B\, y,C=DE",
    ),
    (
        [
            [(NameOID.EMAIL_ADDRESS, "a@b.c")],
            [(NameOID.SERIAL_NUMBER, "12")],
            [(NameOID.COMMON_NAME, '#a "q" <x>;\\+ e ')],
        ],
        r"CN=\#a \"q\" \<x\>\;\\\+ e\ ,2.5.4.5=#13023132,1.2.840.113549.1.9.1=#16056140622e63",
    ),
    ([[(NameOID.DOMAIN_COMPONENT, "ex")], [(NameOID.COMMON_NAME, " kä#b")]], r"CN=\ kä\#b,DC=ex"),
    (
        [[(NameOID.STREET_ADDRESS, "s")], [(NameOID.LOCALITY_NAME, "l")], [(NameOID.TITLE, "t")]],
        "2.5.4.12=#0c0174,L=l,STREET=s",
    ),
]


@pytest.mark.parametrize(("parts", "written"), SUBJECTS)
def test_a_subject_is_written_as_java_writes_it(parts: list[list[tuple[Any, str]]], written: str) -> None:
    rdns = [x509.RelativeDistinguishedName([x509.NameAttribute(*one) for one in part]) for part in parts]
    assert rfc2253(x509.Name(rdns)) == written

# SPDX-License-Identifier: GPL-3.0-or-later
"""How mirrors log in at both ends, by table. No message shows a password."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.keytabs import keytab, record
from tests.support.preflight_inventories import LISTENERS, MIRROR_LOGIN_RULES, expect
from tests.support.preflight_mirrors import SECURED, flow, mirrored

OPEN = {"kafka_listeners": LISTENERS, "kafka_authorizer": False}
PLAIN = {"kafka_sasl_mechanisms": ["PLAIN"]}
OTHER = "another-long-one"
SAME = {"name": "mirror", "password": SECURED["mirror_password"]}
FAR = {"name": "FAR", "port": 9095, "protocol": "SASL_SSL", "purpose": "clients"}
#: Plaintext for clients beside it, a login for mirrors.
APART = {
    **SECURED,
    "kafka_authorizer": False,
    "kafka_listeners": [*LISTENERS[:1], *SECURED["kafka_listeners"][1:], FAR],
}

BAD: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "no user": (
        "no_mirror_login",
        {"mirror_user": ""},
        ["mirror_user: mirrors cannot log in at listener CLIENT", "an empty value"],
    ),
    "no password": (
        "no_mirror_login",
        {"mirror_password": ""},
        ["mirror_password: mirrors cannot log in", "from the vault"],
    ),
    "the administrator": ("mirror_is_super_user", {"mirror_user": "admin"}, ["rights of a super user", "found: admin"]),
    "a super user": (
        "mirror_is_super_user",
        {"kafka_super_users": ["mirror"]},
        ["rights of a super user", "found: mirror"],
    ),
    "another password": (
        "mirror_user_listed_differently",
        {"kafka_users": [{"name": "mirror", "password": OTHER}]},
        ["kafka_users", "mirror with another password"],
    ),
    "to be removed": (
        "mirror_user_listed_differently",
        {"kafka_users": [{"name": "mirror", "state": "absent"}]},
        ["kafka_users", "state absent"],
    ),
    "another password of PLAIN": (
        "mirror_user_listed_differently",
        {
            "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "PLAIN"],
            "kafka_plain_users": [{"name": "mirror", "password": OTHER}],
        },
        ["kafka_plain_users", "mirror with another password"],
    ),
    "PLAIN before SCRAM": (
        "mirror_mechanism",
        {"kafka_sasl_mechanisms": ["PLAIN", "SCRAM-SHA-512"]},
        ["mirrors cannot log in at listener CLIENT by this mechanism"],
    ),
    "no mechanism of SCRAM": ("mirror_mechanism", PLAIN, ["kafka_sasl_mechanisms", "found: PLAIN", "SCRAM-SHA-512"]),
}


@pytest.mark.parametrize("name", BAD)
def test_each_mistake_is_named_alone_and_shows_no_password(name: str) -> None:
    rule, changes, parts = BAD[name]
    inventory = mirrored(flow(), **{**SECURED, **changes})
    expect(inventory, rule, *parts)
    told = str([one.result() for one in check_inventory(inventory)])
    assert SECURED["mirror_password"] not in told
    assert OTHER not in told


@pytest.mark.parametrize("end", ["dc_a", "dc_b"])
def test_both_ends_are_looked_at(end: str) -> None:
    expect(
        mirrored(flow(), hosts={end: {"mirror_password": ""}}, **SECURED), "no_mirror_login", f"{end}1, {end}2, {end}3"
    )


@pytest.mark.parametrize("variable", ["mirror_user", "mirror_password"])
def test_brokers_that_disagree_are_named_without_their_values(variable: str) -> None:
    inventory = mirrored(flow(), hosts={"dc_a2": {variable: OTHER}}, **SECURED)
    expect(
        inventory,
        "mirror_logins_disagree",
        f"{variable}: the brokers of the cluster disagree",
        "another value on dc_a2 than on dc_a1",
    )
    assert OTHER not in str([one.result() for one in check_inventory(inventory)])


def test_a_node_is_no_mirror_user() -> None:
    expect(
        mirrored(flow(), hosts={"dc_a": {"mirror_user": "dc_a2"}}, **SECURED), "mirror_is_super_user", "found: dc_a2"
    )


@pytest.mark.parametrize(
    "changes",
    [
        {"kafka_users": [SAME]},
        {"kafka_sasl_mechanisms": ["PLAIN"], "kafka_plain_users": [SAME]},
        {**OPEN, "mirror_user": "", "mirror_password": ""},
        {"mirror_password": UNDEFINED},
        {"kafka_sasl_mechanisms": UNDEFINED},
    ],
)
def test_good_logins_break_no_row(changes: dict[str, Any]) -> None:
    assert [one.sentence() for one in check_inventory(mirrored(flow(), **{**SECURED, **changes}))] == []


def test_a_source_is_entered_by_the_named_listener_and_a_target_by_the_first() -> None:
    login = {"mirror_user": "", "mirror_password": ""}
    far = {**APART, "mirror_listener": "FAR"}
    assert check_inventory(mirrored(flow(), hosts={"dc_a": {**APART, **login}, "dc_b": {**far, **login}})) == []
    found = check_inventory(mirrored(flow(), hosts={"dc_a": {**far, **login}}))
    assert [(one.name, one.variable) for one in found] == [
        ("no_mirror_login", "mirror_user"),
        ("no_mirror_login", "mirror_password"),
    ]
    assert "listener FAR" in found[0].sentence()


#: Brokers whose clients show certificates.
SHOWN = {**SECURED, "kafka_listeners": [{**LISTENERS[0], "protocol": "SSL"}, *SECURED["kafka_listeners"][1:]]}
TWO = {name: {"kafka_cluster_name": "dc_b", "ansible_host": "10.9.0.1"} for name in ("m1", "m2")}


def certified(mirrors: dict[str, dict[str, Any]]) -> list[str]:
    """What is said of certificates of these mirrors, behind the name of its rule."""
    found = check_inventory(mirrored(flow(), mirrors=mirrors, **SHOWN))
    return [f"{one.name} {one.sentence()}" for one in found if one.name in MIRROR_LOGIN_RULES]


def test_a_mirror_has_a_certificate_where_one_is_asked_for() -> None:
    (told,) = certified({"m1": {"kafka_cluster_name": "dc_b", "kafka_tls_source": ""}})
    assert told.split()[0] == "mirror_without_certificate"
    assert "m1: kafka_tls_source: a listener of dc_a->dc_b asks for a certificate, and the mirror has none" in told
    assert certified({"m1": {"kafka_cluster_name": "dc_b"}}) == []


def test_mirrors_of_one_machine_do_not_share_a_certificate() -> None:
    (told,) = certified({**TWO})
    assert told.split()[0] == "mirrors_share_certificate"
    assert "m1, m2: kafka_config_dir: mirrors of dc_b on one machine would show each other's certificates" in told
    apart = {**TWO, "m2": {**TWO["m2"], "ansible_host": "10.9.0.2"}}
    assert certified(apart) == []
    assert [
        one.sentence()
        for one in check_inventory(mirrored(flow(), mirrors=TWO, **SECURED))
        if one.name in MIRROR_LOGIN_RULES
    ] == []


def test_a_mirror_is_by_its_certificate_who_its_acls_are_for() -> None:
    issued = {"kafka_tls_source": "development_ca", "kafka_profile": "development"}
    mirror = {"m1": {"kafka_cluster_name": "dc_b"}}
    rules = "RULE:^CN=([^,]+).*$/$1/"
    good = mirrored(flow(), mirrors=mirror, **{**SHOWN, **issued, "kafka_tls_principal_rules": rules})
    assert [one.sentence() for one in check_inventory(good) if one.name in MIRROR_LOGIN_RULES] == []
    other = {"dc_a": {"kafka_tls_principal_rules": "RULE:^CN=([^,]+).*$/x-$1/"}}
    bad = mirrored(flow(), mirrors=mirror, hosts=other, **{**SHOWN, **issued, "kafka_tls_principal_rules": rules})
    (told,) = [one.sentence() for one in check_inventory(bad) if one.name == "mirror_principal"]
    assert "m1: kafka_tls_certificate_file: dc_a makes another principal of the mirror than its ACLs are for" in told
    assert "becomes User:x-m1, allowed: User:m1" in told


def test_acls_of_a_target_have_one_owner() -> None:
    owned = {"dc_b": {"kafka_acls_authoritative": True}}
    parts = ["dc_a->dc_b would copy ACLs", "sync_topic_acls true with kafka_acls_authoritative"]
    expect(mirrored(flow(sync_topic_acls=True), hosts=owned), "acls_with_two_owners", *parts)
    assert check_inventory(mirrored(flow(), hosts=owned)) == []
    assert check_inventory(mirrored(flow(sync_topic_acls=True), hosts={"dc_a": owned["dc_b"]})) == []


@pytest.mark.parametrize(
    ("mechanisms", "is_refused"), [(["OAUTHBEARER"], False), (["OAUTHBEARER", "SCRAM-SHA-512"], True)]
)
def test_a_credential_of_scram_is_removed_once_nothing_logs_in_by_it(mechanisms: list[str], is_refused: bool) -> None:
    gone = {"kafka_sasl_mechanisms": mechanisms, "kafka_users": [{"name": "mirror", "state": "absent"}]}
    violations = check_inventory(mirrored(flow(), **{**SECURED, **gone}))
    assert ("mirror_user_listed_differently" in [violation.name for violation in violations]) is is_refused


KERBEROS = {"realm": "EXAMPLE.COM", "kdcs": ["kdc1"], "keytab_path": "/etc/kafka.keytab"}


@pytest.fixture
def by_ticket(tmp_path: Path) -> dict[str, Any]:
    """The variables of clusters that ask for tickets first, with the keytabs of the administrator and of mirrors."""
    files = {name: tmp_path / f"{name}.keytab" for name in ("admin", "mirror")}
    for name, file in files.items():
        file.write_bytes(keytab(record(f"{name}@EXAMPLE.COM")))
        file.chmod(0o600)
    return {
        **SECURED,
        "kafka_sasl_mechanisms": ["GSSAPI", "SCRAM-SHA-512"],
        "kafka_kerberos": {**KERBEROS, "client_keytab_file": str(files["admin"])},
        "mirror_password": "",
        "mirror_keytab_file": str(files["mirror"]),
    }


def test_mirrors_log_in_by_kerberos_with_a_keytab_of_their_own(by_ticket: dict[str, Any]) -> None:
    assert [breach.sentence() for breach in check_inventory(mirrored(flow(), **by_ticket))] == []


@pytest.mark.parametrize("listed", [{"name": "mirror", "password": OTHER}, {"name": "mirror", "state": "absent"}])
def test_credentials_that_mirrors_do_not_show_are_not_compared(by_ticket: dict[str, Any], listed: Any) -> None:
    assert check_inventory(mirrored(flow(), **by_ticket, kafka_users=[listed])) == []


@pytest.mark.parametrize(
    ("changes", "row", "words"),
    [
        ({"mirror_keytab_file": ""}, "no_mirror_login", ["mirror_keytab_file: mirrors cannot log in at listener"]),
        ({"mirror_keytab_file": "/nowhere/k"}, "bad_service_keytab", ["mirror_keytab_file", "/nowhere/k cannot be"]),
        ({"mirror_user": "copier"}, "bad_service_keytab", ["no key of copier@EXAMPLE.COM, but of mirror@EXAMPLE.COM"]),
    ],
)
def test_what_is_wrong_with_the_keytab_of_mirrors_is_named(
    by_ticket: dict[str, Any], changes: dict[str, Any], row: str, words: list[str]
) -> None:
    breaches = check_inventory(mirrored(flow(), **{**by_ticket, **changes}))
    assert {breach.name for breach in breaches} == {row}
    assert all(word in breaches[0].sentence() for word in words), breaches[0].sentence()


def test_a_keytab_of_mirrors_that_everybody_may_read_is_named(by_ticket: dict[str, Any]) -> None:
    Path(by_ticket["mirror_keytab_file"]).chmod(0o644)
    expect(mirrored(flow(), **by_ticket), "open_keytab", "everybody on the control node may read", "mirror.keytab")


def test_clusters_in_two_realms_need_a_krb5_conf_that_has_both(by_ticket: dict[str, Any], tmp_path: Path) -> None:
    for name in ("admin", "mirror"):
        (tmp_path / f"{name}.keytab").write_bytes(keytab(record(f"{name}@EXAMPLE.COM"), record(f"{name}@OTHER.COM")))
    other = {"dc_a": {"kafka_kerberos": {**by_ticket["kafka_kerberos"], "realm": "OTHER.COM"}}}
    words = ("mirror_dc_b", "no ticket for brokers of several realms", "OTHER.COM and EXAMPLE.COM")
    expect(mirrored(flow(), hosts=other, **by_ticket), "mirror_realms", *words)
    mirrors = {"m1": {"kafka_cluster_name": "dc_b", "kafka_kerberos": {"krb5_file": "/etc/both.conf"}}}
    assert check_inventory(mirrored(flow(), hosts=other, mirrors=mirrors, **by_ticket)) == []

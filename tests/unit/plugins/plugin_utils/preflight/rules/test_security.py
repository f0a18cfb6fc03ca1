"""Preflight rows on protocols, certificates, passwords and the authorizer: each mistake has its own message."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import ADVICE, combined

SECURED = [
    {"name": "CLIENT", "port": 9092, "protocol": "SASL_SSL", "purpose": "clients"},
    {"name": "BROKER", "port": 9094, "protocol": "SSL", "purpose": "brokers"},
    {"name": "CONTROLLER", "port": 9093, "protocol": "SSL", "purpose": "controllers"},
]
GOOD: dict[str, Any] = {
    "kafka_listeners": SECURED,
    "kafka_tls_source": "files",
    "kafka_authorizer": True,
    "kafka_admin_user": "admin",
    "kafka_admin_password": "f3-long-and-random",
    "kafka_sasl_mechanisms": ["SCRAM-SHA-512"],
}
PLAIN = {"kafka_sasl_mechanisms": ["SCRAM-SHA-512", "PLAIN"]}


def changed(index: int, **entry: Any) -> list[dict[str, Any]]:
    """The good listeners with one of them changed."""
    return [{**one, **entry} if place == index else one for place, one in enumerate(SECURED)]


BAD: list[tuple[dict[str, Any], str, list[str]]] = [
    (
        {"kafka_listeners": changed(1, protocol="PLAINTEXT")},
        "nodes_not_authenticated",
        ["listener BROKER", "PLAINTEXT for brokers"],
    ),
    (
        {"kafka_listeners": changed(2, protocol="SASL_SSL")},
        "nodes_not_authenticated",
        ["listener CONTROLLER", "SASL_SSL for controllers"],
    ),
    ({"kafka_listeners": [SECURED[0], SECURED[2]]}, "no_broker_listener", ["would have to log in", "only CLIENT"]),
    (
        {"kafka_listeners": changed(0, protocol="PLAINTEXT")},
        "anonymous_clients",
        ["anonymous", "denies them everything", "PLAINTEXT with kafka_authorizer"],
    ),
    (
        {"kafka_listeners": changed(0, protocol="SSL")},
        "no_admin_certificate",
        ["no certificate", "kafka_admin_key_file"],
    ),
    (
        {"kafka_listeners": changed(0, protocol="SASL_PLAINTEXT")},
        "unencrypted_login",
        ["without encryption", "SASL_SSL"],
    ),
    ({"kafka_config": {"allow.everyone.if.no.acl.found": "true"}}, "open_without_acl", ["open to everybody"]),
    ({"kafka_admin_password": ""}, "no_admin_password", ["kafka_admin_password", "no password"]),
    ({"kafka_tls_source": ""}, "no_tls_source", ["listener CLIENT has no certificate", "development_ca or files"]),
    ({"kafka_tls_source": "development_ca"}, "development_certificates", ["development CA in production"]),
    (
        {"kafka_users": [{"name": "kafka2", "password": "x1-long"}]},
        "name_of_super_user",
        ["name of a super user", "found: kafka2"],
    ),
    (
        {"kafka_users": [{"name": "admin", "password": "x1-long"}]},
        "name_of_super_user",
        ["name of a super user", "found: admin"],
    ),
    (
        {"kafka_plain_users": [{"name": "a", "password": "x1-long"}]},
        "plain_not_offered",
        ["no listener offers", "SCRAM-SHA-512"],
    ),
    (
        {**PLAIN, "kafka_plain_users": [{"name": "a b", "password": "x1-long"}]},
        "bad_plain_user",
        ["cannot have this name", "a b"],
    ),
    (
        {**PLAIN, "kafka_plain_users": [{"name": "admin", "password": "x1-long"}]},
        "bad_plain_user",
        ["cannot have this name"],
    ),
    ({**PLAIN, "kafka_plain_users": [{"name": "a", "password": "changeme"}]}, "weak_secret", ["a well-known value"]),
    (
        {"kafka_tls_client_names": ["kafka2"]},
        "name_of_super_user",
        ["a client has the name of a super user", "found: kafka2"],
    ),
    ({"kafka_tls_client_names": ["../orders"]}, "bad_client_name", ["cannot be the name of a file", "../orders"]),
    (
        {"kafka_tls_source": "development_ca", "kafka_admin_user": "../admin"},
        "bad_client_name",
        ["kafka_admin_user", "cannot be the name of a file", "../admin"],
    ),
    (
        {
            "kafka_resources_client_bundle_dir": "/bundles",
            "kafka_users": [{"name": "../orders", "password": "x1-long"}],
        },
        "bad_client_name",
        ["kafka_users", "cannot be the name of a file", "../orders"],
    ),
    (
        {"kafka_super_users": ["User:bob"]},
        "bad_super_user",
        ["kafka_super_users[0]", "'User:bob'", "fix: leave out User:"],
    ),
    ({"kafka_admin_user": "José"}, "bad_super_user", ["kafka_admin_user", "each login by SCRAM", "'José'"]),
    ({"kafka_super_users": ["ops", "user: bob"]}, "bad_super_user", ["kafka_super_users[1]", "fix: leave out User:"]),
    ({"kafka_super_users": ["a;User:mallory"]}, "bad_super_user", ["'a;User:mallory'", "without ';' and '*'"]),
    ({"kafka_super_users": ["*"]}, "bad_super_user", ["kafka_super_users[0]", "'*'"]),
    ({"kafka_super_users": [""]}, "bad_super_user", ["kafka_super_users[0]", "found: ''"]),
    ({"kafka_super_users": [None]}, "bad_super_user", ["kafka_super_users[0]", "found: null"]),
    ({"kafka_super_users": [{"name": "bob"}]}, "bad_super_user", ["kafka_super_users[0]", "found: a dict"]),
    ({"kafka_super_users": ["bob "]}, "bad_super_user", ["'bob '", "no space around it"]),
    ({"kafka_admin_user": "a;User:mallory"}, "bad_super_user", ["kafka_admin_user", "'a;User:mallory'"]),
    ({"kafka_admin_user": "User:admin"}, "bad_super_user", ["kafka_admin_user", "fix: leave out User:"]),
    ({"kafka_admin_user": ""}, "bad_super_user", ["kafka_admin_user", "found: ''"]),
]


def test_a_secured_cluster_breaks_no_row() -> None:
    assert check_inventory(combined(**GOOD)) == []


@pytest.mark.parametrize(
    "name", ["CN=ops,OU=data platform,O=Example", "CN=a\\,b,O=x", "spiffe://a/b", "Jörg", "ops@example"]
)
def test_principals_of_other_forms_may_be_super_users(name: str) -> None:
    assert check_inventory(combined(**GOOD, kafka_super_users=[name, 17])) == []


@pytest.mark.parametrize(("wrong", "row", "words"), BAD)
def test_each_mistake_has_its_own_message(wrong: dict[str, Any], row: str, words: list[str]) -> None:
    found = check_inventory(combined(**{**GOOD, **wrong}))
    told = [one.sentence() for one in found if one.name == row]
    assert told, [one.sentence() for one in found]
    assert any(all(word in sentence for word in words) for sentence in told), told


def test_placeholders_of_the_example_are_named_once_for_all_nodes() -> None:
    found = check_inventory(combined(**{**GOOD, "kafka_tls_ca_file": "/CHANGE-ME/ca.pem"}))
    assert [(one.name, len(one.hosts), one.found) for one in found] == [("placeholder", 3, "/CHANGE-ME/ca.pem")]
    secret = check_inventory(combined(**{**GOOD, "kafka_admin_password": "CHANGE-ME"}))
    assert [(one.name, one.found) for one in secret] == [("placeholder", "CHANGE-ME")]


def test_known_vulnerabilities_are_said_until_they_are_accepted() -> None:
    found = check_inventory(combined(**GOOD, preflight_accept=[*ADVICE]))
    assert {(one.name, one.level) for one in found} == {("known_vulnerabilities", "warning")}
    assert "CVE-2026-111115" in found[0].sentence()
    assert check_inventory(combined(**GOOD, kafka_profile="development", preflight_accept=[*ADVICE])) == []


def test_the_message_about_a_password_never_shows_one() -> None:
    found = check_inventory(combined(**{**GOOD, "kafka_admin_password": "changeme"}))
    assert [one.name for one in found] == ["weak_secret"]
    assert "changeme" not in found[0].sentence()


LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required username=a password=b;"
INNER = {
    "sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512",
    "listener.name.broker.scram-sha-512.sasl.jaas.config": LOGIN,
}


def _names(inventory: Inventory) -> set[str]:
    return {violation.name for violation in check_inventory(inventory)}


@pytest.mark.parametrize(
    ("variables", "refused"),
    [
        ({"kafka_config": INNER}, set()),
        ({"kafka_config": {"sasl.mechanism.inter.broker.protocol": "SCRAM-SHA-512"}}, {"nodes_not_authenticated"}),
        # Of another mechanism than that by which brokers log in, which is GSSAPI where nothing says so.
        ({"kafka_config": {**INNER, "sasl.mechanism.inter.broker.protocol": "PLAIN"}}, {"nodes_not_authenticated"}),
        ({"kafka_config": dict(list(INNER.items())[1:])}, {"nodes_not_authenticated"}),
        # A login of the controllers is none of the brokers.
        (
            {
                "kafka_config": {
                    "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
                    "listener.name.controller.scram-sha-512.sasl.jaas.config": LOGIN,
                }
            },
            {"nodes_not_authenticated"},
        ),
        ({"kafka_jvm_options": ["-Djava.security.auth.login.config=/etc/kafka/jaas.conf"]}, set()),
    ],
)
@pytest.mark.parametrize("authorizer", [True, False])
def test_brokers_log_in_by_native_properties_alone(
    variables: dict[str, Any], refused: set[str], authorizer: bool
) -> None:
    inventory = combined(
        **{**GOOD, "kafka_listeners": changed(1, protocol="SASL_SSL"), "kafka_authorizer": authorizer, **variables}
    )
    assert _names(inventory) & {"nodes_not_authenticated", "no_broker_listener"} == refused


def test_brokers_log_in_natively_at_the_listener_for_clients_too() -> None:
    own = {key.replace("broker.scram", "client.scram"): value for key, value in INNER.items()}
    listeners = [SECURED[0], SECURED[2]]
    inventory = combined(**{**GOOD, "kafka_listeners": listeners, "kafka_config": own})
    assert "no_broker_listener" not in _names(inventory)


@pytest.mark.parametrize("key", ["ssl.keystore.location", "ssl.keystore.key", "listener.name.client.ssl.keystore.key"])
def test_a_native_key_needs_no_source_of_certificates(key: str) -> None:
    inventory = combined(**{**GOOD, "kafka_tls_source": "", "kafka_config": {key: "x"}})
    assert "no_tls_source" not in _names(inventory)


def test_a_key_of_another_connection_is_no_certificate_of_listeners() -> None:
    own = {"remote.ssl.keystore.location.of": "x"}
    inventory = combined(**{**GOOD, "kafka_tls_source": "", "kafka_config": own})
    assert "no_tls_source" in _names(inventory)


@pytest.mark.parametrize(
    ("mechanisms", "state", "is_refused"),
    [(["OAUTHBEARER"], "absent", False), (["OAUTHBEARER"], "present", True), (["SCRAM-SHA-512"], "absent", True)],
)
def test_the_administrator_loses_a_credential_only_where_nobody_logs_in_by_it(
    mechanisms: list[str], state: str, is_refused: bool
) -> None:
    users = [{"name": "admin", "password": "x", "state": state}]
    inventory = combined(**{**GOOD, "kafka_sasl_mechanisms": mechanisms, "kafka_users": users})
    assert ("name_of_super_user" in _names(inventory)) is is_refused

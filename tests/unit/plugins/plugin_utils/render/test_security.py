"""What a node's security properties say, how the administrator connects, and what certificates must name."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import hold_secret
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import security
from tests.support.certificates import issue

SETTINGS = {
    "tls_dir": "/etc/kafka/kafka1/tls",
    "tls_source": "files",
    "tls_protocols": ["TLSv1.3"],
    "principal_rules": "DEFAULT",
    "mechanisms": ["SCRAM-SHA-512"],
    "plain_users": [{"name": "admin", "password": 'a"b'}, {"name": "orders", "password": "c"}],
    "authorizer": True,
    "super_users": ["kafka1", "kafka2", "admin"],
}
ADMIN = {
    "bootstrap_servers": ["kafka1:9092"],
    "mechanisms": ["SCRAM-SHA-512"],
    "admin_user": "admin",
    "admin_password": 'a"b\\c',
    "ca_file": "/ca/ca.pem",
    "admin_certificate_file": "/ca/admin.pem",
    "admin_key_file": "/ca/admin.key",
}


def node(clients: str = "SASL_SSL", inner: str = "SSL", roles: tuple[str, ...] = ("broker",)) -> dict[str, Any]:
    def listener(name: str, protocol: str, purpose: str, role: str) -> dict[str, Any]:
        address = {"advertised_host": "10.0.0.1" if purpose == "brokers" else "kafka1.example.com", "port": 9092}
        return {"name": name, "protocol": protocol, "purpose": purpose, "opens": role in roles, **address}

    listeners = [
        listener("CLIENT", clients, "clients", "broker"),
        listener("BROKER", inner, "brokers", "broker"),
        listener("CONTROLLER", inner, "controllers", "controller"),
    ]
    return {"host": "kafka1", "roles": list(roles), "listeners": listeners}


def test_the_administrator_and_named_clients_get_certificates() -> None:
    settings = {**ADMIN, "directory": "/ca/clients"}
    admin, orders = security.client_certificates(["orders"], settings)
    assert (admin["name"], admin["certificate"], admin["key"]) == ("admin", "/ca/admin.pem", "/ca/admin.key")
    assert (orders["name"], orders["key"], orders["usage"]) == ("orders", "/ca/clients/orders.key", ["clientAuth"])


def test_brokers_list_the_users_of_plain_and_then_their_properties_are_secret() -> None:
    without = security.security_properties(node(), SETTINGS)
    found = security.security_properties(node(), {**SETTINGS, "mechanisms": ["SCRAM-SHA-512", "PLAIN"]})
    listed = found["listener.name.client.plain.sasl.jaas.config"]
    assert listed.endswith('PlainLoginModule required user_admin="a\\"b" user_orders="c";')
    assert hold_secret(found)
    assert not hold_secret(without)
    assert hold_secret({**without, "ssl.key.password": "x"})


def test_nothing_secured_needs_no_property() -> None:
    plain = node("PLAINTEXT", "PLAINTEXT")
    assert security.security_properties(plain, {**SETTINGS, "authorizer": False}) == {}


def test_nodes_show_certificates_and_clients_passwords() -> None:
    found = security.security_properties(node(), SETTINGS)
    assert found["listener.name.broker.ssl.client.auth"] == "required"
    assert found["listener.name.client.ssl.client.auth"] == "none"
    assert "listener.name.controller.ssl.client.auth" not in found, "a broker does not open it"
    assert found["listener.name.client.sasl.enabled.mechanisms"] == ["SCRAM-SHA-512"]
    assert found["listener.name.client.scram-sha-512.sasl.jaas.config"].endswith("ScramLoginModule required;")
    assert found["ssl.endpoint.identification.algorithm"] == "https"
    assert found["super.users"] == "User:kafka1;User:kafka2;User:admin"
    assert found["allow.everyone.if.no.acl.found"] is False


def test_an_isolated_controller_asks_for_certificates_and_knows_no_passwords() -> None:
    found = security.security_properties(node(roles=("controller",)), SETTINGS)
    assert found["listener.name.controller.ssl.client.auth"] == "required"
    assert not [key for key in found if "sasl" in key]


def test_clients_of_a_tls_listener_without_passwords_show_a_certificate() -> None:
    found = security.security_properties(node("SSL"), SETTINGS)
    assert found["listener.name.client.ssl.client.auth"] == "required"


@pytest.mark.parametrize(
    ("protocol", "keys"),
    [
        ("PLAINTEXT", set()),
        ("SASL_PLAINTEXT", {"security_protocol", "sasl_mechanism", "sasl_username", "sasl_password"}),
        (
            "SASL_SSL",
            {"security_protocol", "ssl_ca_location", "sasl_mechanism", "sasl_username", "sasl_password"},
        ),
        ("SSL", {"security_protocol", "ssl_ca_location", "ssl_certificate_location", "ssl_key_location"}),
    ],
)
def test_the_administrator_connects_as_the_listener_for_clients_asks(protocol: str, keys: set[str]) -> None:
    assert set(security.connection([node(protocol)], ADMIN)) == {"bootstrap_servers", *keys}


def test_a_password_with_quotes_stays_whole_in_a_jaas_text() -> None:
    options = security.connection([node()], ADMIN)
    found = security.client_properties(options, ca_file="/here/ca.pem")
    assert found["sasl.jaas.config"].endswith(r'username="admin" password="a\"b\\c";')
    assert found["ssl.truststore.location"] == "/here/ca.pem"
    assert found["security.protocol"] == "SASL_SSL"


def test_a_certificate_names_every_address_that_the_node_advertises() -> None:
    assert security.certificate_names(node()) == ["DNS:kafka1.example.com", "IP:10.0.0.1", "DNS:kafka1"]


def test_a_credential_holds_the_salted_password_and_never_the_password() -> None:
    text = security.scram_credential("SCRAM-SHA-512", "admin", 'p,a]s"s', b"0123456789abcdef")
    salted = hashlib.pbkdf2_hmac("sha512", b'p,a]s"s', b"0123456789abcdef", 8192)
    assert base64.b64encode(salted).decode() in text
    assert text.startswith('SCRAM-SHA-512=[name="admin",salt="')
    assert text.endswith("iterations=8192]")
    assert 'p,a]s"s' not in text


TOKENS = {
    **SETTINGS,
    "mechanisms": ["SCRAM-SHA-512", "OAUTHBEARER"],
    "oauth": {
        "issuer": "https://id.example.com",
        "jwks_url": "https://id.example.com/keys",
        "audience": ["kafka", "b", "kafka"],
    },
    "version": "4.3.1",
}


def test_a_listener_judges_tokens_by_issuer_audience_and_keys() -> None:
    found = security.security_properties(node(), TOKENS)
    assert found["listener.name.client.sasl.enabled.mechanisms"] == ["SCRAM-SHA-512", "OAUTHBEARER"]
    prefix = "listener.name.client.sasl.oauthbearer."
    said = {key.removeprefix(prefix): value for key, value in found.items() if key.startswith(prefix)}
    assert said == {
        "clock.skew.seconds": 30,
        "expected.audience": ["b", "kafka"],
        "expected.issuer": "https://id.example.com",
        "jwks.endpoint.url": "https://id.example.com/keys",
        "jwt.validator.class": "org.apache.kafka.common.security.oauthbearer.BrokerJwtValidator",
        "sub.claim.name": "sub",
    }
    handler = found["listener.name.client.oauthbearer.sasl.server.callback.handler.class"]
    assert handler == "org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler"
    assert found["listener.name.client.oauthbearer.sasl.jaas.config"].endswith("OAuthBearerLoginModule required;")
    assert not [key for key in found if ".broker." in key and "oauth" in key], "nodes show certificates to each other"


def test_before_4_1_there_is_no_class_to_name() -> None:
    found = security.security_properties(node(), {**TOKENS, "version": "3.9.2"})
    assert not [key for key in found if "validator.class" in key]


def test_without_the_mechanism_nothing_of_tokens_is_written() -> None:
    found = security.security_properties(node(), {**TOKENS, "mechanisms": ["SCRAM-SHA-512"]})
    assert not [key for key in found if "oauth" in key or "max.receive" in key]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"issuer": ""}, "made for others"),
        ({"audience": []}, "made for others"),
        ({"audience": ["kafka", " "]}, "made for others"),
        ({"jwks_url": ""}, "cannot take keys"),
        ({"jwks_url": "http://id.example.com/keys"}, "replace the keys"),
        ({"jwks_url": "https://a/keys,https://b/keys"}, "a comma"),
    ],
)
def test_what_is_known_at_run_time_alone_never_opens_a_listener(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        security.security_properties(node(), {**TOKENS, "oauth": {**TOKENS["oauth"], **wrong}})


def test_the_cas_of_an_issuer_stand_in_its_login_module_and_are_no_secret(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    listed = [issue(name, ca=True).pem().decode() for name in ("a", "b")]
    file.write_text("a comment\n" + "".join(listed))
    oauth = {**TOKENS["oauth"], "ca_file": str(file)}
    found = security.security_properties(node(), {**TOKENS, "oauth": oauth})
    module = found["listener.name.client.oauthbearer.sasl.jaas.config"]
    assert 'unsecuredLoginStringClaim_sub="unused"' in module, "else the broker asks for a token and ends"
    assert module.count("BEGIN CERTIFICATE") == 2
    assert "\n" not in module
    assert "comment" not in module
    assert module.endswith('-----END CERTIFICATE-----\\n";')
    assert not hold_secret(found)
    own = module.replace("required ", 'required clientSecret="x" ')
    assert hold_secret({"listener.name.client.oauthbearer.sasl.jaas.config": own})


def test_a_file_without_a_ca_is_named(tmp_path: Path) -> None:
    for name, content in (("missing.pem", None), ("empty.pem", "")):
        file = tmp_path / name
        if content is not None:
            file.write_text(content)
        oauth = {**TOKENS["oauth"], "ca_file": str(file)}
        with pytest.raises(ValueError, match=name):
            security.security_properties(node(), {**TOKENS, "oauth": oauth})


@pytest.mark.parametrize(
    ("clients", "roles", "mechanisms", "expected"),
    [
        ("SASL_SSL", ("broker",), ["SCRAM-SHA-512", "OAUTHBEARER"], True),
        ("SASL_SSL", ("controller",), ["SCRAM-SHA-512", "OAUTHBEARER"], False),
        ("SSL", ("broker",), ["SCRAM-SHA-512", "OAUTHBEARER"], False),
        ("SASL_SSL", ("broker",), ["SCRAM-SHA-512"], False),
    ],
)
def test_who_takes_tokens(clients: str, roles: tuple[str, ...], mechanisms: list[str], expected: bool) -> None:
    assert security.takes_tokens(node(clients, roles=roles)["listeners"], mechanisms) is expected


def test_the_administrator_gets_tokens_where_these_come_first(tmp_path: Path) -> None:
    file = tmp_path / "id.pem"
    file.write_bytes(issue("issuer", ca=True).pem())
    oauth = {"endpoint_url": "https://id.example.com/token", "scope": "kafka", "ca_file": str(file)}
    given = {**ADMIN, "mechanisms": ["OAUTHBEARER", "SCRAM-SHA-512"], "oauth": oauth}
    options = security.connection([node()], given)
    assert options["sasl_mechanism"] == "OAUTHBEARER"
    assert options["sasl_oauthbearer_endpoint_url"] == oauth["endpoint_url"]
    assert (options["sasl_oauthbearer_scope"], options["sasl_oauthbearer_ca_location"]) == ("kafka", str(file))
    properties = security.client_properties(options, "/there/ca.pem")
    assert "BEGIN CERTIFICATE" in properties["sasl.jaas.config"]
    assert str(file) not in "".join(properties.values())
    scram = security.connection([node()], {**given, "mechanisms": ["SCRAM-SHA-512", "OAUTHBEARER"]})
    assert not [name for name in scram if name.startswith("sasl_oauthbearer")]


TICKETS = {
    **SETTINGS,
    "mechanisms": ["SCRAM-SHA-512", "GSSAPI"],
    "kerberos": {"realm": "EXAMPLE.COM", "keytab_path": "/etc/kafka.keytab"},
    "keytab": "/etc/kafka.keytab",
    "version": "4.3.1",
}


def test_a_listener_takes_tickets_for_the_name_that_it_advertises() -> None:
    found = security.security_properties(node(), TICKETS)
    host = next(listener["advertised_host"] for listener in node()["listeners"] if listener["name"] == "CLIENT")
    assert found["listener.name.client.gssapi.sasl.jaas.config"] == (
        "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true doNotPrompt=true "
        f'isInitiator=false keyTab="/etc/kafka.keytab" principal="kafka/{host}@EXAMPLE.COM";'
    )
    assert found["listener.name.client.sasl.kerberos.service.name"] == "kafka"
    assert found["listener.name.client.sasl.kerberos.principal.to.local.rules"] == ["DEFAULT"]
    assert not hold_secret(found), "a path is no secret"
    assert not [key for key in found if ".broker." in key and "gssapi" in key], "nodes show certificates to each other"
    assert security.takes_tickets(node()["listeners"], TICKETS["mechanisms"])


def test_without_realm_or_keytab_no_listener_is_opened() -> None:
    with pytest.raises(ValueError, match="no realm; fix: correct kafka_kerberos"):
        security.security_properties(node(), {**TICKETS, "kerberos": {}})


def test_the_administrator_logs_in_by_kerberos_where_that_is_first() -> None:
    said = {"realm": "EXAMPLE.COM", "client_keytab_file": "/keys/admin.keytab", "service_name": "streams"}
    given = {**ADMIN, "mechanisms": ["GSSAPI", "SCRAM-SHA-512"], "kerberos": said}
    options = security.connection([node()], given)
    assert {key: value for key, value in options.items() if key.startswith("sasl_")} == {
        "sasl_mechanism": "GSSAPI",
        "sasl_kerberos_keytab": "/keys/admin.keytab",
        "sasl_kerberos_principal": "admin@EXAMPLE.COM",
        "sasl_kerberos_service_name": "streams",
    }
    java = security.client_properties(options, ca_file="/ca.pem")
    assert (java["sasl.mechanism"], java["sasl.kerberos.service.name"]) == ("GSSAPI", "streams")
    assert 'keyTab="/keys/admin.keytab" principal="admin@EXAMPLE.COM";' in java["sasl.jaas.config"]
    elsewhere = security.client_properties(options, ca_file="/ca.pem", keytab="/there.keytab")
    assert 'keyTab="/there.keytab" principal="admin@EXAMPLE.COM";' in elsewhere["sasl.jaas.config"]

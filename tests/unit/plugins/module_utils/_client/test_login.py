# SPDX-License-Identifier: GPL-3.0-or-later
"""How a client logs in, in the words of each kind of client."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import CONNECTION_SPEC, Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.login import MECHANISMS, SaslLogin, chosen, quoted
from ansible_collections.streamops.kafka.plugins.module_utils._spark.job import split_secrets

SCRAM = "SCRAM-SHA-512"
SERVERS = {"bootstrap_servers": ["a:1"], "security_protocol": "SASL_SSL"}


def test_modules_offer_every_mechanism() -> None:
    assert CONNECTION_SPEC["sasl_mechanism"]["choices"] == list(MECHANISMS)


def test_our_own_clients_log_in_by_the_first_mechanism() -> None:
    assert chosen(["OAUTHBEARER", "SCRAM-SHA-512"]) == "OAUTHBEARER"
    assert chosen([]) == ""


def test_the_password_does_not_show() -> None:
    assert "s3cret" not in repr(SaslLogin(SCRAM, "alice", "s3cret"))


@pytest.mark.parametrize(("mechanism", "module"), [(SCRAM, "scram.Scram"), ("PLAIN", "plain.Plain")])
def test_each_client_gets_its_own_words(mechanism: str, module: str) -> None:
    login = SaslLogin(mechanism, "alice", 'a"b\\')
    assert login.java() == {
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f"org.apache.kafka.common.security.{module}LoginModule required "
        r'username="alice" password="a\"b\\";',
    }
    named = {"sasl.mechanism": mechanism, "sasl.username": "alice", "sasl.password": 'a"b\\'}
    assert login.librdkafka() == named
    assert list(login.kafka_python().values()) == list(named.values())
    assert SaslLogin.of(login.options()) == login


def test_a_password_that_a_program_adds_is_left_out() -> None:
    login = SaslLogin(SCRAM, "alice")
    assert login.librdkafka() == {"sasl.mechanism": SCRAM, "sasl.username": "alice"}
    assert "password" not in login.java()["sasl.jaas.config"]


def test_a_value_of_jaas_stays_on_its_line() -> None:
    assert quoted("a\nb\rc") == '"a\\nb\\rc"'


URL, AUTHORITIES = "https://id.example.com/token", "-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----"
TOKEN_LOGIN = SaslLogin("OAUTHBEARER", "orders", 's"x', URL, "kafka", "/id-ca.pem")


def test_java_asks_for_tokens_in_bounded_time_and_brings_the_authorities_along() -> None:
    properties = TOKEN_LOGIN.java(AUTHORITIES)
    assert properties.pop("sasl.jaas.config") == (
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required "
        r'clientId="orders" clientSecret="s\"x" scope="kafka" ssl.truststore.type="PEM" '
        r'ssl.truststore.certificates="-----BEGIN CERTIFICATE-----\nAA\n-----END CERTIFICATE-----\n";'
    )
    assert properties == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.login.callback.handler.class": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginCallbackHandler"
        ),
        "sasl.login.connect.timeout.ms": "10000",
        "sasl.login.read.timeout.ms": "10000",
        "sasl.oauthbearer.token.endpoint.url": URL,
    }
    bare = SaslLogin("OAUTHBEARER", "orders", "s", URL).java()["sasl.jaas.config"]
    assert bare.endswith('OAuthBearerLoginModule required clientId="orders" clientSecret="s";')


def test_the_secret_of_a_client_is_in_what_is_known_as_secret_alone() -> None:
    plain, _secret = split_secrets(TOKEN_LOGIN.java(AUTHORITIES))
    assert set(plain) == {name for name in TOKEN_LOGIN.java() if name != "sasl.jaas.config"}


def test_librdkafka_asks_for_tokens_itself_and_kafka_python_takes_a_provider() -> None:
    assert TOKEN_LOGIN.librdkafka() == {
        "sasl.mechanism": "OAUTHBEARER",
        "sasl.oauthbearer.method": "oidc",
        "sasl.oauthbearer.token.endpoint.url": URL,
        "sasl.oauthbearer.client.id": "orders",
        "sasl.oauthbearer.client.secret": 's"x',
        "sasl.oauthbearer.scope": "kafka",
        "https.ca.location": "/id-ca.pem",
    }
    bare = SaslLogin("OAUTHBEARER", "orders", "s", URL).librdkafka()
    assert not {"sasl.oauthbearer.scope", "https.ca.location"} & set(bare)
    assert TOKEN_LOGIN.kafka_python() == {"sasl_mechanism": "OAUTHBEARER"}


def test_options_of_modules_say_where_tokens_are_with_that_mechanism_alone() -> None:
    assert SaslLogin.of(TOKEN_LOGIN.options()) == TOKEN_LOGIN
    assert Connection.from_params({**TOKEN_LOGIN.options(), **SERVERS}).login == TOKEN_LOGIN
    with_password = SaslLogin(SCRAM, "alice", "p", URL, "kafka", "/id-ca.pem")
    assert set(with_password.options()) == {"sasl_mechanism", "sasl_username", "sasl_password"}


TICKET_LOGIN = SaslLogin.by_ticket("/etc/admin.keytab", "admin@TEST.EXAMPLE", "streams")


def test_a_login_by_kerberos_has_a_keytab_and_neither_user_nor_password() -> None:
    assert SaslLogin.of(TICKET_LOGIN.options()) == TICKET_LOGIN
    assert Connection.from_params({**TICKET_LOGIN.options(), **SERVERS}).login == TICKET_LOGIN
    assert TICKET_LOGIN.kafka_python() == {"sasl_mechanism": "GSSAPI"}
    assert TICKET_LOGIN.java() == {
        "sasl.mechanism": "GSSAPI",
        "sasl.kerberos.service.name": "streams",
        "sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true "
        'doNotPrompt=true isInitiator=true keyTab="/etc/admin.keytab" principal="admin@TEST.EXAMPLE";',
    }

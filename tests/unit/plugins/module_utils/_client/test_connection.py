"""The connection: the same description for both libraries, and secrets that do not show."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError

PARAMS = {
    "bootstrap_servers": ["a:1", " b:2 "],
    "security_protocol": "SASL_SSL",
    "sasl_mechanism": "SCRAM-SHA-512",
    "sasl_username": "u",
    "sasl_password": "s3cret",
    "ssl_ca_location": "/ca.pem",
    "ssl_key_password": "k3y",
    "request_timeout": 5,
    "topics": [],
    "ssl_key_location": None,
}


def test_both_libraries_are_told_the_same() -> None:
    connection = Connection.from_params(PARAMS)
    confluent, python = connection.confluent_config(), connection.kafka_python_config()
    assert confluent["bootstrap.servers"].split(",") == python["bootstrap_servers"] == ["a:1", "b:2"]
    for ours, theirs in [
        ("security.protocol", "security_protocol"),
        ("sasl.mechanism", "sasl_mechanism"),
        ("sasl.username", "sasl_plain_username"),
        ("sasl.password", "sasl_plain_password"),
        ("ssl.ca.location", "ssl_cafile"),
        ("ssl.key.password", "ssl_password"),
        ("socket.timeout.ms", "request_timeout_ms"),
    ]:
        assert confluent[ours] == python[theirs]


def test_both_libraries_get_an_ipv6_address_in_brackets() -> None:
    connection = Connection.from_params({**PARAMS, "bootstrap_servers": ["[FD00::1]:9092", "kafka2:9092"]})
    assert connection.bootstrap_servers == ("[fd00::1]:9092", "kafka2:9092")


@pytest.mark.parametrize("server", ["127.0.0.1", "kafka1:99999", "fd00::1:9092", "SSL://kafka1:9092"])
def test_a_server_that_no_client_can_ask_is_refused_before_any_is_asked(server: str) -> None:
    with pytest.raises(RefusedError, match=r"bootstrap_servers: '.*' is not of the form host:port"):
        Connection.from_params({**PARAMS, "bootstrap_servers": ["a:1", server]})


def test_what_is_not_given_is_left_to_the_library() -> None:
    connection = Connection.from_params(PARAMS)
    assert "ssl.key.location" not in connection.confluent_config()
    assert "ssl_keyfile" not in connection.kafka_python_config()


def test_no_library_takes_longer_for_a_connection_than_a_request_may() -> None:
    for seconds, limit in ((1, 1000), (30, 8000), (60, 16000)):
        config = Connection(("a:1",), request_timeout=seconds).confluent_config()
        assert config["socket.connection.setup.timeout.ms"] == limit


def test_secrets_do_not_show() -> None:
    shown = repr(Connection.from_params(PARAMS))
    assert "s3cret" not in shown
    assert "k3y" not in shown


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"bootstrap_servers": ["127.0.0.1"]}, "'127.0.0.1' is not of the form host:port with a port from 1"),
        ({"bootstrap_servers": ["[::1]"]}, "'[::1]' is not of the form host:port"),
        ({"bootstrap_servers": [":9092"]}, "':9092' is not of the form host:port"),
        ({"bootstrap_servers": ["a:9092x"]}, "'a:9092x' is not of the form host:port"),
        ({"bootstrap_servers": ["a:99999"]}, "'a:99999' is not of the form host:port with a port from 1 to 65535"),
        ({"bootstrap_servers": ["a:0"]}, "'a:0' is not of the form"),
        ({"bootstrap_servers": []}, "bootstrap_servers names no server"),
        ({"bootstrap_servers": [" "]}, "bootstrap_servers names no server"),
        ({"security_protocol": "PLAINTEXT"}, "sasl_username and sasl_password would not be used"),
        ({"security_protocol": "SSL", "sasl_username": None}, "so sasl_password would not be used"),
        ({"security_protocol": "SASL_PLAINTEXT"}, "the CA in ssl_ca_location would not be used"),
        ({"security_protocol": "PLAINTEXT"}, "the CA in ssl_ca_location would not be used"),
        (
            {"security_protocol": "SASL_PLAINTEXT", "ssl_certificate_location": "/c"},
            "the certificate in ssl_certificate_location would not be shown",
        ),
    ],
)
def test_what_cannot_connect_or_would_not_log_in_is_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        Connection.from_params({**PARAMS, **given})
    assert said in str(refused.value)
    assert "s3cret" not in str(refused.value)


def test_all_that_is_wrong_is_named_at_once_and_good_addresses_pass() -> None:
    with pytest.raises(RefusedError) as refused:
        Connection.from_params({**PARAMS, "bootstrap_servers": ["a", "b:1", "c:0"], "security_protocol": "SSL"})
    assert len(refused.value.violations) == 3
    assert Connection.from_params({"bootstrap_servers": ["[fd00::1]:9092", "a:65535"]})

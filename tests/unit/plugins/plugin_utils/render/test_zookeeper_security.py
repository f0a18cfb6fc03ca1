"""The security properties of servers and brokers, and credentials as Kafka keeps them in ZooKeeper."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.scram import salted_password
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper import credentials
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import zookeeper_security as security


def settings(**more: Any) -> dict[str, Any]:
    """Servers with TLS and logins, or with something else about them."""
    base = {"tls": True, "sasl": True, "port": 2181, "host": "", "tls_dir": "/etc/tls", "tls_protocols": ["TLSv1.3"]}
    return {**base, **more}


def test_an_open_server_has_its_port_and_nothing_else() -> None:
    assert security.server_properties(settings(tls=False, sasl=False)) == {"clientPort": 2181}
    assert security.broker_properties(settings(tls=False, sasl=False)) == {}


def test_a_secured_server_has_no_plain_port_and_answers_nobody_without_a_login() -> None:
    found = security.server_properties(settings(host="10.0.0.1"))
    assert (found["secureClientPort"], found["secureClientPortAddress"]) == (2181, "10.0.0.1")
    assert "clientPort" not in found
    assert found["sslQuorum"] is True
    assert found["ssl.quorum.clientAuth"] == "need"
    assert found["ssl.clientAuth"] == "none"
    assert (found["enforce.auth.enabled"], found["enforce.auth.schemes"]) == (True, "sasl")


def test_without_logins_clients_show_certificates() -> None:
    assert security.server_properties(settings(sasl=False))["ssl.clientAuth"] == "need"


def test_brokers_of_a_secured_ensemble_keep_what_they_write_to_themselves() -> None:
    found = security.broker_properties(settings())
    assert found["zookeeper.ssl.client.enable"] is True
    assert found["zookeeper.ssl.endpoint.identification.algorithm"] == "HTTPS"
    assert found["zookeeper.set.acl"] is True


def test_passwords_survive_the_jaas_text() -> None:
    assert 'user_kafka="a\\"b\\\\c";' in security.server_jaas("kafka", 'a"b\\c')
    assert 'password="a\\"b\\\\c";' in security.client_jaas("kafka", 'a"b\\c')


def test_modules_log_in_and_trust_the_ca() -> None:
    found = security.access_options([{"id": 1}], {**settings(), "ca_file": "/ca", "user": "kafka", "password": "x"})
    assert found == {"servers": [{"id": 1}], "ssl_ca_location": "/ca", "sasl_username": "kafka", "sasl_password": "x"}
    plain = {**settings(tls=False, sasl=False), "ca_file": "/ca", "user": "kafka", "password": ""}
    assert security.access_options([], plain) == {"servers": []}


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_credential_is_what_a_broker_checks_a_login_against(mechanism: str) -> None:
    words = dict(part.split("=", 1) for part in credentials.credential(mechanism, "secret", b"salt").split(","))
    salted = salted_password(mechanism, "secret", b"salt", int(words["iterations"]))
    name = mechanism.replace("SCRAM-SHA-", "sha")
    stored = hashlib.new(name, hmac.new(salted, b"Client Key", name).digest()).digest()
    assert base64.b64decode(words["stored_key"]) == stored
    assert base64.b64decode(words["server_key"]) == hmac.new(salted, b"Server Key", name).digest()
    assert base64.b64decode(words["salt"]) == b"salt"


def test_what_is_there_stays() -> None:
    kept = {"version": 1, "config": {"SCRAM-SHA-512": "salt=old"}}
    assert credentials.missing(kept, ["SCRAM-SHA-512", "SCRAM-SHA-256", "PLAIN"]) == ["SCRAM-SHA-256"]
    assert credentials.missing(None, ["SCRAM-SHA-512"]) == ["SCRAM-SHA-512"]
    after = json.loads(credentials.content(kept, {"SCRAM-SHA-256": "salt=new"}))
    assert after == {"version": 1, "config": {"SCRAM-SHA-512": "salt=old", "SCRAM-SHA-256": "salt=new"}}


def test_names_are_written_as_kafka_writes_them() -> None:
    assert credentials.path_of("CN=a b") == "/config/users/CN%3Da%20b"

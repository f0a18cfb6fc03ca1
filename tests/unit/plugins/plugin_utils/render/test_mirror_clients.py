# SPDX-License-Identifier: GPL-3.0-or-later
"""How a mirror logs in to the clusters it stands between."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.kerberos import Kerberos
from ansible_collections.streamops.kafka.plugins.plugin_utils.render import mirror_clients

FILES = {"secrets": "/etc/kafka/m/secrets.properties", "truststores": "/etc/kafka/m", "keystore": "/etc/kafka/m/k.pem"}


def endpoint(cluster: str, **changes: Any) -> dict[str, Any]:
    return {
        "cluster": cluster,
        "bootstrap_servers": [f"{cluster}1:9092"],
        "protocol": "SASL_SSL",
        "mirror_bootstrap_servers": ["line:9095"],
        "mirror_protocol": "SASL_SSL",
        "mechanism": "SCRAM-SHA-256",
        "user": "mirror",
        "password": 'a"b',
        "ca_file": f"/ca/{cluster}.pem",
        "brokers": 3,
        **changes,
    }


def test_a_cluster_of_which_no_host_takes_part_is_named() -> None:
    said = [endpoint("a"), {}]
    assert list(mirror_clients.cluster_endpoints(said, ["a"])) == ["a"]
    with pytest.raises(ValueError, match="no broker of b takes part"):
        mirror_clients.cluster_endpoints(said, ["a", "b"])


def test_the_source_is_reached_by_its_listener_for_mirrors_and_the_target_by_its_own() -> None:
    clients = mirror_clients.mirror_clients({"a": endpoint("a"), "b": endpoint("b")}, "b", FILES)
    assert clients["a"]["bootstrap_servers"] == ["line:9095"]
    assert clients["b"]["bootstrap_servers"] == ["b1:9092"]
    assert clients["a"]["properties"]["ssl.truststore.location"] == "/etc/kafka/m/truststore-a.pem"
    assert clients["a"]["properties"]["sasl.mechanism"] == "SCRAM-SHA-256"


def test_a_password_is_in_the_secrets_file_only() -> None:
    endpoints = {"a": endpoint("a"), "b": endpoint("b", protocol="PLAINTEXT")}
    clients = mirror_clients.mirror_clients(endpoints, "b", FILES)
    reference = "${file:/etc/kafka/m/secrets.properties:a.sasl.jaas.config}"
    assert clients["a"]["properties"]["sasl.jaas.config"] == reference
    assert clients["b"]["properties"] == {}
    secrets = mirror_clients.mirror_secrets(endpoints, "b", "/etc/kafka/m")
    assert list(secrets) == ["a.sasl.jaas.config"]
    assert 'password="a\\"b";' in secrets["a.sasl.jaas.config"]
    assert mirror_clients.mirror_trusts(endpoints, "b") == {"a": "/ca/a.pem"}


def test_where_certificates_are_asked_for_the_mirror_shows_its_own() -> None:
    clients = mirror_clients.mirror_clients({"a": endpoint("a", mirror_protocol="SSL")}, "b", FILES)
    assert clients["a"]["properties"]["ssl.keystore.location"] == "/etc/kafka/m/k.pem"
    assert "sasl.jaas.config" not in clients["a"]["properties"]


def test_a_mirror_gets_tokens_where_each_cluster_says_and_keeps_its_secret_apart() -> None:
    tokens = {"sasl_oauthbearer_endpoint_url": "https://id.example.com/token", "sasl_oauthbearer_scope": "kafka"}
    endpoints = {"a": endpoint("a", mechanism="OAUTHBEARER", tokens=tokens), "b": endpoint("b")}
    properties = mirror_clients.mirror_clients(endpoints, "b", FILES)["a"]["properties"]
    assert properties["sasl.oauthbearer.token.endpoint.url"] == "https://id.example.com/token"
    assert properties["sasl.jaas.config"] == "${file:/etc/kafka/m/secrets.properties:a.sasl.jaas.config}"
    secrets = mirror_clients.mirror_secrets(endpoints, "b", "/etc/kafka/m")
    assert 'clientId="mirror" clientSecret="a\\"b" scope="kafka";' in secrets["a.sasl.jaas.config"]
    assert "ScramLoginModule" in secrets["b.sasl.jaas.config"]


REALM = {"realm": "EXAMPLE.COM", "service_name": "brokers", "client_keytab_file": "/keys/admin.keytab"}
TICKETS = {"mechanism": "GSSAPI", "kerberos": REALM, "keytab_file": "/keys/mirror.keytab"}


def test_a_mirror_logs_in_by_kerberos_with_a_copy_of_its_own_keytab() -> None:
    endpoints = {"a": endpoint("a", **TICKETS), "b": endpoint("b")}
    properties = mirror_clients.mirror_clients(endpoints, "b", FILES)["a"]["properties"]
    assert properties["sasl.mechanism"] == "GSSAPI"
    assert properties["sasl.kerberos.service.name"] == "brokers"
    assert properties["sasl.jaas.config"] == "${file:/etc/kafka/m/secrets.properties:a.sasl.jaas.config}"
    jaas = mirror_clients.mirror_secrets(endpoints, "b", "/etc/kafka/m")["a.sasl.jaas.config"]
    assert jaas.startswith("com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true")
    assert 'keyTab="/etc/kafka/m/a.keytab"' in jaas
    assert 'principal="mirror@EXAMPLE.COM"' in jaas
    keytabs = mirror_clients.mirror_keytabs(endpoints, "b", "/etc/kafka/m")
    assert keytabs == [{"file": "/keys/mirror.keytab", "path": "/etc/kafka/m/a.keytab"}]


def test_no_keytab_goes_to_a_mirror_that_enters_without_a_login() -> None:
    endpoints = {"a": endpoint("a", **TICKETS, mirror_protocol="SSL"), "b": endpoint("b", **TICKETS, protocol="SSL")}
    assert mirror_clients.mirror_keytabs(endpoints, "b", "/etc/kafka/m") == []
    assert mirror_clients.mirror_kerberos(endpoints, "b", Kerberos(krb5_file="/etc/k.conf")) == Kerberos()


@pytest.mark.parametrize(
    ("kdcs", "own", "reads"),
    [
        ([], Kerberos(), Kerberos()),
        (["kdc1"], Kerberos(), Kerberos("EXAMPLE.COM", kdcs=("kdc1",))),
        (["kdc1"], Kerberos("EXAMPLE.COM", krb5_file="/etc/k.conf"), Kerberos(krb5_file="/etc/k.conf")),
        (["kdc1"], Kerberos("OTHER.COM", kdcs=("kdc2",)), Kerberos("EXAMPLE.COM", kdcs=("kdc1",))),
    ],
)
def test_the_java_of_a_mirror_reads_the_krb5_conf_of_its_machine_or_that_of_a_cluster(
    kdcs: list[str], own: Kerberos, reads: Kerberos
) -> None:
    endpoints = {"a": endpoint("a"), "b": endpoint("b", **{**TICKETS, "kerberos": {**REALM, "kdcs": kdcs}})}
    assert mirror_clients.mirror_kerberos(endpoints, "b", own) == reads

# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster outside of the inventory as the source of a flow: its endpoint, and what is said of it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import external
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.mirror_clients import (
    mirror_clients,
    mirror_secrets,
    mirror_trusts,
)

SERVERS = {"bootstrap_servers": ["old1:9092", "old2:9092"]}
LOGIN = {"username": "reader", "password": " p1 "}
FILES = {"secrets": "/m/secrets.properties", "truststores": "/m", "keystore": "/m/k.pem"}


@pytest.mark.parametrize(
    ("entry", "protocol"),
    [
        ({}, "PLAINTEXT"),
        (LOGIN, "SASL_PLAINTEXT"),
        ({"ca_file": "/ca.pem"}, "SSL"),
        ({**LOGIN, "ca_file": "/ca.pem"}, "SASL_SSL"),
        ({**LOGIN, "ca_file": "/ca.pem", "security_protocol": "SSL"}, "SSL"),
    ],
)
def test_the_protocol_follows_from_what_is_known(entry: dict[str, Any], protocol: str) -> None:
    assert external.protocol_of(entry) == protocol


@pytest.mark.parametrize("given", [["old1:9092", "old2:9092"], "old1:9092, old2:9092", '["old1:9092","old2:9092"]'])
def test_servers_are_a_list_or_text(given: Any) -> None:
    assert external.servers_of({"bootstrap_servers": given}) == SERVERS["bootstrap_servers"]


def test_an_endpoint_is_that_of_a_mirror_of_modules_and_of_jobs() -> None:
    found = external.external_endpoint("old", {**SERVERS, **LOGIN, "ca_file": "/ca.pem"})
    assert found["connection"] == {
        **SERVERS,
        "security_protocol": "SASL_SSL",
        "ssl_ca_location": "/ca.pem",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "reader",
        "sasl_password": " p1 ",
    }
    clients = mirror_clients({"old": found}, "dc_b", FILES)
    assert clients["old"]["brokers"] is None
    assert "p1" not in str(clients)
    assert mirror_trusts({"old": found}, "dc_b") == {"old": "/ca.pem"}
    secrets = mirror_secrets({"old": found}, "dc_b", "/etc/kafka/m")
    assert 'username="reader" password=" p1 ";' in secrets["old.sasl.jaas.config"]


def test_what_needs_nothing_gets_nothing() -> None:
    found = external.external_endpoint("old", {**SERVERS, "username": None})
    assert found["connection"] == SERVERS
    assert mirror_clients({"old": found}, "dc_b", FILES)["old"]["properties"] == {}


def test_a_mirror_shows_its_certificate_to_clusters_of_the_inventory_alone() -> None:
    found = external.external_endpoint("old", {**SERVERS, "ca_file": "/ca.pem"})
    properties = mirror_clients({"old": found}, "dc_b", FILES)["old"]["properties"]
    assert properties["security.protocol"] == "SSL"
    assert "ssl.keystore.location" not in properties


@pytest.mark.parametrize(
    ("acl", "words"),
    [
        ({"resource": "orders", "pattern_type": "literal"}, "topic orders"),
        ({"resource": "a.", "pattern_type": "prefixed"}, "each topic that begins with a."),
        ({"resource": "*", "pattern_type": "literal"}, "every topic"),
        ({"resource_type": "cluster"}, "the cluster"),
    ],
)
def test_rights_are_told_in_words(acl: dict[str, Any], words: str) -> None:
    entry = {"resource_type": "topic", "operations": ["read", "describe_configs"], **acl}
    assert external.rights_lines("old", LOGIN, [entry]) == [f"User:reader in old: read, describe_configs on {words}"]
    assert external.rights_lines("old", {}, [entry]) == []


def test_an_alias_of_a_cluster_of_the_inventory_is_told() -> None:
    (told,) = external.led_home({"old": "x", "older": "", "oldest": "z"}, {"dc_a": "x", "dc_c": ""})
    assert "old of mirror_external_clusters leads to dc_a of this inventory" in told


def test_a_cluster_that_cannot_be_read_is_told_with_the_cause() -> None:
    answers = [{"item": "old", "msg": "no login."}, {"item": "other", "cluster_id": "x"}]
    (told,) = external.failures(answers)
    assert told.startswith("old of mirror_external_clusters cannot be read: no login. Its address")

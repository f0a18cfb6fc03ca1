# SPDX-License-Identifier: GPL-3.0-or-later
"""Listeners of nodes that others installed, as kafka_listeners has them."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import PropertiesError
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.listeners import Entry, listeners_of

NAME = "kafka1.example.com"
BOTH = ("broker", "controller")


def entry(name: str, port: int, protocol: str, purpose: str, host: str = "", advertised: str = NAME) -> Entry:
    """Return an entry of a listener that the node opens."""
    return Entry(name, port, protocol, purpose, host, advertised)


def test_the_file_of_apache_for_a_combined_node() -> None:
    found = listeners_of(
        {
            "listeners": "PLAINTEXT://:9092,CONTROLLER://:9093",
            "inter.broker.listener.name": "PLAINTEXT",
            "advertised.listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": (
                "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
            ),
        },
        BOTH,
        NAME,
    )
    assert found.entries == [
        entry("PLAINTEXT", 9092, "PLAINTEXT", "clients", advertised="localhost"),
        entry("CONTROLLER", 9093, "PLAINTEXT", "controllers", advertised="localhost"),
    ]
    assert found.native == {}


def test_a_file_that_says_nothing_listens_at_kafkas_own_port() -> None:
    assert listeners_of({}, ("broker",), NAME).entries == [entry("PLAINTEXT", 9092, "PLAINTEXT", "clients")]


def test_brokers_with_a_listener_of_their_own_and_clients_at_two() -> None:
    found = listeners_of(
        {
            "listeners": "INTERNAL://10.0.0.1:9091, EXTERNAL://0.0.0.0:9092, TOKENS://[fd00::1]:9095",
            "advertised.listeners": (
                "INTERNAL://10.0.0.1:9091,EXTERNAL://broker1.example.com:9092,TOKENS://[fd00::1]:9095"
            ),
            "inter.broker.listener.name": "INTERNAL",
            "listener.security.protocol.map": "INTERNAL:SSL,EXTERNAL:SASL_SSL,TOKENS:SASL_PLAINTEXT",
        },
        ("broker",),
        NAME,
    )
    assert found.entries == [
        entry("INTERNAL", 9091, "SSL", "brokers", "10.0.0.1", "10.0.0.1"),
        entry("EXTERNAL", 9092, "SASL_SSL", "clients", "0.0.0.0", "broker1.example.com"),
        entry("TOKENS", 9095, "SASL_PLAINTEXT", "clients", "fd00::1", "fd00::1"),
    ]
    assert found.native == {}


@pytest.mark.parametrize("given", ["security.inter.broker.protocol", "inter.broker.listener.name"])
def test_the_listener_between_brokers_may_be_named_by_its_protocol(given: str) -> None:
    found = listeners_of({"listeners": "SSL://:9093,PLAINTEXT://:9092", given: "SSL"}, ("broker",), NAME)
    assert [(listener.name, listener.purpose) for listener in found.entries] == [
        ("SSL", "brokers"),
        ("PLAINTEXT", "clients"),
    ]


@pytest.mark.parametrize(
    "quorum",
    [
        {"controller.quorum.voters": "1@c1:9193,2@c2:9193"},
        {"controller.quorum.bootstrap.servers": "[fd00::2]:9193,c2:9193"},
    ],
)
def test_a_broker_knows_the_listener_of_controllers_that_it_does_not_open(quorum: dict[str, str]) -> None:
    found = listeners_of({"controller.listener.names": "CTRL", **quorum}, ("broker",), NAME)
    assert found.entries[-1] == Entry("CTRL", 9193, "PLAINTEXT", "controllers")


def test_a_controller_alone_has_no_listener_between_brokers() -> None:
    found = listeners_of({"listeners": "CTRL://:9193", "controller.listener.names": "CTRL"}, ("controller",), NAME)
    assert found.entries == [entry("CTRL", 9193, "PLAINTEXT", "controllers")]


def test_a_port_that_is_translated_is_advertised() -> None:
    given = {"listeners": "PLAINTEXT://:9092", "advertised.listeners": "PLAINTEXT://public:19092"}
    listeners = listeners_of(given, ("broker",), NAME)
    assert listeners.entries == [Entry("PLAINTEXT", 9092, "PLAINTEXT", "clients", "", "public", 19092)]
    assert listeners.native == {}


@pytest.mark.parametrize(
    "advertised",
    ["INNER://inner:9091", "PLAINTEXT://public:9092,INNER://inner:9091,OTHER://other:9093"],
    ids=["one of two", "three of two"],
)
def test_what_is_advertised_in_another_way_stays_as_it_is(advertised: str) -> None:
    found = listeners_of(
        {
            "listeners": "PLAINTEXT://:9092,INNER://:9091",
            "advertised.listeners": advertised,
            "inter.broker.listener.name": "INNER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,INNER:PLAINTEXT",
        },
        ("broker",),
        NAME,
    )
    assert found.native == {"advertised.listeners": advertised}


def test_several_listeners_of_controllers_stay_as_they_are() -> None:
    given = {"listeners": "A://:1,B://:2", "controller.listener.names": "A, B"}
    found = listeners_of(given, ("controller",), NAME)
    assert {listener.purpose for listener in found.entries} == {"controllers"}
    assert found.native == {"controller.listener.names": "A,B"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"listeners": "9092"}, "9092 is no listener"),
        ({"listeners": "A://:9092"}, "no protocol for listener A"),
        ({"listeners": "A://:9092", "listener.security.protocol.map": "A:TLS"}, "no protocol for listener A"),
        ({"controller.listener.names": "C"}, "no controller is named"),
        ({"controller.listener.names": "C", "controller.quorum.voters": "1@x"}, "1@x is no controller"),
    ],
)
def test_what_kafka_would_not_take_is_refused(given: dict[str, str], words: str) -> None:
    with pytest.raises(PropertiesError, match=words):
        listeners_of(given, ("broker",), NAME)

"""Which names of a certificate stand for a host with Java and with OpenSSL.

tests/integration/security/test_both_engines.py asks the two engines themselves.
"""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.host_names import (
    covers,
    typed,
    why_no_name,
    why_not,
)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("DNS:kafka1.lan", "kafka1.lan"),
        ("DNS:KAFKA1.Lan", "kafka1.lan"),
        ("DNS:kafka1.lan", "KAFKA1.LAN"),
        ("DNS:kafka1", "kafka1"),
        ("DNS:*.a.lan", "kafka1.a.lan"),
        ("DNS:*.A.LAN", "kafka1.a.lan"),
        ("DNS:*.a.lan", "xn--bcher-kva.a.lan"),
        ("DNS:xn--bcher-kva.lan", "xn--bcher-kva.lan"),
        ("IP:10.0.0.1", "10.0.0.1"),
        ("IP:fd00::1", "fd00:0:0::1"),
        ("IP:fd00::1", "[fd00::1]"),
        ("IP:::ffff:10.0.0.1", "::ffff:10.0.0.1"),
    ],
)
def test_a_name_stands_for_a_host_of_its_type(name: str, host: str) -> None:
    assert covers(["DNS:other", name], host)


@pytest.mark.parametrize(
    ("name", "host"),
    [
        ("DNS:127.0.0.1", "127.0.0.1"),
        ("DNS:127.0.0.*", "127.0.0.1"),
        ("DNS:*", "127.0.0.1"),
        ("DNS:*", "kafka1"),
        ("DNS:fd00::1", "fd00::1"),
        ("IP:10.0.0.1", "kafka1"),
        ("IP:10.0.0.1", "::ffff:10.0.0.1"),
        ("IP:::ffff:10.0.0.1", "10.0.0.1"),
        ("DNS:*.lan", "kafka1.lan"),
        ("DNS:*.a.lan", "a.lan"),
        ("DNS:*.a.lan", "b.kafka1.a.lan"),
        ("DNS:kafka*.a.lan", "kafka1.a.lan"),
        ("DNS:kafka1.*.lan", "kafka1.a.lan"),
        ("DNS:*.*.a.lan", "b.kafka1.a.lan"),
        ("DNS:kafka1.lan", "kafka1.lan."),
        ("DNS:kafka1.lan.", "kafka1.lan"),
        ("DNS:kafka1.lan.", "kafka1.lan."),
        ("DNS:xn--bcher-kva.lan", "bücher.lan"),
        ("DNS:kafka_1.lan", "kafka_1.lan"),
        ("DNS:kafka1.lan", "kafka2.lan"),
        ("DNS:10.1", "10.1"),
        ("DNS:kafka?.lan", "kafka1.lan"),
        ("DNS:kafka[12].lan", "kafka1.lan"),
    ],
)
def test_a_name_that_one_engine_does_not_take_stands_for_nothing(name: str, host: str) -> None:
    assert not covers([name], host)


@pytest.mark.parametrize(
    ("name", "host", "words"),
    [
        ("DNS:127.0.0.1", "127.0.0.1", "does not stand for an address"),
        ("DNS:*.lan", "kafka1.lan", "two labels stand behind it"),
        ("DNS:*", "127.0.0.1", "for names only"),
        ("DNS:kafka1.lan.", "kafka1.lan", "ends with a dot"),
        ("IP:10.0.0.1", "::ffff:10.0.0.1", "two addresses for OpenSSL"),
        ("DNS:kafka2.lan", "kafka1.lan", ""),
    ],
)
def test_a_name_that_seems_to_stand_for_a_host_is_explained(name: str, host: str, words: str) -> None:
    said = why_not([name], host)
    assert words in said
    assert bool(said) is bool(words)


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ("kafka1.lan", ""),
        ("10.0.0.1", ""),
        ("kafka1.lan.", "ends with a dot"),
        ("bücher.lan", "not ASCII"),
        ("kafka_1.lan", "letters, digits and hyphens"),
        ("10.1", "no number"),
    ],
)
def test_a_host_that_no_certificate_can_name_is_told(host: str, words: str) -> None:
    assert words in why_no_name(host)
    assert bool(why_no_name(host)) is bool(words)


def test_the_missing_name_has_its_type() -> None:
    assert [typed(host) for host in ("kafka1", "kafka1.lan.", "10.0.0.1", "[fd00::1]")] == [
        *("DNS:kafka1", "DNS:kafka1.lan", "IP:10.0.0.1", "IP:fd00::1")
    ]

"""Hosts of ACLs in the spelling that Kafka stores; what networks mean was measured with CidrUtils of Kafka 4.4.0."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._acls.hosts import (
    covers,
    host_text,
    is_network,
    one_spelling,
)


@pytest.mark.parametrize(
    ("written", "kafka"),
    [
        ("*", "*"),
        ("10.0.0.1", "10.0.0.1"),
        ("::1", "0:0:0:0:0:0:0:1"),
        ("2001:DB8::0a", "2001:db8:0:0:0:0:0:a"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
    ],
)
def test_an_address_is_written_as_java_writes_it_which_is_what_kafka_compares(written: str, kafka: str) -> None:
    assert host_text(written) == (kafka, [])


@pytest.mark.parametrize(
    ("written", "kafka"),
    [
        ("10.0.0.0/8", "10.0.0.0/8"),
        ("10.1.2.3/8", "10.0.0.0/8"),
        ("10.0.0.0/08", "10.0.0.0/8"),
        ("10.0.0.1/32", "10.0.0.1/32"),
        ("0.0.0.0/0", "0.0.0.0/0"),
        ("2001:DB8::7/32", "2001:db8::/32"),
        ("2001:0db8:0:0::/32", "2001:db8::/32"),
        ("::/0", "::/0"),
        ("::ffff:10.1.0.0/104", "10.0.0.0/8"),
    ],
)
def test_a_network_is_written_with_its_first_address(written: str, kafka: str) -> None:
    assert host_text(written) == (kafka, [])
    assert one_spelling(written) == one_spelling(kafka) == kafka
    assert is_network(written)


@pytest.mark.parametrize(
    "written",
    [
        *("10.0.0.0/33", "2001:db8::/129", "10.0.0.0/255.0.0.0", "10.0.0.0/", "/8", "10.0/8", "10.0.0.0/8/8"),
        *("kafka.example.com/8", " 10.0.0.0/8", "10.0.0.0/+8", "10.0.0.0/²", "fe80::1%eth0/64"),
    ],
)
def test_what_kafka_refuses_or_reads_otherwise_is_no_network(written: str) -> None:
    text, violations = host_text(written)
    assert text == written
    assert "a network is its first address and the number of its fixed bits" in violations[0]
    assert one_spelling(written) == written


@pytest.mark.parametrize(
    ("host", "other"),
    [
        ("*", "10.0.0.1"),
        ("*", "10.0.0.0/8"),
        ("10.0.0.1", "10.0.0.1"),
        ("10.0.0.0/8", "10.9.9.9"),
        ("10.0.0.0/8", "10.9.0.0/16"),
        ("10.1.2.3/8", "10.9.0.0/16"),
        ("2001:db8::/32", "2001:db8:0:0:0:0:0:1"),
    ],
)
def test_a_network_covers_its_addresses_and_its_parts(host: str, other: str) -> None:
    assert covers(host, other)


@pytest.mark.parametrize(
    ("host", "other"),
    [
        ("10.0.0.1", "*"),
        ("0.0.0.0/0", "*"),
        ("::/0", "*"),
        ("10.0.0.0/16", "10.0.0.0/8"),
        ("10.0.0.0/8", "11.0.0.1"),
        ("::/0", "10.0.0.1"),
        ("0.0.0.0/0", "0:0:0:0:0:0:0:1"),
        ("10.0.0.0/8", "kafka.example.com"),
        ("kafka.example.com/8", "10.0.0.1"),
    ],
)
def test_a_network_covers_nothing_else(host: str, other: str) -> None:
    assert not covers(host, other)

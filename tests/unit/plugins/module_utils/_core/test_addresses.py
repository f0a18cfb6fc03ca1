# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts and ports as text, of both families."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.addresses import (
    host_port,
    is_address,
    is_loopback,
    plain_host,
    reached_here,
    split_host_port,
)


@pytest.mark.parametrize(
    ("host", "text"),
    [
        ("kafka1", "kafka1:9092"),
        ("10.0.0.1", "10.0.0.1:9092"),
        ("fd00::2", "[fd00::2]:9092"),
        ("[fd00::2]", "[fd00::2]:9092"),
        ("FD00:0:0::2", "[fd00::2]:9092"),
        ("fe80::1%eth0", "[fe80::1%eth0]:9092"),
        ("", ":9092"),
    ],
)
def test_an_ipv6_address_stands_in_brackets_before_a_port(host: str, text: str) -> None:
    assert host_port(host, 9092) == text
    if host:
        assert split_host_port(text) == (plain_host(host), 9092)


@pytest.mark.parametrize("host", ["10.0.0.1", "::1", "[::1]", "fd00::1", "[FD00::1]"])
def test_an_address_is_told_from_a_name(host: str) -> None:
    assert is_address(host)
    assert not plain_host(host).startswith("[")


@pytest.mark.parametrize("host", ["kafka1", "localhost", "10.0.0", "", "[kafka1]", "[]"])
def test_a_name_is_no_address(host: str) -> None:
    assert not is_address(host)


@pytest.mark.parametrize(
    "text",
    [
        "127.0.0.1",
        "kafka1:",
        ":9092",
        "kafka1:0",
        "kafka1:99999",
        "kafka1:-1",
        "fd00::2:9092",
        "[fd00::2]",
        "[kafka1]:9092",
        "PLAINTEXT://kafka1:9092",
        "a:1,b:2",
        "",
    ],
)
def test_what_is_no_host_and_port_is_refused_with_the_form(text: str) -> None:
    with pytest.raises(ValueError, match=r"host:port with a port from 1 to 65535.*\[fd00::1\]:9092"):
        split_host_port(text)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.1.2.3", "::1", "[::1]"])
def test_loopback_addresses_are_recognised(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["kafka1", "10.0.0.1", "localhost.example.org", "::2"])
def test_other_addresses_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("bound", "reached"), [("", "127.0.0.1"), ("0.0.0.0", "127.0.0.1"), ("::", "::1"), ("10.0.0.1", "10.0.0.1")]
)
def test_what_is_bound_to_all_addresses_is_reached_on_loopback(bound: str, reached: str) -> None:
    assert reached_here(bound) == reached

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on Prometheus and Alertmanager: who reaches them, their ports, and what they are configured with."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import all_typed
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.preflight_inventories import combined, expect, only

DIGEST = "$2y$05$" + "a" * 53
TLS = {"cert_file": "/c", "key_file": "/k"}
WEB = {"tls_server_config": TLS, "basic_auth_users": {"u": DIGEST}}
DEFAULTS = {
    "ansible_host": "10.0.0.9",
    "kafka_monitoring_host": "127.0.0.1",
    "kafka_monitoring_port": 9090,
    "kafka_monitoring_alertmanager_port": 9093,
    "kafka_monitoring_retention": "15d",
    "kafka_monitoring_receivers": [{"name": "none"}],
    "kafka_monitoring_route": {"receiver": "none"},
}


def refused(takes_part: bool = True, **own: Any) -> list[str]:
    """The names of the rules on monitoring that a host breaks."""
    known, unclear = all_typed({**DEFAULTS, **own}, role_options(), UNDEFINED)
    host = build_node("prom1", controller=False, broker=False, variables=known, undefined={}, unclear=unclear)
    inventory = combined()
    play = (*inventory.play_hosts, *(["prom1"] if takes_part else []))
    inventory = dataclasses.replace(inventory, monitors=(host,), play_hosts=play)
    return sorted(one.name for one in check_inventory(inventory) if one.name.startswith("monitoring_"))


@pytest.mark.parametrize(
    "own",
    [
        {},
        {"kafka_monitoring_host": "::1"},
        {"kafka_monitoring_host": "0.0.0.0", "kafka_monitoring_web_config": WEB},
        {"kafka_monitoring_host": "0.0.0.0", "kafka_monitoring_web_config": UNDEFINED},
        {"kafka_monitoring_retention": "1y6w"},
        {"kafka_monitoring_receivers": UNDEFINED},
        {"kafka_monitoring_route": {"receiver": "none", "routes": [{"matchers": ["a=b"]}]}},
        {"kafka_monitoring_scrape_configs": [{"job_name": "own"}, {"job_name": "other"}]},
    ],
)
def test_what_is_right_is_let_through(own: dict[str, Any]) -> None:
    assert refused(**own) == []


@pytest.mark.parametrize(
    ("own", "names"),
    [
        ({"kafka_monitoring_host": "0.0.0.0"}, ["monitoring_open"] * 2),
        ({"kafka_monitoring_host": "prom.example"}, ["monitoring_open"] * 2),
        ({"kafka_monitoring_host": "10.0.0.9", "kafka_monitoring_web_config": {"tls_server_config": TLS}},
         ["monitoring_open"]),
        ({"kafka_monitoring_web_config": {"basic_auth_users": {"u": "a-password"}}}, ["monitoring_login_in_clear"]),
        ({"kafka_monitoring_web_config": {"tls_server_config": {**TLS, "client_auth_type": "RequireAnyClientCert"}}},
         ["monitoring_client_certificates"]),
        ({"kafka_monitoring_alertmanager_port": 9090}, ["monitoring_port_taken"]),
        ({"ansible_host": "10.0.0.1"}, ["monitoring_port_taken"]),
        ({"kafka_monitoring_retention": "15 days"}, ["monitoring_retention"]),
        ({"kafka_monitoring_retention": ""}, ["monitoring_retention"]),
        ({"kafka_monitoring_route": {"receiver": "mail"}}, ["monitoring_receiver"]),
        ({"kafka_monitoring_route": {}}, ["monitoring_receiver"]),
        ({"kafka_monitoring_route": {"receiver": "none", "routes": [{"receiver": "mail"}]}}, ["monitoring_receiver"]),
        ({"kafka_monitoring_receivers": [{"name": "none"}, {"name": "none"}]}, ["monitoring_receiver"]),
        ({"kafka_monitoring_scrape_configs": [{}]}, ["monitoring_scrape_config"]),
        ({"kafka_monitoring_scrape_configs": [{"job_name": "streamops-x"}]}, ["monitoring_scrape_config"]),
        ({"kafka_monitoring_scrape_configs": [{"job_name": "a"}, {"job_name": "a"}]}, ["monitoring_scrape_config"]),
    ],
)  # fmt: skip
def test_what_is_wrong_is_refused(own: dict[str, Any], names: list[str]) -> None:
    assert refused(**own) == names


def test_a_host_of_that_group_that_takes_no_part_is_not_judged() -> None:
    assert refused(takes_part=False, kafka_monitoring_host="0.0.0.0") == []


@pytest.mark.parametrize(
    "url", ["", "http://127.0.0.1:9093", "https://am.example/of/a/proxy/", "https://[fd00::2]:9093", UNDEFINED]
)
def test_an_address_of_an_alertmanager_is_let_through(url: Any) -> None:
    assert check_inventory(combined(kafka_monitoring_alertmanager_url=url)) == []


@pytest.mark.parametrize(
    "url", ["am.example:9093", "http://", "ftp://am.example", "https://am.example/?a=b", "https://am ex", "https:///x"]
)
def test_what_is_no_address_of_an_alertmanager_is_refused(url: str) -> None:
    said = "this is no address of an Alertmanager"
    expect(combined(kafka_monitoring_alertmanager_url=url), "monitoring_alertmanager_url", said, url)


def test_a_login_in_the_address_of_an_alertmanager_is_refused_and_not_shown() -> None:
    wrong = combined(kafka_monitoring_alertmanager_url="https://runs:very-secret@am.example")
    said = only(wrong, "monitoring_alertmanager_url").sentence()
    assert "every run would show the login" in said
    assert "very-secret" not in said

# SPDX-License-Identifier: GPL-3.0-or-later
"""Canaries by table: how they log in, where they listen, and what they can follow. No message shows a password."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import LISTENERS, expect
from tests.support.preflight_mirrors import SECURED, flow, mirrored

ON = {"mirror_maker_canary": True, "mirror_maker_canary_host": "127.0.0.1"}
LOGIN = {**SECURED, **ON, "mirror_canary_user": "canary", "mirror_canary_password": "c1-long-and-random"}
OTHER = "c2-another-and-random"
CERTIFIED = [{**LISTENERS[0], "protocol": "SSL"}, *SECURED["kafka_listeners"][1:]]

#: Those that are told, and let a run go on.
WARNINGS = ("canary_open", "canary_follows_nothing")
BAD: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "no user": (
        "no_canary_login",
        {"mirror_canary_user": ""},
        ["mirror_canary_user: the canary cannot log in at listener CLIENT", "an empty value"],
    ),
    "no password": ("no_canary_login", {"mirror_canary_password": ""}, ["mirror_canary_password", "from the vault"]),
    "the administrator": ("canary_is_super_user", {"mirror_canary_user": "admin"}, ["found: admin"]),
    "another password": (
        "canary_user_listed_differently",
        {"kafka_users": [{"name": "canary", "password": OTHER}]},
        ["kafka_users", "canary with another password"],
    ),
    "to be removed": (
        "canary_user_listed_differently",
        {"kafka_users": [{"name": "canary", "state": "absent"}]},
        ["kafka_users", "state absent"],
    ),
    "another password of PLAIN": (
        "canary_user_listed_differently",
        {
            "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "PLAIN"],
            "kafka_plain_users": [{"name": "canary", "password": OTHER}],
        },
        ["kafka_plain_users", "canary with another password"],
    ),
    "another password than mirrors": (
        "canary_user_listed_differently",
        {"mirror_user": "canary", "mirror_password": OTHER},
        ["mirror_password", "canary with another password"],
    ),
    "the user of the page": (
        "canary_user_listed_differently",
        {"kafka_page_user": "canary", "kafka_page_password": OTHER},
        ["kafka_page_password", "canary with another password"],
    ),
    "a user that PLAIN does not have": (
        "canary_mechanism",
        {
            "kafka_sasl_mechanisms": ["PLAIN"],
            "kafka_plain_users": [{"name": "mirror", "password": SECURED["mirror_password"]}],
        },
        ["kafka_sasl_mechanisms", "the canary cannot log in at listener CLIENT by this mechanism (found: PLAIN"],
    ),
    "a name": ("canary_address", {"mirror_maker_canary_host": "example.com"}, ["mirror_dc_b", "found: example.com"]),
    "every address": ("canary_open", {"mirror_maker_canary_host": "0.0.0.0"}, ["without a login", "found: 0.0.0.0"]),
    "missing before late": (
        "canary_limits",
        {"mirror_maker_canary_late_seconds": 300, "mirror_maker_canary_missing_seconds": 300},
        ["found: 300, late after 300"],
    ),
    "missing before late, by default": (
        "canary_limits",
        {"mirror_maker_canary_missing_seconds": 60},
        ["found: 60, late after 120"],
    ),
}


@pytest.mark.parametrize(("name", "broken", "words"), BAD.values(), ids=BAD)
def test_a_canary_that_cannot_work_is_named(name: str, broken: dict[str, Any], words: list[str]) -> None:
    inventory = mirrored(flow(config={"refresh.groups.enabled": False}), **{**LOGIN, **broken})
    expect(inventory, name, *words, level="warning" if name in WARNINGS else "error")


TICKETS = {
    "kafka_sasl_mechanisms": ["GSSAPI"],
    "kafka_kerberos": {"realm": "EXAMPLE.COM", "keytab_path": "/etc/kafka.keytab"},
    "mirror_canary_password": "",
}


@pytest.mark.parametrize(("file", "names"), [("/nowhere/c.keytab", {"bad_service_keytab"}), ("", {"no_canary_login"})])
def test_by_kerberos_it_needs_a_keytab_and_no_password(file: str, names: set[str]) -> None:
    breaches = check_inventory(mirrored(flow(), **{**LOGIN, **TICKETS, "mirror_canary_keytab_file": file}))
    named = [breach for breach in breaches if breach.variable == "mirror_canary_keytab_file"]
    assert {breach.name for breach in named} == names
    assert all("the canary cannot log in" in breach.sentence() for breach in named)
    assert "canary_mechanism" not in [breach.name for breach in breaches]


LEGACY = {"m": {"kafka_cluster_name": "dc_b", "kafka_version": "3.9.2"}}


@pytest.mark.parametrize(
    ("own", "mirrors"), [({"engine": "legacy"}, LEGACY), ({"topics_exclude": ["streamops-.*"]}, None)]
)
def test_a_flow_that_no_event_goes_through_is_named(own: dict[str, Any], mirrors: Any) -> None:
    inventory = mirrored(flow(**own), mirrors=mirrors, **LOGIN)
    expect(inventory, "canary_follows_nothing", "no event goes through dc_a->dc_b", level="warning")


def test_a_listener_that_asks_for_a_certificate_is_named() -> None:
    found = check_inventory(mirrored(flow(), **{**LOGIN, "kafka_listeners": CERTIFIED}))
    (one,) = (one for one in found if one.name == "canary_without_certificate")
    assert "listener CLIENT, which asks for a certificate (found: protocol SSL" in one.sentence()


HERE = {"ansible_host": "10.9.0.1", "mirror_maker_canary_port": 9407}


def taken(*, hosts: dict[str, dict[str, Any]] | None = None, **second: Any) -> list[str]:
    """What is said of ports where mirrors of two targets are on one machine; `second` are variables of the other."""
    mirrors = {
        "mirror1": {**HERE, "kafka_cluster_name": "dc_a", "mirror_maker_rest_port": 8443},
        "mirror2": {**HERE, "kafka_cluster_name": "dc_b", "mirror_maker_rest_port": 8444, **second},
    }
    inventory = mirrored(flow(), flow("dc_b", "dc_a"), mirrors=mirrors, hosts=hosts, **LOGIN)
    return [one.sentence() for one in check_inventory(inventory) if one.name == "canary_port_taken"]


def test_two_canaries_of_one_machine_need_two_ports() -> None:
    (one,) = taken()
    assert "mirror2" in one
    assert "the canary of mirror1 opens the port of the canary on the same machine (found: 9407" in one


@pytest.mark.parametrize(
    "second",
    [
        {"mirror_maker_canary_port": 9408},
        {"mirror_maker_canary_host": "127.0.0.2"},
        {"ansible_host": "10.9.0.2"},
        {"mirror_maker_canary": False},
        # The first mirror of a target runs its canary, and that is on another machine.
        {"kafka_cluster_name": "dc_a"},
    ],
)
def test_canaries_that_do_not_meet_are_let_through(second: dict[str, Any]) -> None:
    assert taken(**second) == []


def test_the_port_of_a_canary_is_not_that_of_a_mirror() -> None:
    (one,) = taken(mirror_maker_canary_port=8443, mirror_maker_canary_host="0.0.0.0")
    assert "mirror1 opens the port of the canary on the same machine (found: 8443" in one


def test_a_canary_in_order_is_said_nothing_of() -> None:
    assert not [one.name for one in check_inventory(mirrored(flow(), **LOGIN)) if "canary" in one.name]
    open_ = {**LOGIN, "kafka_listeners": LISTENERS, "mirror_canary_user": "", "mirror_canary_password": ""}
    assert not [one.name for one in check_inventory(mirrored(flow(), **open_)) if "canary" in one.name]


@pytest.mark.parametrize(
    "own",
    [
        {"kafka_users": [{"name": "canary", "password": LOGIN["mirror_canary_password"]}]},
        {"mirror_user": "canary", "mirror_password": LOGIN["mirror_canary_password"]},
        {
            "kafka_sasl_mechanisms": ["PLAIN"],
            "kafka_plain_users": [{"name": "canary", "password": LOGIN["mirror_canary_password"]}],
        },
    ],
)
def test_a_user_that_is_the_same_elsewhere_is_let_through(own: dict[str, Any]) -> None:
    found = check_inventory(mirrored(flow(), **{**LOGIN, **own}))
    assert not [one.sentence() for one in found if "canary" in one.name]


def test_without_a_canary_nothing_of_it_is_judged() -> None:
    off = {**LOGIN, "mirror_maker_canary": False, "mirror_canary_user": "admin", "mirror_maker_canary_host": "x"}
    assert not [one.name for one in check_inventory(mirrored(flow(), **off)) if "canary" in one.name]

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


def test_a_canary_in_order_is_said_nothing_of() -> None:
    assert not [one.name for one in check_inventory(mirrored(flow(), **LOGIN)) if "canary" in one.name]
    open_ = {**LOGIN, "kafka_listeners": LISTENERS, "mirror_canary_user": "", "mirror_canary_password": ""}
    assert not [one.name for one in check_inventory(mirrored(flow(), **open_)) if "canary" in one.name]


def test_without_a_canary_nothing_of_it_is_judged() -> None:
    off = {**LOGIN, "mirror_maker_canary": False, "mirror_canary_user": "admin", "mirror_maker_canary_host": "x"}
    assert not [one.name for one in check_inventory(mirrored(flow(), **off)) if "canary" in one.name]

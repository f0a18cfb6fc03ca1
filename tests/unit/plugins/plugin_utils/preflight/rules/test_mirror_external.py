# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources of flows outside of the inventory: a good one breaks no row, each mistake gives its own message."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.external import OPTIONS
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.external_cas import unread_cas
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import expect
from tests.support.preflight_mirrors import flow, mirrored

SECRET = "x1-long-and-random"
LOGIN = {"username": "reader", "password": SECRET}
SERVERS = {"bootstrap_servers": ["old1.example:9092", "[fd00::1]:9092"]}
VARIABLE = "mirror_external_clusters"


def outside(entry: Any, alias: str = "old", flows: tuple[dict[str, Any], ...] = (), **common: Any) -> Inventory:
    """A flow from a cluster outside of the inventory into dc_b."""
    return mirrored(
        *(flows or (flow(alias),)),
        clusters="dc_b",
        mirrors={"m": {"kafka_cluster_name": "dc_b", VARIABLE: {alias: entry}, **common}},
    )


@pytest.mark.parametrize(
    "entry",
    [
        SERVERS,
        {"bootstrap_servers": "old1.example:9092, old2.example:9092"},
        {**SERVERS, **LOGIN},
        {**SERVERS, **LOGIN, "ca_file": "ca.pem"},
        {**SERVERS, **LOGIN, "security_protocol": "SASL_PLAINTEXT", "sasl_mechanism": "PLAIN"},
        {**SERVERS, "security_protocol": "SSL", "ca_file": "ca.pem"},
        # The administrators of that cluster chose it.
        {**SERVERS, **LOGIN, "password": "changeme"},
        {**SERVERS, **LOGIN, "password": UNDEFINED},
        {**SERVERS, "username": None, "password": None},
    ],
)
def test_a_good_cluster_breaks_no_row(entry: dict[str, Any]) -> None:
    assert [one.sentence() for one in check_inventory(outside(entry))] == []


PLAIN = {**SERVERS, "security_protocol": "PLAINTEXT"}
BAD: dict[str, tuple[Inventory, str, list[str]]] = {
    "no dict": (outside("old1:9092"), "bad_external_cluster", ["found: text, allowed: a dict"]),
    "unknown field": (
        outside({**SERVERS, "user": "reader"}),
        "bad_external_cluster",
        [f"{VARIABLE}['old']", "found: user", "bootstrap_servers"],
    ),
    "no servers": (outside(LOGIN), "bad_external_cluster", ["bootstrap_servers"]),
    "empty servers": (outside({"bootstrap_servers": []}), "bad_external_cluster", ["at least one host:port"]),
    "no port": (outside({"bootstrap_servers": ["old1"]}), "bad_external_cluster", ["found: old1", "host:port"]),
    "unknown protocol": (
        outside({**SERVERS, "security_protocol": "TLS"}),
        "bad_external_cluster",
        ["PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL"],
    ),
    "own cluster": (
        mirrored(flow(), mirrors={"m": {"kafka_cluster_name": "dc_b", VARIABLE: {"dc_a": SERVERS}}}),
        "external_cluster_is_own",
        [f"{VARIABLE}['dc_a']", "is also a cluster of the inventory"],
    ),
    "unknown source": (
        outside(SERVERS, flows=(flow("old"), flow("olds"))),
        "unknown_cluster",
        ["no broker of the inventory has kafka_cluster_name olds", f"and {VARIABLE} of the mirrors", "perhaps old"],
    ),
    "no password": (outside({**SERVERS, "username": "reader"}), "no_external_login", ["'password'", "without a"]),
    "no username": (outside({**SERVERS, "password": SECRET}), "no_external_login", ["'username'", "without a"]),
    "unused login": (
        outside({**PLAIN, "password": SECRET}),
        "unused_external_login",
        ["PLAINTEXT does not use the password", "SASL_PLAINTEXT or SASL_SSL"],
    ),
    "unused CA": (
        outside({**PLAIN, "ca_file": "ca.pem"}),
        "unused_external_login",
        ["PLAINTEXT does not use the ca_file", "SSL or SASL_SSL"],
    ),
    "no CA": (outside({**SERVERS, "security_protocol": "SSL"}), "external_ca_file", ["'ca_file'", "no file"]),
    "unread CA": (
        replace(outside({**SERVERS, "ca_file": "gone.pem"}), unread_cas={"gone.pem": "gone.pem: No such file"}),
        "external_ca_file",
        ["the CA cannot be read", "gone.pem: No such file"],
    ),
    "canary": (
        outside(SERVERS, mirror_maker_canary=True, mirror_maker_canary_host="127.0.0.1"),
        "canary_at_external_cluster",
        ["the canary cannot write its events into old", "old->dc_b"],
    ),
    "legacy": (
        outside(SERVERS, flows=(flow("old", engine="legacy"),), kafka_version="3.9.2"),
        "legacy_engine_at_external_cluster",
        ["old->dc_b with engine legacy"],
    ),
    "stray": (
        outside({**SERVERS, **LOGIN, "password": f"{SECRET}\n"}),
        "stray_white_space",
        [f"{VARIABLE}['old']['password']"],
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_each_mistake_is_named_alone_without_the_password(name: str) -> None:
    inventory, rule, parts = BAD[name]
    expect(inventory, rule, *parts)
    assert not any(SECRET in one.sentence() for one in check_inventory(inventory))


def test_a_target_outside_of_the_inventory_is_refused() -> None:
    found = check_inventory(
        mirrored(
            flow("dc_a", "old"),
            clusters="dc_a",
            mirrors={"m": {"kafka_cluster_name": "old", VARIABLE: {"old": SERVERS}}},
        )
    )
    (refused,) = [one for one in found if one.name == "external_target"]
    assert "the target of a flow must be a cluster of the inventory" in refused.sentence()


def test_a_protocol_that_asks_for_a_login_names_both_parts_of_it() -> None:
    found = check_inventory(outside({**SERVERS, "security_protocol": "SASL_PLAINTEXT"}))
    assert [one.name for one in found] == ["no_external_login"] * 2


def test_mirrors_of_one_target_know_the_same_clusters() -> None:
    other = {"old": {**SERVERS, **LOGIN}}
    both = {
        name: {"kafka_cluster_name": "dc_b", VARIABLE: clusters}
        for name, clusters in (("m1", {"old": SERVERS}), ("m2", other))
    }
    expect(mirrored(flow("old"), clusters="dc_b", mirrors=both), "mirrors_disagree", VARIABLE)


def test_what_cannot_be_templated_is_no_unknown_cluster() -> None:
    inventory = outside(SERVERS)
    (one,) = inventory.mirrors
    unread = replace(one, variables={**one.variables, VARIABLE: UNDEFINED}, undefined={VARIABLE: "no vault"})
    expect(replace(inventory, mirrors=(unread,)), "undefined_value", VARIABLE)


def test_the_ca_of_a_cluster_is_read_on_the_control_node(tmp_path: Any) -> None:
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate")
    entries = [{**SERVERS, "ca_file": str(file)} for file in (junk, tmp_path / "gone.pem", "")]
    found = unread_cas([one for entry in entries for one in outside(entry).mirrors])
    assert list(found) == sorted([str(junk), str(tmp_path / "gone.pem")])
    assert "no certificate in PEM form" in found[str(junk)]


def test_the_password_is_marked_as_a_secret() -> None:
    assert OPTIONS["password"]["no_log"] is True

# SPDX-License-Identifier: GPL-3.0-or-later
"""Rules on the page: who may read it, which port it has, and how it logs in at the clusters that it shows."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.values import all_typed
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.preflight_inventories import LISTENERS, combined
from tests.support.preflight_mirrors import mirrored

SASL = [{**one, "protocol": "SASL_SSL"} if one["purpose"] == "clients" else one for one in LISTENERS]
LOGIN = {"kafka_listeners": SASL, "kafka_page_user": "streamops-page", "kafka_page_password": "p",
         "kafka_sasl_mechanisms": ["SCRAM-SHA-512"]}  # fmt: skip


def refused(own: dict[str, Any] | None = None, **cluster: Any) -> list[tuple[str, str]]:
    """What the rules on the page say: name and variable; `own` are variables of the page."""
    page = {"kafka_page_host": "127.0.0.1", "kafka_page_port": 9406, "ansible_host": "10.0.0.1", **(own or {})}
    known, unclear = all_typed(page, role_options(), UNDEFINED)
    node = build_node("page1", controller=False, broker=False, variables=known, undefined={}, unclear=unclear)
    inventory = dataclasses.replace(combined(**{**LOGIN, **cluster}), pages=(node,))
    return sorted((one.name, one.variable) for one in check_inventory(inventory) if one.name.startswith("page_"))


@pytest.mark.parametrize(
    ("own", "cluster"),
    [
        ({}, {}),
        ({"kafka_page_host": "10.0.0.1", "kafka_page_users": {"u": "w"}, "kafka_page_tls_source": "files"}, {}),
        ({"kafka_page_clusters": ["blue"]}, {}),
        ({}, {"kafka_page_password": "", "kafka_listeners": LISTENERS}),
        ({}, {"kafka_sasl_mechanisms": ["PLAIN"],
              "kafka_plain_users": [{"name": "streamops-page", "password": "p"}]}),
        ({}, {"kafka_page_password": UNDEFINED}),
        ({"kafka_page_port": 9092, "ansible_host": "10.0.0.9"}, {}),
        ({"kafka_page_alertmanager_url": "http://127.0.0.1:9093"}, {}),
        ({"kafka_page_alertmanager_url": "https://a/am", "kafka_page_alertmanager_user": "u",
          "kafka_page_alertmanager_password": UNDEFINED}, {}),
    ],
)  # fmt: skip
def test_what_is_right_is_let_through(own: dict[str, Any], cluster: dict[str, Any]) -> None:
    assert refused(own, **cluster) == []


@pytest.mark.parametrize(
    ("own", "cluster", "names"),
    [
        ({"kafka_page_host": "0.0.0.0"}, {}, ["page_without_login", "page_without_tls"]),
        ({"kafka_page_users": {"a:b": "w"}}, {}, ["page_user_unusable"]),
        ({"kafka_page_users": {"u": ""}}, {}, ["page_user_unusable"]),
        ({"kafka_page_users": {"u": "changeme"}}, {}, ["page_user_unusable"]),
        ({"kafka_page_port": 9092}, {}, ["page_port_taken"]),
        ({"kafka_page_alertmanager_url": "alerts:9093"}, {}, ["page_alertmanager_url"]),
        ({"kafka_page_alertmanager_url": "http://u:w@alerts:9093"}, {}, ["page_alertmanager_url"]),
        (
            {"kafka_page_alertmanager_url": "http://alerts:9093", "kafka_page_alertmanager_user": "u"},
            {},
            ["page_alertmanager_url"],
        ),
        *(
            ({"kafka_page_alertmanager_url": url}, {}, ["page_alertmanager_url"])
            for url in (
                "http://h:99999/",
                "http://:9093",
                "http://h:x",
                "http://h:0",
                "http://\u00fc:9093",
                "http://[::1:9",
            )
        ),
        (
            {
                "kafka_page_alertmanager_url": "http://a",
                "kafka_page_alertmanager_user": "a:b",
                "kafka_page_alertmanager_password": "w",
            },
            {},
            ["page_alertmanager_url"],
        ),
        ({"kafka_page_clusters": ["bleu"]}, {}, ["page_without_cluster"]),
        ({}, {"kafka_page_password": ""}, ["page_without_password"]),
        ({}, {"kafka_page_user": ""}, ["page_without_password"]),
        ({}, {"kafka_sasl_mechanisms": ["PLAIN"]}, ["page_mechanism"]),
        ({}, {"kafka_super_users": ["streamops-page"]}, ["page_is_super_user"]),
        ({}, {"kafka_users": [{"name": "streamops-page", "password": "x"}]}, ["page_user_listed_differently"]),
        ({}, {"kafka_users": [{"name": "streamops-page", "state": "absent"}]}, ["page_user_listed_differently"]),
    ],
)
def test_what_is_wrong_is_refused(own: dict[str, Any], cluster: dict[str, Any], names: list[str]) -> None:
    assert [name for name, _variable in refused(own, **cluster)] == names


TICKETS = {
    "kafka_sasl_mechanisms": ["GSSAPI"],
    "kafka_page_password": "",
    "kafka_kerberos": {"realm": "EXAMPLE.COM", "keytab_path": "/etc/kafka.keytab"},
}


@pytest.mark.parametrize(
    ("file", "names"),
    [
        ("/nowhere/page.keytab", []),
        ("", [("page_without_password", "kafka_page_keytab_file")]),
    ],
)
def test_by_kerberos_it_needs_a_keytab_and_no_password(file: str, names: list[tuple[str, str]]) -> None:
    assert refused(**TICKETS, kafka_page_keytab_file=file) == names


def test_a_keytab_of_the_page_that_cannot_be_read_is_named() -> None:
    breaches = check_inventory(combined(**{**LOGIN, **TICKETS, "kafka_page_keytab_file": "/nowhere/page.keytab"}))
    (sentence,) = (breach.sentence() for breach in breaches if breach.name == "bad_service_keytab")
    assert "kafka_page_keytab_file: the page cannot log in by Kerberos" in sentence


@pytest.mark.parametrize(
    ("own", "names"),
    [
        ({}, ["page_realms"]),
        ({"kafka_page_clusters": "dc_a"}, []),
        ({"kafka_kerberos": {"krb5_file": "/etc/both.conf"}}, []),
    ],
)
def test_clusters_in_two_realms_need_a_krb5_conf_that_has_both(own: dict[str, Any], names: list[str]) -> None:
    common = {**LOGIN, **TICKETS, "kafka_page_keytab_file": "/nowhere/page.keytab"}
    other = {"dc_b": {"kafka_kerberos": {**TICKETS["kafka_kerberos"], "realm": "OTHER.COM"}}}
    page = build_node("page1", controller=False, broker=False, variables=own, undefined={})
    inventory = dataclasses.replace(mirrored(hosts=other, **common), pages=(page,))
    breaches = [breach for breach in check_inventory(inventory) if breach.name == "page_realms"]
    assert [breach.name for breach in breaches] == names
    assert all("EXAMPLE.COM and OTHER.COM" in breach.sentence() for breach in breaches)


def test_a_page_without_any_cluster_is_refused() -> None:
    page = build_node("page1", controller=False, broker=False, variables={"kafka_page_host": "::1"}, undefined={})
    assert [one.name for one in check_inventory(Inventory((), pages=(page,)))] == ["page_without_cluster"]

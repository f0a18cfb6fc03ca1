# SPDX-License-Identifier: GPL-3.0-or-later
"""What the page would refuse at its start is refused before anything changes, with the variable and what it takes."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._core.service_settings import (
    LONGEST_NAME,
    MOST,
    MOST_GROUPS,
    PAGE_NUMBERS,
    RECORDS,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.values import all_typed
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import Violation
from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from page.config import config_of
from tests.support.preflight_inventories import combined
from tests.unit.plugins.plugin_utils.preflight.rules.test_page import refused

TOPICS = {"kafka_page_records_topics": ["orders"]}


def many(count: int) -> list[str]:
    """That many names."""
    return [f"n{number}" for number in range(count)]


def users(count: int) -> dict[str, str]:
    """That many users of the page, with passwords."""
    return dict.fromkeys(many(count), "w")


def judged(own: dict[str, Any], group: str = "pages") -> list[Violation]:
    """All that preflight says of a host that runs nothing but the page, or Prometheus."""
    variables = {"kafka_page_host": "127.0.0.1", "kafka_page_port": 9406, "ansible_host": "10.0.0.9", **own}
    known, unclear = all_typed(variables, role_options(), UNDEFINED)
    node = build_node("beside1", controller=False, broker=False, variables=known, undefined={}, unclear=unclear)
    beside: dict[str, Any] = {group: (node,)}
    inventory = combined()
    hosts = (*(one.name for one in inventory.nodes), "beside1")
    return check_inventory(dataclasses.replace(inventory, play_hosts=hosts, **beside))


@pytest.mark.parametrize("name", PAGE_NUMBERS)
@pytest.mark.parametrize("how", ["below", "negative", "above", "text", "text below", "empty"])
def test_a_number_outside_of_what_the_page_takes_is_refused(name: str, how: str) -> None:
    _default, least, most = PAGE_NUMBERS[name]
    bad = {"below": least - 1, "negative": -1, "above": most + 1, "text": "many", "text below": str(least - 1),
           "empty": ""}[how]  # fmt: skip
    (found,) = [one for one in judged({f"kafka_page_{name}": bad}) if one.variable == f"kafka_page_{name}"]
    assert (found.name, found.level, found.hosts) == ("unclear_value", "error", ("beside1",))
    assert f"{least} to {most}" in found.allowed or how in ("text", "empty")


def test_numbers_and_words_of_the_hosts_of_prometheus_are_judged_too() -> None:
    own = {"kafka_monitoring_scrape_interval": 0, "kafka_service_manager": "sysv"}
    found = {(one.name, one.variable) for one in judged(own, "monitors")}
    assert found >= {
        ("unclear_value", "kafka_monitoring_scrape_interval"),
        ("unknown_word", "kafka_service_manager"),
    }


@pytest.mark.parametrize(
    ("own", "variable", "allowed"),
    [
        ({"kafka_page_users": users(MOST + 1)}, "kafka_page_users", f"at most {MOST}"),
        (
            {"kafka_page_users": users(2), "kafka_page_records_readers": ["n0"] * (MOST + 1), **TOPICS},
            "kafka_page_records_readers",
            f"at most {MOST}",
        ),
        *(
            ({f"kafka_page_records_{name}": entries}, f"kafka_page_records_{name}", f"at most {RECORDS[name]}")
            for name in ("topics", "masked")
            for entries in (many(RECORDS[name] + 1), ",".join(many(RECORDS[name] + 1)))
        ),
        ({"kafka_page_trusted_proxies": ["192.0.2.1"] * (MOST + 1)}, "kafka_page_trusted_proxies", f"at most {MOST}"),
    ],
)
def test_a_list_that_is_longer_than_the_page_takes_is_refused(own: dict[str, Any], variable: str, allowed: str) -> None:
    (found,) = [one for one in judged(own) if one.variable == variable]
    assert (found.name, found.level) == ("page_list_too_long", "error")
    assert allowed in found.allowed


def test_lists_as_long_as_the_page_takes_are_let_through() -> None:
    own = {
        "kafka_page_users": users(MOST),
        "kafka_page_trusted_proxies": ["192.0.2.1"] * MOST,
        **{f"kafka_page_records_{name}": many(most) for name, most in RECORDS.items()},
    }
    assert refused(own, kafka_groups_watched=many(MOST_GROUPS)) == []


def said_by_page(given: dict[str, Any]) -> str:
    """What the page says of these settings."""
    with pytest.raises(RefusedError) as refusal:
        config_of(json.dumps(given), lambda *_pair: [])
    return str(refusal.value)


@pytest.mark.parametrize("bad", [0, -1, 5, 3.5, True, {"ann": "w"}, {}])
@pytest.mark.parametrize("name", ["clusters", "records_readers", "records_topics", "records_masked"])
def test_what_is_no_list_is_refused_and_not_taken_for_an_empty_one(name: str, bad: Any) -> None:
    (found,) = [one for one in judged({f"kafka_page_{name}": bad}) if one.variable == f"kafka_page_{name}"]
    assert (found.name, found.level) == ("page_list_unusable", "error")


@pytest.mark.parametrize("bad", [0, -1, "ann", ["ann"], True])
def test_users_that_are_no_dict_are_refused(bad: Any) -> None:
    (found,) = [one for one in judged({"kafka_page_users": bad}) if one.variable == "kafka_page_users"]
    assert found.name == "page_list_unusable"
    assert "ann" not in found.found, "what stands there may be a password"


@pytest.mark.parametrize("user", ["x" * (LONGEST_NAME + 1), " ann", "a\nb"])
def test_a_user_that_the_page_takes_for_none_is_refused(user: str) -> None:
    assert refused({"kafka_page_users": {user: "w"}}) == [("page_user_unusable", "kafka_page_users")]


@pytest.mark.parametrize(
    ("own", "rule"),
    [
        ({"kafka_page_reports": "reports"}, "page_reports_unusable"),
        ({"kafka_page_reports": "~/reports"}, "page_reports_unusable"),
        ({"kafka_page_host": "a b"}, "page_host_unusable"),
        ({"kafka_page_host": "*"}, "page_host_unusable"),
        ({"kafka_page_host": ""}, "page_host_unusable"),
    ],
)
def test_a_place_that_the_page_does_not_take_is_refused(own: dict[str, Any], rule: str) -> None:
    assert rule in [name for name, _variable in refused(own)]
    (key,) = own
    name = key.removeprefix("kafka_page_")
    assert f"{name} is " in said_by_page({name: own[key]})


@pytest.mark.parametrize("bad", ["proxy.example.com", "192.0.2.1/24", "::/0", "*", "192.0.2.1:443"])
def test_a_proxy_that_is_no_address_is_refused(bad: str) -> None:
    for proxies in (["192.0.2.1", bad], f"192.0.2.1, {bad}"):
        assert refused({"kafka_page_trusted_proxies": proxies}) == [
            ("page_proxy_unusable", "kafka_page_trusted_proxies")
        ]
    assert "trusted_proxies has" in said_by_page({"trusted_proxies": ["192.0.2.1", bad]})


def test_proxies_by_address_and_by_network_are_let_through() -> None:
    assert refused({"kafka_page_trusted_proxies": ["192.0.2.1", "10.0.0.0/8", "2001:db8::/64"]}) == []


@pytest.mark.parametrize("right", ["/var/reports", "", UNDEFINED])
def test_a_directory_of_reports_by_its_whole_path_is_let_through(right: Any) -> None:
    assert refused({"kafka_page_reports": right}) == []


@pytest.mark.parametrize("bad", [many(MOST_GROUPS + 1), ["billing", "billing"], [""], 5, {"a": 1}])
def test_watched_groups_that_the_page_does_not_take_are_refused(bad: Any) -> None:
    assert refused(kafka_groups_watched=bad) == [("page_groups_unusable", "kafka_groups_watched")]

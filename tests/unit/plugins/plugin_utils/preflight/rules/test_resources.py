"""Preflight rows on users, ACLs and quotas: what a module would refuse is told before any host is touched."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined

NATIVE = {"kafka_config": {"authorizer.class.name": "org.example.Authorizer", "default.replication.factor": 3}}
USER = {"name": "orders", "password": "f3-long-and-random"}
ACL = {"principal": "User:orders", "role": "producer", "topics": ["orders"]}
QUOTA = {"user": "orders", "producer_byte_rate": 1000}

BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"kafka_users": "alice"}, "wrong_type", "a list"),
    ({"kafka_users": [{"password": "f3-long-and-random"}]}, "bad_entry", "missing required arguments: name"),
    ({"kafka_users": [{**USER, "passwort": "x"}]}, "bad_entry", "perhaps password is meant"),
    ({"kafka_users": [USER, USER]}, "refused_entry", "user orders: named 2 times"),
    ({"kafka_users": [{"name": "orders"}]}, "refused_entry", "the password is missing or empty"),
    ({"kafka_users": [{**USER, "iterations": "4096"}]}, "refused_entry", "iterations is 4096"),
    (
        {"kafka_users": [{**USER, "mechanism": "PLAIN"}]},
        "bad_entry",
        "value of mechanism must be one of: SCRAM-SHA-256, SCRAM-SHA-512, got: PLAIN",
    ),
    (
        {"kafka_users": [{**USER, "state": "gone"}]},
        "bad_entry",
        "value of state must be one of: present, absent, got: gone",
    ),
    (
        {"kafka_users": [{**USER, "update_password": "never"}]},
        "bad_entry",
        "value of update_password must be one of: when_different, always, on_create, got: never",
    ),
    ({"kafka_acls": ["User:orders"]}, "bad_entry", "a dict"),
    ({"kafka_acls": [{**ACL, "principle": "x"}]}, "bad_entry", "perhaps principal is meant"),
    ({"kafka_acls": [{**ACL, "principal": "orders"}]}, "refused_entry", "write User:orders"),
    ({"kafka_acls": [{**ACL, "role": "boss"}]}, "bad_entry", "value of role must be one of"),
    ({"kafka_acls": [{**ACL, "groups": "g"}]}, "refused_entry", "no use for groups"),
    (
        {"kafka_acls": [{**ACL, "pattern_type": "regex"}]},
        "bad_entry",
        "value of pattern_type must be one of: literal, prefixed, got: regex",
    ),
    (
        {"kafka_acls": [{"principal": "User:a", "operation": "fly", "resource_type": "group", "resource": "g"}]},
        "bad_entry",
        "fly",
    ),
    ({"kafka_quotas": [{**QUOTA, "bytes": 1}]}, "bad_entry", "field that does not exist"),
    (
        {"kafka_quotas": [{**QUOTA, "producer_byte_rate": "0"}]},
        "refused_entry",
        "producer_byte_rate is 0; more than 0 is needed",
    ),
    (
        {"kafka_quotas": [{**QUOTA, "producer_byte_rate": "much"}]},
        "bad_entry",
        "producer_byte_rate: the value is no whole number (found: 'much'",
    ),
    ({"kafka_quotas": [{**QUOTA, "ip": "10.0.0.1"}]}, "refused_entry", "ip goes with neither user"),
]


@pytest.mark.parametrize(("variables", "row", "said"), BAD, ids=[said for _variables, _row, said in BAD])
def test_each_mistake_has_its_own_message(variables: dict[str, Any], row: str, said: str) -> None:
    found = [one for one in check_inventory(combined(**NATIVE, **variables)) if one.name == row]
    assert [one for one in found if said in one.sentence()], found
    assert "f3-long-and-random" not in " ".join(one.sentence() for one in found)


def test_good_lists_are_passed_also_where_numbers_came_from_templates() -> None:
    plain = {"principal": "User:a", "operation": "read,describe", "resource_type": "topic", "resource": "orders"}
    lists = {
        "kafka_users": [
            {**USER, "iterations": "9000", "update_password": "on_create"},
            {"name": "gone", "state": "absent"},
        ],
        "kafka_acls": [{**ACL, "topics": "orders"}, plain],
        "kafka_quotas": [{**QUOTA, "producer_byte_rate": "1000", "request_percentage": "12.5"}],
    }
    assert check_inventory(combined(**NATIVE, **lists)) == []


def test_acls_need_an_authorizer() -> None:
    (found,) = check_inventory(combined(kafka_acls=[ACL]))
    assert (found.name, "no authorizer" in found.what) == ("acls_without_authorizer", True)


def test_a_value_that_cannot_be_templated_is_told_by_its_own_row_only() -> None:
    found = check_inventory(combined(kafka_users=[{"name": "orders", "password": UNDEFINED}]))
    assert [one.name for one in found] == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""Secrets and values that cannot be templated; no message ever shows a secret."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import PLACEHOLDER, Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined, expect

JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required username="admin" password="%s";'
STRONG = "Zk3vT9-qL0pXw2"

GOOD: list[dict[str, Any]] = [
    {"kafka_broker_password": STRONG},
    {"kafka_config": {"ssl.keystore.password": STRONG, "sasl.jaas.config": JAAS % STRONG}},
    {"kafka_users": [{"name": "a", "password": STRONG}]},
    {"kafka_users": [{"name": "Jose", "password": "Пароль é two words"}]},
    {"kafka_admin_password": "Пароль é two words", "vault_password": f"{STRONG}\n"},
]

BAD: list[tuple[dict[str, Any], list[str]]] = [
    ({"vault_kafka_password": "changeme"}, ["vault_kafka_password", "a well-known value"]),
    ({"vault_kafka_password": ""}, ["vault_kafka_password", "an empty value"]),
    ({"vault_kafka_secret": None}, ["vault_kafka_secret", "an empty value"]),
    ({"kafka_config": {"ssl.key.password": "ChangeMe"}}, ["kafka_config['ssl.key.password']", "a well-known value"]),
    (
        {"kafka_config": {"delegation.token.secret.key": "changeme"}},
        ["delegation.token.secret.key", "a well-known value"],
    ),
    ({"kafka_config": {"sasl.jaas.config": JAAS % "admin-secret"}}, ["sasl.jaas.config", "a well-known value"]),
    ({"kafka_config": {"sasl.jaas.config": JAAS % ""}}, ["sasl.jaas.config", "an empty value"]),
    ({"kafka_users": [{"name": "a", "password": "kafka"}]}, ["kafka_users[0]['password']"]),
]


@pytest.mark.parametrize("variables", GOOD)
def test_good_secrets_break_no_row(variables: dict[str, Any]) -> None:
    assert check_inventory(combined(**variables)) == []


@pytest.mark.parametrize(("variables", "parts"), BAD)
def test_each_bad_secret_is_named_alone(variables: dict[str, Any], parts: list[str]) -> None:
    expect(combined(**variables), "weak_secret", *parts)


STRAY: list[tuple[dict[str, Any], list[str]]] = [
    ({"kafka_admin_password": f"{STRONG}\n"}, ["kafka_admin_password", "the secret ends with a line end", "|-"]),
    ({"kafka_admin_password": f"{STRONG}\r\n"}, ["kafka_admin_password", "the secret ends with a line end"]),
    ({"mirror_password": f" {STRONG}"}, ["mirror_password", "the secret begins with white space"]),
    ({"kafka_metrics_password": f"{STRONG}\t"}, ["kafka_metrics_password", "the secret ends with white space"]),
    ({"zookeeper_password": f"{STRONG}\x00x"}, ["zookeeper_password", "the secret holds a control character"]),
    ({"kafka_config": {"ssl.key.password": f"{STRONG}\n"}}, ["kafka_config['ssl.key.password']", "a line end"]),
    ({"kafka_metrics_user": "prometheus\n"}, ["kafka_metrics_user", "the name ends with a line end"]),
]


@pytest.mark.parametrize(("variables", "parts"), STRAY)
def test_white_space_around_a_secret_or_a_name_is_told_and_the_secret_is_not(
    variables: dict[str, Any], parts: list[str]
) -> None:
    expect(combined(**variables), "stray_white_space", *parts)
    assert STRONG not in str([one.result() for one in check_inventory(combined(**variables))])


def test_a_name_that_cannot_log_in_by_scram_is_refused() -> None:
    users = [{"name": "José", "password": STRONG}]
    expect(combined(kafka_users=users), "refused_entry", "user José: the name has characters outside of ASCII")


def test_a_password_of_a_user_is_judged_as_its_module_does() -> None:
    users = [{"name": "a", "password": f"{STRONG}\n"}]
    expect(combined(kafka_users=users), "refused_entry", "user a: the password ends with a line end")


def test_a_bad_secret_is_named_but_not_shown() -> None:
    found = check_inventory(combined(vault_kafka_password="ChangeMe"))
    assert "changeme" not in str([one.result() for one in found]).lower()


def with_undefined(variable: str, value: Any, path: str, reason: str = "'vault_x' is undefined") -> Inventory:
    """The good inventory with a value of kafka2 that could not be templated."""
    inventory = combined(hosts={"kafka2": {variable: value}})
    broken = replace(inventory.nodes[1], undefined={path: reason})
    return Inventory((inventory.nodes[0], broken, inventory.nodes[2]))


@pytest.mark.parametrize(
    ("variable", "value", "path"),
    [
        ("kafka_node_id", UNDEFINED, "kafka_node_id"),
        ("kafka_listeners", UNDEFINED, "kafka_listeners"),
        ("kafka_heap_size", UNDEFINED, "kafka_heap_size"),
        ("kafka_config", {"ssl.key.password": UNDEFINED}, "kafka_config['ssl.key.password']"),
        ("kafka_mode", UNDEFINED, "kafka_mode"),
        ("kafka_broker_password", UNDEFINED, "kafka_broker_password"),
    ],
)
def test_an_undefined_value_is_named_with_its_host_and_gives_no_other_violation(
    variable: str, value: Any, path: str
) -> None:
    expect(
        with_undefined(variable, value, path),
        "undefined_value",
        f"kafka2: {path}",
        "'vault_x' is undefined",
        "in the vault",
    )


@pytest.mark.parametrize(
    "reason",
    [
        "Attempting to decrypt but no vault secrets found.",
        "Decryption failed (no vault secrets were found that could decrypt).",
        "Error rendering template: Attempt to use undecryptable variable: Attempting to decrypt but no vault secrets.",
    ],
)
def test_a_sealed_value_without_the_password_of_its_vault_needs_that_and_no_definition(reason: str) -> None:
    inventory = with_undefined("kafka_broker_password", UNDEFINED, "kafka_broker_password", reason)
    expect(inventory, "undefined_value", "kafka_broker_password", "attach the vault credential")
    assert "define the variable" not in str([one.result() for one in check_inventory(inventory)])


@pytest.mark.parametrize("key", ["sasl.jaas.config", "ssl.keystore.key", "custom.private.key.passphrase"])
def test_a_placeholder_beside_a_secret_is_told_without_the_secret(key: str) -> None:
    found = check_inventory(combined(kafka_config={key: f"{PLACEHOLDER} {STRONG}"}))
    told = [violation for violation in found if violation.name == "placeholder"]
    assert told
    assert STRONG not in str(told)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Native properties that lock out nodes or the administrator."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import AUTHORIZER, ZOOKEEPER_AUTHORIZER
from tests.support.preflight_inventories import combined, config, ensemble, expect, isolated
from tests.support.preflight_mirrors import SECURED

CLASS, SUPER_USERS = "authorizer.class.name", "super.users"
NODES = [*("controller1", "controller2", "controller3", "broker4", "broker5", "broker6")]
SASL = "listener.name.client.sasl.enabled.mechanisms"


def secured(**variables: Any) -> Inventory:
    """Isolated nodes with an authorizer, certificates between them and passwords of clients."""
    return isolated(**{**SECURED, **variables})


def users(*names: str) -> str:
    """A value of super.users."""
    return ";".join(f"User:{name}" for name in names)


def test_a_secured_cluster_is_taken() -> None:
    assert check_inventory(secured()) == []
    assert check_inventory(secured(kafka_config=config(**{CLASS: AUTHORIZER}))) == []


def test_super_users_may_be_written_with_all_nodes() -> None:
    assert check_inventory(secured(kafka_config=config(**{SUPER_USERS: users(*NODES, "admin", "ops")}))) == []


@pytest.mark.parametrize("missing", ["controller1", "broker6", "admin"])
def test_super_users_have_all_nodes_and_the_administrator(missing: str) -> None:
    names = [name for name in (*NODES, "admin") if name != missing]
    found = check_inventory(secured(kafka_config=config(**{SUPER_USERS: users(*names)})))
    assert {(one.name, one.level) for one in found} == {("nodes_no_super_users", "error")}
    assert all(f"without User:{missing}" in one.sentence() for one in found)
    # The administrator talks to brokers only.
    hosts = sorted(host for one in found for host in one.hosts)
    assert hosts == sorted(NODES if missing != "admin" else NODES[3:])


def test_a_native_authorizer_alone_has_no_super_users() -> None:
    native = {**SECURED, "kafka_authorizer": False, "kafka_config": config(**{CLASS: AUTHORIZER})}
    found = check_inventory(isolated(**native))
    assert {one.name for one in found} == {"nodes_no_super_users"}


def test_without_certificates_nodes_are_anonymous() -> None:
    own = {CLASS: AUTHORIZER, SUPER_USERS: "User:ANONYMOUS"}
    assert check_inventory(combined(kafka_config=config(**own))) == []
    own[SUPER_USERS] = users("kafka1", "kafka2", "kafka3")
    expect(combined(kafka_config=config(**own)), "nodes_no_super_users", "without User:ANONYMOUS")


@pytest.mark.parametrize("key", ["ssl.principal.mapping.rules", "listener.name.broker.ssl.principal.mapping.rules"])
def test_names_made_by_other_rules_are_not_judged(key: str) -> None:
    own = {SUPER_USERS: "User:CN=x", key: "DEFAULT"}
    names = {one.name for one in check_inventory(secured(kafka_config=config(**own)))}
    assert "nodes_no_super_users" not in names


def test_another_authorizer_is_not_judged() -> None:
    own = {CLASS: "org.example.Authorizer", SUPER_USERS: "User:me"}
    assert check_inventory(secured(kafka_config=config(**own))) == []


def test_controllers_and_brokers_have_one_authorizer() -> None:
    own = {CLASS: AUTHORIZER, SUPER_USERS: "User:ANONYMOUS"}
    found = check_inventory(isolated(kafka_broker_config=own))
    assert {one.name for one in found} == {"authorizers_differ"}
    assert "none on controller1, controller2, controller3" in found[0].sentence()


@pytest.mark.parametrize("value", ["", " "])
def test_the_authorizer_is_not_switched_off_natively(value: str) -> None:
    found = check_inventory(secured(kafka_config=config(**{CLASS: value})))
    assert {one.name for one in found} == {"authorizer_overridden"}


def test_the_authorizer_is_of_the_mode() -> None:
    own = {SUPER_USERS: "User:ANONYMOUS"}
    expect(combined(kafka_config=config(**own, **{CLASS: ZOOKEEPER_AUTHORIZER})), "authorizer_overridden", "other mode")
    expect(ensemble(kafka_config=config(**own, **{CLASS: AUTHORIZER})), "authorizer_overridden", "other mode")
    assert check_inventory(ensemble(kafka_config=config(**own, **{CLASS: ZOOKEEPER_AUTHORIZER}))) == []


@pytest.mark.parametrize("listener", ["broker", "controller"])
def test_nodes_show_their_certificates(listener: str) -> None:
    key = f"listener.name.{listener}.ssl.client.auth"
    found = check_inventory(secured(kafka_config=config(**{key: "none"})))
    assert {one.name for one in found} == {"nodes_anonymous"}
    for value in ("requested", "required"):
        assert check_inventory(secured(kafka_config=config(**{key: value}))) == []


def test_the_administrator_can_log_in() -> None:
    expect(secured(kafka_broker_config={SASL: "SCRAM-SHA-256"}), "administrator_mechanism", "SCRAM-SHA-512 among them")
    assert check_inventory(secured(kafka_broker_config={SASL: "SCRAM-SHA-256, SCRAM-SHA-512"})) == []


@pytest.mark.parametrize("key", ["ssl.keystore.location", "ssl.keystore.key", "listener.name.broker.ssl.keystore.key"])
def test_names_in_certificates_that_others_made_are_not_known_and_the_administrator_is(key: str) -> None:
    own = {SUPER_USERS: users("CN=one", "admin"), key: "/etc/kafka/keystore.jks"}
    assert "nodes_no_super_users" not in {
        violation.name for violation in check_inventory(secured(kafka_config=config(**own)))
    }
    own[SUPER_USERS] = users("CN=one")
    violations = check_inventory(secured(kafka_config=config(**own)))
    missing = [violation.found for violation in violations if violation.name == "nodes_no_super_users"]
    assert missing == ["without User:admin"]


def test_as_whom_nodes_log_in_with_sasl_is_not_known() -> None:
    listeners = [{**entry, "protocol": "SASL_SSL"} for entry in SECURED["kafka_listeners"]]
    own = {SUPER_USERS: users("inner", "admin")}
    violations = check_inventory(secured(kafka_listeners=listeners, kafka_config=config(**own)))
    assert "nodes_no_super_users" not in {violation.name for violation in violations}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Times that do not go together, at and around their boundaries: one mistake gives exactly its own violation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined, config, ensemble, expect, isolated, only

BEAT, SESSION = "broker.heartbeat.interval.ms", "broker.session.timeout.ms"
WAIT, LAG = "replica.fetch.wait.max.ms", "replica.lag.time.max.ms"
IDLE = "connections.max.idle.ms"
MODES = [combined, isolated, ensemble]
KRAFT = [combined, isolated]


def with_config(make: Callable[..., Inventory], **properties: Any) -> Inventory:
    """An inventory with these native properties for all nodes of Kafka."""
    return make(kafka_config=config(**properties))


def ticking(**properties: Any) -> Inventory:
    """An ensemble with these native properties of its servers."""
    return ensemble(zookeeper_ensemble_config=properties)


GOOD = [
    *(with_config(make, broker_heartbeat_interval_ms=3000) for make in KRAFT),
    *(with_config(make, broker_heartbeat_interval_ms="4500") for make in KRAFT),
    *(with_config(make, broker_heartbeat_interval_ms=20000, broker_session_timeout_ms="60000") for make in KRAFT),
    # No heartbeat of KRaft is sent in ZooKeeper mode.
    with_config(ensemble, broker_heartbeat_interval_ms=20000),
    # What refers to a provider is known when Kafka starts.
    with_config(combined, broker_heartbeat_interval_ms="${file:/etc/kafka/own:heartbeat}"),
    *(with_config(make, controller_quorum_fetch_timeout_ms=501) for make in KRAFT),
    with_config(ensemble, controller_quorum_fetch_timeout_ms=1),
    *(with_config(make, replica_fetch_wait_max_ms=29999) for make in MODES),
    *(with_config(make, replica_fetch_min_bytes="1") for make in MODES),
    *(with_config(make, connections_max_idle_ms=-1) for make in MODES),
    *(with_config(make, connections_max_idle_ms="2001") for make in MODES),
    with_config(ensemble, connections_max_idle_ms=501),
    *(with_config(make, group_min_session_timeout_ms=45000) for make in MODES),
    *(with_config(make, group_max_session_timeout_ms="45000") for make in MODES),
    *(with_config(make, transaction_max_timeout_ms=60000) for make in MODES),
    *(with_config(make, producer_id_expiration_ms=120000) for make in MODES),
    ticking(tickTime=1000),
    ticking(tickTime="900"),
    ticking(tickTime=9000),
    ticking(tickTime=500, maxSessionTimeout=18000),
    ensemble(kafka_config=config(zookeeper_session_timeout_ms=4000)),
    ensemble(kafka_config=config(zookeeper_session_timeout_ms="40000")),
]


@pytest.mark.parametrize("inventory", GOOD)
def test_what_goes_together_is_taken(inventory: Inventory) -> None:
    assert check_inventory(inventory) == []


@pytest.mark.parametrize("make", KRAFT)
@pytest.mark.parametrize("interval", [9000, "9000", 20000, "600000"])
def test_a_heartbeat_after_the_session_is_refused(make: Callable[..., Inventory], interval: Any) -> None:
    parts = [f"kafka_config['{BEAT}']", f"{BEAT} {interval}, {SESSION} 9000 (default)", "allowed: below 9000"]
    expect(with_config(make, broker_heartbeat_interval_ms=interval), "heartbeat_after_session", *parts)


def test_a_session_before_the_heartbeat_is_blamed_on_the_controllers() -> None:
    inventory = isolated(kraft_controller_config={SESSION: "2000"})
    parts = ["controller1, controller2, controller3: kraft_controller_config", f"{BEAT} 2000 (default)"]
    expect(inventory, "heartbeat_after_session", *parts)


def test_controllers_with_a_longer_session_are_not_blamed() -> None:
    shorter = {"controller2": {"kraft_controller_config": {SESSION: 2000}}}
    assert only(isolated(hosts=shorter), "heartbeat_after_session").hosts == ("controller2",)


def test_the_controllers_session_counts_and_not_the_brokers_own() -> None:
    inventory = isolated(kafka_broker_config={BEAT: 20000, SESSION: 60000})
    expect(inventory, "heartbeat_after_session", f"{BEAT} 20000, {SESSION} 9000 (default)")
    assert check_inventory(isolated(kafka_broker_config={BEAT: 20000}, kraft_controller_config={SESSION: 60000})) == []


def test_one_broker_of_its_own_is_named_alone() -> None:
    inventory = isolated(hosts={"broker5": {"kafka_broker_config": {BEAT: 20000}}})
    assert only(inventory, "heartbeat_after_session").hosts == ("broker5",)


@pytest.mark.parametrize("make", KRAFT)
@pytest.mark.parametrize("interval", [4501, "8999"])
def test_a_heartbeat_after_half_of_the_session_is_a_warning(make: Callable[..., Inventory], interval: Any) -> None:
    inventory = with_config(make, broker_heartbeat_interval_ms=interval)
    expect(inventory, "late_heartbeat", f"{BEAT} {interval}", "at most 4500", level="warning")


@pytest.mark.parametrize("make", KRAFT)
@pytest.mark.parametrize("key", ["controller.quorum.fetch.timeout.ms", "controller.quorum.request.timeout.ms"])
@pytest.mark.parametrize("value", [500, "100", 0])
def test_the_quorum_waits_longer_than_its_leader(make: Callable[..., Inventory], key: str, value: Any) -> None:
    expect(make(kafka_config=config(**{key: value})), "number_that_stops", f"{key} {value}", "at least 501")


@pytest.mark.parametrize("make", MODES)
def test_a_fetch_that_waits_until_it_times_out_is_refused(make: Callable[..., Inventory]) -> None:
    for limit in (500, "499"):
        own = {WAIT: "500", "replica.socket.timeout.ms": limit}
        expect(make(kafka_config=config(**own)), "number_that_stops", f"{WAIT} 500", f"below {limit}")
    own = {WAIT: 20000, LAG: "20000"}
    expect(make(kafka_config=config(**own)), "fetch_wait_is_lag", f"{LAG} 20000", level="warning")


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("least", [2, "65536"])
def test_followers_that_wait_for_more_are_a_warning(make: Callable[..., Inventory], least: Any) -> None:
    inventory = with_config(make, replica_fetch_min_bytes=least)
    expect(
        inventory, "late_acknowledgement", "up to 500 ms", f"found: replica.fetch.min.bytes {least}", level="warning"
    )


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("idle", [500, "200"])
def test_connections_outlive_what_waits_on_them(make: Callable[..., Inventory], idle: Any) -> None:
    inventory = with_config(make, connections_max_idle_ms=idle)
    expect(inventory, "idle_before_answer", f"{IDLE} {idle}", "above 500")


def test_connections_outlive_a_longer_wait() -> None:
    inventory = combined(kafka_config=config(**{WAIT: 3000, IDLE: 3000}))
    expect(inventory, "idle_before_answer", "above 3000")


@pytest.mark.parametrize("make", KRAFT)
@pytest.mark.parametrize("idle", [501, "2000"])
def test_connections_outlive_a_heartbeat(make: Callable[..., Inventory], idle: Any) -> None:
    inventory = with_config(make, connections_max_idle_ms=idle)
    expect(inventory, "idle_before_heartbeat", f"{IDLE} {idle}", "above 2000", level="warning")


@pytest.mark.parametrize("make", MODES)
def test_groups_have_a_session_that_is_allowed(make: Callable[..., Inventory]) -> None:
    inventory = make(kafka_config=config(group_min_session_timeout_ms="45000", group_max_session_timeout_ms=44999))
    found = {(one.name, one.level) for one in check_inventory(inventory)}
    assert found == {("number_that_stops", "error"), ("client_defaults_refused", "warning")}


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("group.min.session.timeout.ms", 45001),
        ("group.max.session.timeout.ms", "44999"),
        ("transaction.max.timeout.ms", 59999),
    ],
)
def test_limits_leave_room_for_the_defaults_of_clients(make: Callable[..., Inventory], key: str, value: Any) -> None:
    expect(make(kafka_config=config(**{key: value})), "client_defaults_refused", f"{key} {value}", level="warning")


@pytest.mark.parametrize("make", MODES)
def test_producers_are_remembered_while_they_send_again(make: Callable[..., Inventory]) -> None:
    inventory = with_config(make, producer_id_expiration_ms="119999")
    expect(inventory, "producer_forgotten", "at least 120000", level="warning")


@pytest.mark.parametrize(
    ("inventory", "variable", "granted", "allowed"),
    [
        (ticking(tickTime="899"), "zookeeper_ensemble_config['tickTime']", 17980, "1798 to 17980"),
        (ticking(tickTime=9001), "zookeeper_ensemble_config['tickTime']", 18002, "18002 to 180020"),
        (ticking(maxSessionTimeout=10000), "zookeeper_ensemble_config['maxSessionTimeout']", 10000, "4000 to 10000"),
        (ticking(minSessionTimeout="20000"), "zookeeper_ensemble_config['minSessionTimeout']", 20000, "20000 to 40000"),
        (
            ensemble(kafka_config=config(zookeeper_session_timeout_ms="3999")),
            "kafka_config['zookeeper.session.timeout.ms']",
            4000,
            "4000 to 40000",
        ),
        (
            ensemble(hosts={"zk2": {"zookeeper_ensemble_config": {"tickTime": 500}}}),
            "zookeeper_ensemble_config['tickTime']",
            10000,
            "4000 to 10000",
        ),
    ],
)
def test_an_ensemble_grants_the_session(inventory: Inventory, variable: str, granted: int, allowed: str) -> None:
    parts = ["broker11, broker12, broker13", variable, f"a session of {granted} ms", f"allowed: {allowed}"]
    expect(inventory, "session_outside_ensemble", *parts, level="warning")


def test_warnings_may_be_accepted() -> None:
    accepted = [*combined().nodes[0].names("preflight_accept"), "late_heartbeat"]
    inventory = combined(kafka_config=config(broker_heartbeat_interval_ms=5000), preflight_accept=accepted)
    assert check_inventory(inventory) == []

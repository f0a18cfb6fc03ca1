# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of values that a cluster cannot live with: each row at its bound, and one step beyond."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.value_bounds import (
    BOUNDS,
    ORDERS,
    Bound,
    Order,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.definitions import BROKER_KEYS
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.value_bounds import LEAST_DIRECT_MEMORY
from tests.support.preflight_inventories import combined, config, ensemble, expect, isolated, only

MODES = [combined, isolated, ensemble]
STOPS, SLOWS = "number_that_stops", "number_that_slows"
VERSION = "4.4.0"
#: A number beyond a row that this release refuses itself, so that it never comes to the row.
REFUSED = "bad_property_value"


def rules_of(key: str, value: Any) -> set[str]:
    inventory = combined(kafka_version=VERSION, kafka_config=config(**{key: value}))
    return {one.name for one in check_inventory(inventory)}


def beyond(bound: Bound) -> list[tuple[int, int]]:
    """Each end of a row: the number at it, and the next one beyond."""
    least = [] if bound.least is None else [(bound.least, bound.least - 1)]
    most = [] if bound.most is None else [(bound.most, bound.most + 1)]
    return least + most


ENDS = [(bound, at, past) for bound in BOUNDS for at, past in beyond(bound)]


@pytest.mark.parametrize(("bound", "at", "past"), ENDS, ids=[f"{bound.key}-{past}" for bound, _at, past in ENDS])
def test_each_row_holds_at_its_end_and_not_beyond(bound: Bound, at: int, past: int) -> None:
    assert (STOPS if bound.stops else SLOWS) in rules_of(bound.key, past) or REFUSED in rules_of(bound.key, past)
    assert STOPS not in rules_of(bound.key, at)


@pytest.mark.parametrize("order", ORDERS, ids=[order.key for order in ORDERS])
def test_each_order_holds_at_its_end_and_not_beyond(order: Order) -> None:
    # Numbers that break no row of either key by themselves.
    high = 20_000 if order.other.endswith("timeout.ms") or order.other.endswith("lag.time.max.ms") else 2_000_000_000
    high = 100 if order.key == "num.io.threads" else high
    low = high - order.spare
    for value, breaks in ((low, False), (low + 1, True)):
        inventory = combined(kafka_version=VERSION, kafka_config=config(**{order.key: value, order.other: high}))
        texts = [one.what for one in check_inventory(inventory) if one.name in (STOPS, SLOWS)]
        assert (order.why in texts) == breaks


def test_every_key_of_the_table_is_one_of_kafka_and_its_defaults_are_within() -> None:
    assert {row.key for row in (*BOUNDS, *ORDERS)} <= {key for keys in BROKER_KEYS.values() for key in keys}
    for version, keys in BROKER_KEYS.items():
        for bound in BOUNDS:
            default = keys[bound.key].default if bound.key in keys else None
            assert default is None or bound.holds(int(default)), (version, bound.key)
        for order in ORDERS:
            ends = [keys[key].default for key in (order.key, order.other) if key in keys]
            assert None in ends or len(ends) < 2 or order.holds(*map(int, ends)), (version, order.key)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("controller.quorum.append.linger.ms", 30000),
        ("controller.quorum.election.timeout.ms", "1"),
        ("initial.broker.registration.timeout.ms", 1),
        ("max.connection.creation.rate", "0"),
        ("listener.name.client.max.connection.creation.rate", 0),
        ("message.max.bytes", 100),
        ("replica.fetch.backoff.ms", 300000),
        ("replica.fetch.wait.max.ms", 0),
        ("replica.fetch.min.bytes", "-1"),
        ("num.replica.alter.log.dirs.threads", 0),
        ("broker.heartbeat.interval.ms", "0"),
    ],
)
def test_what_a_cluster_cannot_live_with_is_refused(key: str, value: Any) -> None:
    expect(combined(kafka_config=config(**{key: value})), STOPS, f"kafka_config['{key}']", f"{key} {value}")


def test_a_request_that_no_registration_fits_in_is_refused() -> None:
    inventory = isolated(kraft_controller_config={"socket.request.max.bytes": "2000"})
    expect(inventory, STOPS, "controller1, controller2, controller3", "at least 65536")
    found = check_inventory(combined(kafka_config=config(socket_request_max_bytes=2000, message_max_bytes=1900)))
    assert {one.name for one in found} == {STOPS, "request_below_message"}


def test_a_number_that_slows_is_a_warning_that_may_be_accepted() -> None:
    inventory = combined(kafka_config=config(controller_quorum_append_linger_ms=500))
    expect(inventory, SLOWS, "at most 200", level="warning")
    accepted = [*combined().nodes[0].names("preflight_accept"), SLOWS]
    own = config(controller_quorum_append_linger_ms=500)
    assert check_inventory(combined(kafka_config=own, preflight_accept=accepted)) == []


def test_only_nodes_that_read_a_key_are_judged() -> None:
    quorum = config(controller_quorum_election_timeout_ms=1, initial_broker_registration_timeout_ms=1)
    assert check_inventory(ensemble(kafka_config=quorum)) == []
    inventory = isolated(kafka_config=config(controller_quorum_append_linger_ms=30000))
    assert only(inventory, STOPS).hosts == ("controller1", "controller2", "controller3")


def test_a_release_that_refuses_it_is_left_to_say_so() -> None:
    fetchers = config(num_replica_fetchers=0)
    expect(ensemble(kafka_config=fetchers), STOPS, "num.replica.fetchers 0")
    expect(combined(kafka_config=fetchers), REFUSED, "num.replica.fetchers")


@pytest.mark.parametrize("make", MODES)
def test_direct_memory_has_room_for_requests(make: Callable[..., Inventory]) -> None:
    for size in ("1m", "1024", f"{LEAST_DIRECT_MEMORY - 1}"):
        inventory = make(kafka_jvm_options=[f"-XX:MaxDirectMemorySize={size}"])
        expect(inventory, "small_direct_memory", f"-XX:MaxDirectMemorySize={size}", "32m or more")
    for size in ("32m", "1g", "0"):
        assert check_inventory(make(kafka_jvm_options=["-Xss1m -XX:MaxDirectMemorySize=" + size])) == []
    # Of several the last one holds.
    options = ["-XX:MaxDirectMemorySize=1m", "-XX:MaxDirectMemorySize=64m"]
    assert check_inventory(make(kafka_jvm_options=options)) == []

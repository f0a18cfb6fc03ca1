# SPDX-License-Identifier: GPL-3.0-or-later
"""Single properties that switch off what a cluster lives by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import combined, config, ensemble, expect, isolated

MODES = [combined, isolated, ensemble]
SWITCHES = ["log.cleaner.enable", "controlled.shutdown.enable"]


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize("key", SWITCHES)
@pytest.mark.parametrize("value", [False, "false", "FALSE"])
def test_what_a_cluster_lives_by_is_on(make: Callable[..., Inventory], key: str, value: Any) -> None:
    expect(make(kafka_config=config(**{key: value})), "switched_off", f"kafka_config['{key}']", "allowed: true")


@pytest.mark.parametrize("key", SWITCHES)
def test_a_switch_may_be_written(key: str) -> None:
    assert check_inventory(combined(kafka_config=config(**{key: "true"}))) == []


def test_in_development_it_is_a_warning() -> None:
    inventory = combined(kafka_profile="development", kafka_config=config(log_cleaner_enable=False))
    expect(inventory, "switched_off", level="warning")


@pytest.mark.parametrize("make", MODES)
@pytest.mark.parametrize(
    "key",
    [
        "num.replica.alter.log.dirs.threads",
        "replica.fetch.wait.max.ms",
        "replica.fetch.min.bytes",
    ],
)
@pytest.mark.parametrize("value", [0, "0", -1])
def test_numbers_stop_nothing(make: Callable[..., Inventory], key: str, value: Any) -> None:
    expect(make(kafka_config=config(**{key: value})), "number_that_stops", f"{key} {value}", "at least 1")
    assert check_inventory(make(kafka_config=config(**{key: 1}))) == []


@pytest.mark.parametrize("make", [combined, isolated])
def test_heartbeats_have_a_pause(make: Callable[..., Inventory]) -> None:
    inventory = make(kafka_config=config(broker_heartbeat_interval_ms="0"))
    expect(inventory, "number_that_stops", "broker.heartbeat.interval.ms 0")


def test_a_release_that_refuses_it_is_left_to_say_so() -> None:
    fetchers = config(num_replica_fetchers=0)
    expect(ensemble(kafka_config=fetchers), "number_that_stops", "num.replica.fetchers 0")
    expect(combined(kafka_config=fetchers), "bad_property_value", "num.replica.fetchers")

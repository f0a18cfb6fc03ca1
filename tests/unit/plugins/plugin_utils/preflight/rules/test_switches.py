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

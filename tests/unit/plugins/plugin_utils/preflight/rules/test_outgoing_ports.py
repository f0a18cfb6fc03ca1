# SPDX-License-Identifier: GPL-3.0-or-later
"""Ports that the kernel gives to outgoing connections: one warning for each variable."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.outgoing_ports import FIRST, LAST
from tests.support.preflight_inventories import LISTENERS, combined, ensemble, expect

NAME = "port_for_outgoing"


def listeners(first: int) -> list[dict[str, Any]]:
    """The good list with ports from this one on."""
    return [{**entry, "port": first + index} for index, entry in enumerate(LISTENERS)]


def warned(inventory: Inventory) -> list[tuple[str, str, tuple[str, ...]]]:
    """What the rule says of an inventory: variable, ports and hosts."""
    return [(one.variable, one.found, one.hosts) for one in check_inventory(inventory) if one.name == NAME]


def test_listeners_of_all_nodes_are_one_warning_that_may_be_accepted() -> None:
    inventory = combined(kafka_listeners=listeners(37000))
    ((variable, ports, hosts),) = warned(inventory)
    assert (variable, ports, len(hosts)) == ("kafka_listeners", "37000 to 37002", 3)
    expect(inventory, NAME, "ip_local_reserved_ports", "preflight_accept: [port_for_outgoing]", level="warning")


@pytest.mark.parametrize(
    ("first", "ports"),
    [(FIRST - 3, ""), (FIRST - 1, f"{FIRST} to {FIRST + 1}"), (LAST, str(LAST)), (LAST + 1, "")],
)
def test_the_range_has_two_ends(first: int, ports: str) -> None:
    assert [found for _variable, found, _hosts in warned(combined(kafka_listeners=listeners(first)))] == [ports][
        : bool(ports)
    ]


def test_metrics_and_servers_of_zookeeper_have_variables_of_their_own() -> None:
    def variables(inventory: Inventory) -> list[str]:
        """The variables that the rule names."""
        return [variable for variable, _ports, _hosts in warned(inventory)]

    assert variables(combined(kafka_metrics_enabled=True, kafka_metrics_port="40000")) == ["kafka_metrics_port"]
    assert variables(combined(kafka_metrics_enabled=False, kafka_metrics_port=40000)) == []
    assert variables(ensemble(zookeeper_client_port=40000)) == ["zookeeper_client_port"]
    assert variables(combined()) == variables(ensemble()) == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""The unit of a node under systemd as its template makes it: what it waits for, when it comes back, its sandbox."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.inventory_data import view
from tests.support.units import rendered

DISKS = {"kafka_log_dirs": ["/disk1/a", "/disk2/a"]}


def lines(role: str, **variables: Any) -> list[str]:
    """The lines of the unit of host a, alone in a group of this name, without comments."""
    own = {"kafka_node_id": 1, "zookeeper_id": 1, "kafka_heap_size": "2g", **variables}
    groups: dict[str, Any] = {role: ["a"]}
    text = rendered(view({"a": own}, **groups))
    return [line for line in text.splitlines() if line and not line.startswith("#")]


@pytest.mark.parametrize(
    ("role", "variables", "mounts"),
    [
        ("brokers", DISKS, ["/disk1/a", "/disk2/a"]),
        ("brokers", {**DISKS, "kafka_mode": "zookeeper"}, ["/disk1/a", "/disk2/a"]),
        ("brokers", {**DISKS, "kafka_metadata_log_dir": "/meta/a"}, ["/disk1/a", "/disk2/a", "/meta/a"]),
        ("controllers", {"kafka_log_dirs": ["/disk1/a"]}, ["/disk1/a"]),
        ("zookeepers", {"zookeeper_data_log_dir": "/txlog/a"}, ["/var/lib/kafka/a", "/txlog/a"]),
        ("mirrors", {}, []),
    ],
)
def test_it_starts_after_each_of_its_disks_is_mounted(role: str, variables: dict[str, Any], mounts: list[str]) -> None:
    found = [line for line in lines(role, **variables) if line.startswith("RequiresMountsFor=")]
    assert found == [f"RequiresMountsFor={path}" for path in mounts]


@pytest.mark.parametrize("role", ["brokers", "controllers", "zookeepers", "mirrors"])
def test_it_comes_back_after_any_end_but_a_stop_for_as_long_as_it_takes(role: str) -> None:
    found = lines(role)
    assert [line for line in found if line.startswith(("Restart", "StartLimit", "SuccessExit"))] == [
        "StartLimitIntervalSec=0", "SuccessExitStatus=143", "Restart=always", "RestartSec=5"
    ]  # fmt: skip
    assert "WantedBy=multi-user.target" in found


def test_system_calls_and_addresses_are_bounded() -> None:
    found = lines("brokers", **DISKS)
    assert [line for line in found if line.startswith("SystemCallFilter=")] == [
        "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged",
    ]
    assert "RestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX" in found

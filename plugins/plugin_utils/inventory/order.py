# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The order of hosts where a play chooses them, before any host has a model: by cluster, id and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import as_int


def by_node_id(hosts: Iterable[str], hostvars: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Sort hosts of one group as Node.place sorts them, wherever the inventory has them."""

    def place(host: str) -> tuple[str, bool, int, str]:
        """Where a host comes; one without an id, such as a mirror, by its name behind those that have one."""
        own = hostvars.get(host, {})
        number = as_int(own.get("kafka_node_id", own.get("zookeeper_id")))
        return str(own.get("kafka_cluster_name", "")), number is None, number or 0, host

    return sorted(hosts, key=place)

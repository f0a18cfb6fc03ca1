# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The order of hosts where a play chooses them, before any host has a model: by cluster, id and name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ansible.errors import AnsibleError

from .variables import as_int


def by_node_id(
    hosts: Iterable[str], hostvars: Mapping[str, Mapping[str, Any]], variable: str = "kafka_node_id"
) -> list[str]:
    """Sort hosts of one group as Node.place sorts them, wherever the inventory has them; C(variable) has their ids.

    A play knows less of a host than its tasks do, variables of the play for example. What it cannot read is unknown: a
    run that has configured nodes must not end before it restarts them.
    """

    def read(host: str, name: str) -> Any:
        try:
            return hostvars.get(host, {}).get(name)
        except AnsibleError:
            return None

    def place(host: str) -> tuple[str, bool, int, str]:
        """Return where a host comes; one without an id by its name behind those that have one."""
        number = as_int(read(host, variable))
        return str(read(host, "kafka_cluster_name") or ""), number is None, number or 0, host

    return sorted(hosts, key=place)

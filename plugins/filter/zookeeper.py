# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about the servers of an ensemble (plugin_utils/inventory/zookeeper_nodes.py)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "zookeeper_comers_and_goers": explained("inventory.zookeeper_nodes.comers_and_goers"),
            "zookeeper_member_steps": explained("inventory.zookeeper_nodes.member_steps"),
            "zookeeper_own_steps": explained("inventory.zookeeper_nodes.own_steps"),
        }

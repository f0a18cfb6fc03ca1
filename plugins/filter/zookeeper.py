# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters about the servers of an ensemble (plugin_utils/inventory/zookeeper_nodes.py)."""

from __future__ import annotations

DOCUMENTATION = r"""
name: zookeeper
short_description: "PRIVATE: ensembles of ZooKeeper"
description:
  - The roles of this collection call the filters of this file; their names and what they take may change with any
    release.
options:
  _input:
    description: See the functions of this file.
    type: raw
    required: true
author: The streamops engineers (@streamops)
"""

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

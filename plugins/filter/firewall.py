# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that derive the firewall of a machine from the inventory (plugin_utils/render/firewall.py)."""

from __future__ import annotations

DOCUMENTATION = r"""
name: firewall
short_description: "PRIVATE: the rules of the firewall"
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
            "firewall_names": explained("render.firewall.unresolved", "firewall"),
            "firewall_places": explained("render.firewall.places", "firewall"),
            "firewall_rules": explained("render.firewall.rules", "firewall"),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that derive the firewall of a machine from the inventory (plugin_utils/render/firewall.py)."""

from __future__ import annotations

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

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters for those who watch clusters: alert_rules, scrape_configs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "alert_rules": explained("monitoring.rules.alert_rules"),
            "scrape_configs": explained("monitoring.targets.scrape_configs"),
        }

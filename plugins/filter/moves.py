# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that show the results of streamops.kafka.reassignment; what they show is made in plugin_utils/move_*.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "move_lines": explained("reports.move_lines.move_lines"),
            "move_report": explained("reports.move_report.move_report"),
        }

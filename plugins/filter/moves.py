# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that show the results of streamops.kafka.reassignment; what they show is made in plugin_utils/move_*.py."""

from __future__ import annotations

DOCUMENTATION = r"""
name: moves
short_description: "PRIVATE: reports of moves"
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
            "move_lines": explained("reports.move_lines.move_lines"),
            "move_report": explained("reports.move_report.move_report"),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that say what a run did and how a cluster is, for the last lines of a run."""

from __future__ import annotations

DOCUMENTATION = r"""
name: runs
short_description: "PRIVATE: the last lines of a run"
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
            "restart_line": explained("reports.restarts.restart_line"),
            "restart_plan": explained("reports.restarts.restart_plan"),
            "restart_words": explained("reports.restarts.restart_words"),
            "degradations": explained("reports.status.degradations"),
            "verdict_line": explained("reports.status.verdict_line"),
            "change_lines": explained("reports.status.change_lines"),
            "short_list": explained("reports.status.short_list"),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""The filter that holds a cluster against the advice of the field."""

from __future__ import annotations

DOCUMENTATION = r"""
name: advice
short_description: "PRIVATE: lines of advice"
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
        return {"advice_lines": explained("reports.advice.advice_lines")}

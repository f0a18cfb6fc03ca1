# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter reason_line: a restart reason as a line for people."""

from __future__ import annotations

DOCUMENTATION = r"""
name: reason_line
short_description: "PRIVATE: the reasons of a restart"
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
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name each filter."""
        return {"reason_line": explained("_node.restart_reasons.reason_line")}

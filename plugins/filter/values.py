# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters that read a boolean or a number of the inventory, which may be text; module_utils/_core/values.py decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "boolean": explained("_core.values.to_boolean", "unclear value"),
            "integer": explained("_core.values.to_integer", "unclear value"),
            "number": explained("_core.values.to_number", "unclear value"),
        }

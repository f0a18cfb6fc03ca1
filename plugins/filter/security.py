# SPDX-License-Identifier: GPL-3.0-or-later
"""Filters around TLS and SASL: client_properties, hold_secret."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {
            "client_properties": explained("render.security.client_properties", secret=True),
            "hold_secret": explained("_core.properties.hold_secret", secret=True),
        }

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter by_node_id: the order in which plays take hosts; it is in plugin_utils/inventory/nodes.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"by_node_id": explained("inventory.nodes.by_node_id")}

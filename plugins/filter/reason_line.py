# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter reason_line: a restart reason as a line for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.explained import explained


class FilterModule:
    """The filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name each filter."""
        return {"reason_line": explained("_node.restart_reasons.reason_line")}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter present: which groups have hosts; it is in plugin_utils/preloaded.py, and loads what tasks need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"present": explained("preloaded.present")}

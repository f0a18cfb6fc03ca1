# SPDX-License-Identifier: GPL-3.0-or-later
"""Filter awx_review: what people did by hand to what we make in AWX; it is in plugin_utils/awx/review.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..plugin_utils.explained import explained


class FilterModule:
    """What Ansible asks for the filters of this file."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        """Name to function."""
        return {"awx_review": explained("awx.review.awx_review")}

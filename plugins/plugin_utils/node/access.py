# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who may read and write the files of a node, by the owners in its model. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .manifest import Access


def readable(model: Mapping[str, Any], mode: str) -> Access:
    """Return the access to what a node only reads."""
    return Access(mode, model["owners"]["root"], model["owners"]["group"])


def writable(model: Mapping[str, Any], mode: str) -> Access:
    """Return the access to what a node writes."""
    return Access(mode, model["owners"]["node"], model["owners"]["group"])

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Levels of features as a user gave them, in an inventory, by -e or in a survey."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

#: The variable that holds them.
LEVELS = "kafka_upgrade_features"


def given_levels(given: Any) -> tuple[dict[str, Any], str]:
    """Return (the level of each feature by its name, why they cannot be read); the latter is empty where they can.

    Text is JSON, or NAME=LEVEL with commas or blanks between several. Nothing and empty text name no feature.
    """
    unclear = f"{LEVELS} is {given!r}, which names no features with their levels"
    if given is None or (isinstance(given, str) and not given.strip()):
        return {}, ""
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            pairs = [pair.partition("=") for pair in given.replace(",", " ").split()]
            given = {name: level for name, _equals, level in pairs} if all(map(all, pairs)) else given
    if not isinstance(given, Mapping):
        return {}, unclear
    return {str(name): level for name, level in given.items()}, ""

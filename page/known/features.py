"""What brokers know of metadata.version and other features, beside what is finalized. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._features.levels import KRAFT, METADATA, level_name
from ansible_collections.streamops.kafka.plugins.module_utils._features.plan import State

Row = Mapping[str, Any]


def features_of(state: State) -> list[dict[str, Any]]:
    """Return each feature with its finalized level and the highest levels that brokers know, with how many know each.

    Empty in ZooKeeper mode, and where no broker told. Left out is kraft.version: it is not raised after an upgrade.
    """
    if state.epoch is None or not state.known:
        return []
    return [
        {
            "name": name,
            "finalized": state.level(name),
            "highest": dict(sorted(Counter(node.range_of(name)[1] for node in state.known).items())),
            "below": name in state.below(),
        }
        for name in state.names()
        if name != KRAFT
    ]


def features_tile(rows: Sequence[Row]) -> tuple[str, str, str] | None:
    """Return the figure of metadata.version: its level, or that brokers of several releases run; None if not known."""
    mine = next((one for one in rows if one["name"] == METADATA), None)
    if mine is None:
        return None
    highest: Mapping[int, int] = mine["highest"]
    if len(highest) > 1:
        known = [f"{_shown(level)} on {count:,}" for level, count in highest.items()]
        return METADATA, "mixed", f"several releases run, and know it up to {capped(known, 3)}"
    also = [one["name"] for one in rows if one["below"] and one["name"] != METADATA]
    more = "the highest that all brokers know"
    if mine["below"]:
        more = f"all brokers could run {_shown(max(highest))}"
    if also:
        more += f"; also below: {capped(also, 3)}"
    return METADATA, _shown(mine["finalized"]), more


def _shown(level: int) -> str:
    return level_name(METADATA, level) or f"{level}"

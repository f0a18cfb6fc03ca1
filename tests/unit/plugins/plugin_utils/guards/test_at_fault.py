# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that is not whole because of another keeps its files, and the other one is named."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.at_fault import Culprit, culprit

SLOW = "property replica.fetch.backoff.ms: 200 -> 300000"


def fault(kind: str, followers: list[int], leaders: list[int]) -> dict[str, Any]:
    """Return an attribution as isr_wait does."""
    return {"kind": kind, "followers": followers, "leaders": leaders, "phrase": f"{kind} {followers} {leaders}"}


@pytest.mark.parametrize(
    ("attributions", "changed", "expected"),
    [
        ([fault("follower", [1], [2, 3])], {1: [SLOW]}, 1),
        ([fault("follower", [1], [2, 3])], {}, 1),
        ([fault("pair", [1], [2])], {1: [SLOW]}, 1),
        # The leader's own change was the last.
        ([fault("pair", [1], [2])], {2: [SLOW]}, None),
        ([fault("leader", [1, 3], [2])], {1: [SLOW]}, None),
        ([fault("leader", [1, 3], [2]), fault("follower", [1], [2, 3])], {1: [SLOW]}, None),
        # It copies from nobody itself, whatever another one does besides.
        ([fault("follower", [2], [1, 3]), fault("follower", [1], [2, 3])], {1: [SLOW]}, None),
        # Of others, and of whom time mends.
        ([fault("pair", [1], [3])], {1: [SLOW]}, None),
        ([fault("catching_up", [1], [2])], {1: [SLOW]}, None),
        ([fault("unknown", [1], [2])], {1: [SLOW]}, None),
        ([], {1: [SLOW]}, None),
        # A follower at fault before a pair.
        ([fault("pair", [3], [2]), fault("follower", [1], [2, 4])], {3: [SLOW]}, 1),
    ],
)
def test_who_is_at_fault_for_node_two(
    attributions: list[dict[str, Any]], changed: dict[int, list[str]], expected: int | None
) -> None:
    found = culprit(2, attributions, lambda node: (changed.get(node, []), True))
    assert (found and found.node_id) == expected


def test_the_culprit_is_told_with_what_changed_last_on_it() -> None:
    attribution = fault("pair", [1], [2])
    assert culprit(2, [attribution], lambda _node: ([SLOW], True)) == Culprit(1, attribution["phrase"], (SLOW,), True)
    # What changed on it in an earlier run is named and not taken back; of a pair the leader's change was the last.
    assert culprit(2, [attribution], lambda _node: ([SLOW], False)) is None
    alone = fault("follower", [1], [2, 3])
    assert culprit(2, [alone], lambda _node: ([SLOW], False)) == Culprit(1, alone["phrase"], (SLOW,), False)

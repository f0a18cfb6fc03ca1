# SPDX-License-Identifier: GPL-3.0-or-later
"""A placement keeps count of what may come back, whatever is done to it."""

from __future__ import annotations

import random

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.racks import Racks, mask_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.state import Placement


def torn(placement: Placement, takers: set[int]) -> dict[int, set[int]]:
    """By broker the partitions at home there that have another home to come back to, counted from nothing."""
    found: dict[int, set[int]] = {}
    for partition, had in enumerate(placement.had):
        now = set(placement.at(partition))
        if partition not in placement.fixed and (set(had) - now) & takers:
            for broker in now.intersection(had):
                found.setdefault(broker, set()).add(partition)
    return found


@pytest.mark.parametrize("seed", range(30))
def test_what_may_come_back_is_the_same_as_counted_from_nothing(seed: int) -> None:
    draw = random.Random(seed)
    brokers = draw.randint(3, 8)
    takers = set(draw.sample(range(brokers), draw.randint(1, brokers)))
    had = [tuple(draw.sample(range(brokers), draw.randint(1, 3))) for _partition in range(12)]
    placement = Placement(had, brokers, Racks([0] * brokers, mask_of(takers), "none"), fixed=draw.sample(range(12), 2))
    for step in range(60):
        partition = draw.randrange(12)
        members = list(placement.at(partition))
        others = sorted(set(range(brokers)) - set(members))
        what = draw.choice(["drop", "add", "swap", "swap", "become", "copy"])
        if what == "drop" and len(members) > 1:
            placement.drop(partition, draw.choice(members))
        elif what == "add" and others:
            placement.add(partition, draw.choice(others))
        elif what == "swap" and others:
            placement.swap(partition, draw.choice(members), draw.choice(others))
        elif what == "become":
            placement.become(partition, had[partition])
        else:
            placement = placement.copy()
        found = placement.torn()
        assert {broker: set(listed) for broker, listed in found.items()} == torn(placement, takers), step
        assert all(len(listed) == len(set(listed)) for listed in found.values())

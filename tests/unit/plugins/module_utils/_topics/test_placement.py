# SPDX-License-Identifier: GPL-3.0-or-later
"""Where new partitions go so that every broker leads one."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._topics.placement import placement

RACKS = {1: "a", 2: "b", 3: "c", 4: "a"}


def test_a_fourth_broker_leads_one_of_the_partitions_that_are_added() -> None:
    held = [(1, 2, 3), (2, 3, 1), (3, 1, 2), (1, 3, 2), (2, 1, 3), (3, 2, 1)]
    first, second = placement(held, RACKS, 3, 8)
    assert first[0] == second[0] == 4
    assert {RACKS[broker] for broker in first} == {"a", "b", "c"}


def test_a_topic_with_partitions_enough_gets_one_more_for_each_broker_without() -> None:
    held = [(1, 2, 3)] * 12
    assert sorted(replicas[0] for replicas in placement(held, RACKS, 3, 8)) == [2, 3, 4]


def test_where_every_broker_leads_nothing_is_added() -> None:
    assert placement([(1, 2), (2, 3), (3, 4), (4, 1)], RACKS, 2, 4) == ()


def test_with_fewer_live_brokers_than_replicas_nothing_can_be_placed() -> None:
    assert placement([(3, 1, 2)], {1: "a", 2: "b"}, 3, 4) == ()


@given(
    racks=st.dictionaries(st.integers(0, 30), st.sampled_from(["a", "b", "c", None]), min_size=1, max_size=12),
    factor=st.integers(1, 4),
    total=st.integers(0, 30),
    data=st.data(),
)
def test_every_broker_leads_and_no_partition_has_a_broker_twice(
    racks: dict[int, str | None], factor: int, total: int, data: st.DataObject
) -> None:
    factor = min(factor, len(racks))
    replicas = st.permutations(sorted(racks)).map(lambda brokers: tuple(brokers[:factor]))
    held = data.draw(st.lists(replicas, max_size=20))
    added = placement(held, racks, factor, total)
    assert {found[0] for found in [*held, *added]} == set(racks)
    assert all(len(set(found)) == factor for found in added)
    # Never more than were asked for and one for each broker that led none.
    assert len(added) <= max(total - len(held), len(racks), 0)
    if not held:
        leads = Counter(found[0] for found in added)
        assert max(leads.values()) - min(leads.values()) <= 1
        reachable = min(factor, len(set(racks.values())))
        assert all(len({racks[broker] for broker in found}) == reachable for found in added)

"""Each broker leads partitions of the topic, copies are on other racks, and no other topic can be taken for it."""

from __future__ import annotations

from collections import Counter

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._prove.topic import (
    MOST,
    PREFIX,
    assignment,
    configuration,
    refusals,
)


@pytest.mark.parametrize("brokers", [1, 2, 3, 6, 50])
def test_each_broker_leads_two_partitions(brokers: int) -> None:
    found = assignment(dict.fromkeys(range(1, brokers + 1)))
    assert set(Counter(replicas[0] for replicas in found).values()) == {2}
    assert all(len(set(replicas)) == min(3, brokers) for replicas in found)


def test_a_large_cluster_has_a_bounded_number_of_partitions() -> None:
    assert len(assignment(dict.fromkeys(range(300)))) == MOST


def test_copies_are_on_other_racks() -> None:
    racks = {1: "a", 2: "a", 3: "b", 4: "b", 5: "c", 6: "c"}
    assert all(len({racks[one] for one in replicas}) == 3 for replicas in assignment(racks))


@pytest.mark.parametrize(("replicas", "least"), [(1, "1"), (2, "1"), (3, "2")])
def test_one_replica_may_be_away(replicas: int, least: str) -> None:
    assert configuration(replicas, 60)["min.insync.replicas"] == least


def test_a_topic_of_another_name_is_refused() -> None:
    (why,) = refusals("orders", 60, 100)
    assert "'orders' does not begin with __streamops_prove" in why
    assert refusals(PREFIX, 60, 100) == refusals(f"{PREFIX}_2", 60, 100) == []
    assert "no name that Kafka takes" in refusals(f"{PREFIX} 2", 60, 100)[0]


@pytest.mark.parametrize(("seconds", "rate", "why"), [(0, 9, "from 1"), (9, 1, "from 2"), (2001, 1000, "more than")])
def test_a_proof_is_bounded(seconds: int, rate: int, why: str) -> None:
    assert why in refusals(PREFIX, seconds, rate)[0]

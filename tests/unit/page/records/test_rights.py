"""Who may read records of which topics: nobody of none unless both are named."""

from __future__ import annotations

from typing import Any

import pytest

from page.records.rights import Rights, rights_of

USERS, CLUSTERS = {"ann": 1, "bob": 1}, ("orders", "eu/stock")


def rights(**given: Any) -> Rights:
    found, wrong = rights_of(given, USERS, CLUSTERS)
    assert wrong == []
    return found


def test_without_readers_or_topics_nobody_reads() -> None:
    for given in ({}, {"readers": []}, {"topics": ["*"]}):
        found = rights(**given)
        assert not found.is_on
        assert not found.may_read("ann", "orders", "a")
        assert not found.may_read("", "orders", "a")


@pytest.mark.parametrize(
    ("topics", "cluster", "topic", "may"),
    [
        (["orders"], "orders", "orders", True),
        (["orders"], "orders", "orders2", False),
        (["orders"], "orders", "Orders", False),
        (["orders.*"], "orders", "orders.eu", True),
        (["orders.*"], "orders", "ordersXeu", False),
        (["orders/a*"], "orders", "ab", True),
        (["orders/a*"], "eu/stock", "ab", False),
        (["eu/stock/a"], "eu/stock", "a", True),
        (["*"], "orders", "a", True),
        (["*"], "orders", "__consumer_offsets", False),
        (["*"], "orders", "_streamops_state", False),
        (["__*"], "orders", "__consumer_offsets", True),
        (["_schemas"], "orders", "_schemas", True),
        (["a*"], "orders", "b/a", False),
        (["*"], "orders", "mm2-configs.west.internal", False),
        (["mm2*"], "orders", "mm2-offsets.west.internal", False),
        (["mm2-configs.west.internal"], "orders", "mm2-configs.west.internal", True),
        (["west.*"], "orders", "west._schemas", False),
        (["west._*"], "orders", "west._schemas", True),
        (["*"], "orders", "connect-configs", True),
    ],
)
def test_a_pattern_is_a_name_or_its_beginning(topics: list[str], cluster: str, topic: str, may: bool) -> None:
    found = rights(readers=["ann"], topics=topics)
    assert found.may_read("ann", cluster, topic) is may
    assert not found.may_read("bob", cluster, topic)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "records is no object"),
        ({"reader": []}, '"reader" is unknown'),
        ({"readers": "ann"}, "records.readers is no list"),
        ({"readers": [1]}, "records.readers is no list"),
        ({"readers": ["eve"], "topics": ["a"]}, 'records.readers has "eve", who is not in users'),
        ({"readers": ["ann"]}, "without records.topics"),
        ({"topics": ["a.*b"]}, 'records.topics has "a.*b"'),
        ({"topics": ["(a+)+$"]}, "records.topics has"),
        ({"topics": [""]}, "records.topics has"),
        ({"topics": ["a\n"]}, "records.topics has"),
        ({"topics": ["x" * 250]}, "records.topics has"),
        ({"topics": ["none/a"]}, "whose cluster is not in clusters"),
        ({"masked": [""]}, "records.masked has"),
        ({"masked": ["a"] * 501}, "records.masked is no list of at most 500"),
        ({"show_unmasked": "no"}, 'records.show_unmasked is "no"'),
    ],
)
def test_what_is_wrong_is_said_and_nobody_reads(given: Any, said: str) -> None:
    found, wrong = rights_of(given, USERS, CLUSTERS)
    assert len(wrong) == 1
    assert said in wrong[0]
    assert not found.is_on


def test_names_to_mask_are_found_in_any_case() -> None:
    assert rights(masked=["PassWord"]).masked == {"password"}
    assert rights(masked=["PRU\u0308FZIFFER"]).masked == {"pr\u00fcfziffer"}

# SPDX-License-Identifier: GPL-3.0-or-later
"""Throttles: what moves need is beside what was there, and without moves everything is as it was, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Copy, Record
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle import (
    BROKER_KEYS,
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
    TOPIC_KEYS,
    brokers_of,
    differences,
    leftovers,
    merged,
    wanted,
)

NOTHING = {LEADER_RATE: None, FOLLOWER_RATE: None}
UNLISTED = {LEADER_REPLICAS: None, FOLLOWER_REPLICAS: None}


def record(brokers: dict[str, dict[str, str | None]], topics: dict[str, dict[str, str | None]]) -> Record:
    """A record of these settings of before."""
    return Record({}, (), brokers, topics)


def test_all_brokers_of_a_copy_get_the_rate_and_all_its_replicas_are_listed() -> None:
    before = record({"1": NOTHING, "2": NOTHING, "3": NOTHING, "4": NOTHING}, {"t": UNLISTED, "u": UNLISTED})
    found = wanted(before, [Copy("t", 7, (1, 2), (3,))], 5000)
    rate = {LEADER_RATE: "5000", FOLLOWER_RATE: "5000"}
    assert found.brokers == {"1": rate, "2": rate, "3": rate, "4": NOTHING}
    assert found.topics == {"t": {LEADER_REPLICAS: "7:1,7:2", FOLLOWER_REPLICAS: "7:3"}, "u": UNLISTED}


def test_a_change_of_order_alone_is_not_throttled() -> None:
    only_order = Copy("t", 0, (1, 2), ())
    assert brokers_of([only_order]) == set()
    assert wanted(record({"1": NOTHING}, {"t": UNLISTED}), [only_order], 5).topics == {"t": UNLISTED}


@pytest.mark.parametrize(
    ("prior", "added", "found"),
    [
        (None, [], None),
        ("", [], ""),
        ("none", [], "none"),
        ("none", ["0:1"], "0:1"),
        ("*", ["0:1"], "*"),
        ("3:1, 2:2", [], "3:1, 2:2"),
        ("3:1,2:2", ["2:2", "0:1"], "3:1,2:2,0:1"),
    ],
)
def test_what_was_listed_stays_listed(prior: str | None, added: list[str], found: str | None) -> None:
    assert merged(prior, added) == found


VALUES = st.one_of(st.none(), st.sampled_from(["", "*", "none", "0:1,1:2", "00012"]))
PRIORS = st.dictionaries(
    st.sampled_from(["1", "2", "3"]), st.fixed_dictionaries(dict.fromkeys(BROKER_KEYS, VALUES)), max_size=3
)
TOPICS = st.dictionaries(
    st.sampled_from(["t", "u"]), st.fixed_dictionaries(dict.fromkeys(TOPIC_KEYS, VALUES)), max_size=2
)
COPIES = st.lists(
    st.builds(
        Copy,
        st.sampled_from(["t", "u"]),
        st.integers(0, 9),
        st.lists(st.integers(1, 3), min_size=1, max_size=2).map(tuple),
        st.lists(st.integers(1, 3), max_size=2).map(tuple),
    ),
    max_size=4,
)


@given(PRIORS, TOPICS, COPIES, st.integers(1, 10**9))
def test_setting_and_then_restoring_gives_back_every_byte(
    brokers: dict[str, dict[str, str | None]], topics: dict[str, dict[str, str | None]], copies: list[Copy], rate: int
) -> None:
    before = record(brokers, topics)
    live = {"brokers": {n: dict(v) for n, v in brokers.items()}, "topics": {n: dict(v) for n, v in topics.items()}}
    for asked in (wanted(before, copies, rate), wanted(before, (), None)):
        for kind, desired in (("brokers", asked.brokers), ("topics", asked.topics)):
            for name, values in differences(desired, live[kind]).items():
                live[kind][name].update(values)
    assert live == {"brokers": brokers, "topics": topics}


def test_only_what_differs_is_set_and_only_where_it_can_be() -> None:
    desired = {"1": {LEADER_RATE: "5"}, "2": {LEADER_RATE: "5"}, "3": {LEADER_RATE: None}}
    live = {"1": {LEADER_RATE: "5"}, "2": {LEADER_RATE: "4"}}
    assert differences(desired, live) == {"2": {LEADER_RATE: "5"}}


def test_leftovers_are_settings_that_throttle_something() -> None:
    topics = {"t": {LEADER_REPLICAS: "none", FOLLOWER_REPLICAS: "0:1"}, "u": {LEADER_REPLICAS: ""}}
    assert leftovers({"1": {LEADER_RATE: "7", FOLLOWER_RATE: None}}, topics) == [
        {"kind": "broker", "name": "1", "key": LEADER_RATE, "value": "7"},
        {"kind": "topic", "name": "t", "key": FOLLOWER_REPLICAS, "value": "0:1"},
    ]

# SPDX-License-Identifier: GPL-3.0-or-later
"""Names that flows have in common: by table, and against MirrorMaker's own decision for many short names."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow, matches
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_names import (
    Names,
    Step,
    journey,
    names_of,
    only_internal,
    overlap,
)


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("orders", [Names("orders", exact=True)]),
        ("^orders$", [Names("orders", exact=True)]),
        (r"eu\.x", [Names("eu.x", exact=True)]),
        ("eu[.].*", [Names("eu.")]),
        ("a.*|b", [Names("a"), Names("b", exact=True)]),
        (".*", [Names("")]),
        ("a.b", None),
        ("(a|b).*", None),
        (".*b", None),
        ("ab*", None),
        ("[ab]", None),
        (r"\d", None),
        ("(?i)a", None),
    ],
)
def test_names_and_prefixes_are_read_and_nothing_else(pattern: str, names: list[Names] | None) -> None:
    assert names_of(pattern) == names


def flow(*topics: str, exclude: tuple[str, ...] = (), policy: str = "identity") -> Flow:
    """A flow with these patterns."""
    return Flow("dc_a", "dc_b", topics, topics_exclude=exclude, policy=policy)


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        (flow("orders"), flow("orders"), "names 'orders'"),
        (flow("orders"), flow("order"), None),
        (flow("orders"), flow(".*"), "names 'orders'"),
        (flow("orders"), flow("[a-z]+"), "names 'orders'"),
        (flow("orders"), flow("[A-Z]+"), None),
        (flow("eu[.].*"), flow("us[.].*"), None),
        (flow("eu.*"), flow("eu[.]audit[.].*"), "names 'eu.audit.' and what follows"),
        (flow(".*"), flow("[a-z]+"), "names any"),
        (flow(".*", exclude=("us.*",)), flow("us[.].*"), None),
        (flow(".*", exclude=("u.+",)), flow("us[.].*"), "names 'us.' and what follows"),
        (flow(".*"), flow("__.*"), None),
    ],
)
def test_what_two_flows_have_in_common(first: Flow, second: Flow, words: str | None) -> None:
    found = overlap([Step("", first), Step("", second)], ())
    assert (found and found.words) == (words and f"patterns that may allow the {words}")


def test_topics_of_the_inventory_come_first() -> None:
    found = overlap([Step("", flow(".*"))], ["orders", "paid", "__internal"])
    assert found is not None
    assert (found.words, found.known) == ("topic orders and 1 more of kafka_topics", True)


def test_a_way_adds_the_alias_of_each_cluster_that_renames() -> None:
    there, back = flow("x", policy="default"), Flow("dc_b", "dc_a", (r"dc_a\.x",), policy="identity")
    assert [step.prefix for step in journey([there, back, there])] == ["", "dc_a.", "dc_a."]
    assert overlap(journey([there, back]), ()) is not None
    assert overlap(journey([there, back, there]), ()) is None


def test_a_pattern_for_internal_topics_alone_is_recognised() -> None:
    assert [one for one in ("__.*", "heartbeats", "_streamops_x", ".*", "_.*", "my_.*") if only_internal(one)] == [
        "__.*",
        "heartbeats",
        "_streamops_x",
    ]


PIECES = st.recursive(
    st.sampled_from(["a", "b", ".", "[ab]", "[^a]", ".*"]),
    lambda inner: st.tuples(inner, inner).map("".join) | st.tuples(inner, inner).map("{0[0]}|{0[1]}".format),
    max_leaves=5,
)
SHORT = ["".join(letters) for size in range(1, 5) for letters in product("abc", repeat=size)]


@settings(max_examples=300, deadline=None)
@given(first=PIECES, second=PIECES, exclude=PIECES)
def test_no_name_passes_where_flows_have_none_in_common(first: str, second: str, exclude: str) -> None:
    one, other = flow(first, exclude=(exclude,)), flow(second)
    if overlap([Step("", one), Step("", other)], ()) is None:
        assert [name for name in SHORT if matches(one, name) and matches(other, name)] == []
    for names in names_of(first) or ():
        assert re.fullmatch(first, names.text if names.exact else names.text + "c")

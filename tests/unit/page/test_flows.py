"""Flows of mirrors in the settings: defaults, and every mistake by its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.flows import flows_of

FLOW = {"source": "dc_a", "target": "dc_b", "topics": ["orders", "audit[.].*"]}


def test_flows_are_those_of_mirror_flows_and_one_end_may_be_elsewhere() -> None:
    assert flows_of([], ["dc_a"]) == ((), [])
    assert flows_of([FLOW], ["dc_b"]) == ((Flow("dc_a", "dc_b", ("orders", "audit[.].*")),), [])
    more = {"topics_exclude": ["audit.x"], "policy": "identity", "engine": "legacy", "heartbeats": False}
    (flow,), wrong = flows_of([{**FLOW, **more, "exactly_once": "disabled"}], ["dc_a", "dc_b"])
    assert wrong == []
    assert (flow.keeps_names, flow.heartbeats, flow.topics_exclude) == (True, False, ("audit.x",))
    assert hash(flow)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, "mirrors is no list"),
        ({}, "mirrors is no list"),
        ([FLOW] * 201, "at most 200 flows"),
        ([None], r"mirrors\[0\]: it is no object"),
        ([{**FLOW, "user": "x"}], r'mirrors\[0\]: "user" is unknown'),
        ([{**FLOW, "source": "x", "target": "y"}], 'neither source "x" nor target "y" is in clusters'),
        ([FLOW, {**FLOW, "target": 5}], r"mirrors\[1\].target is 5. Set a text"),
        ([{**FLOW, "target": None}], "target is required"),
        ([{**FLOW, "target": "dc_a"}], "into itself"),
        ([{**FLOW, "target": "a b"}], "letters, digits"),
        ([{**FLOW, "topics": "orders"}], "topics is \"orders\". Set a list"),
        ([{**FLOW, "topics": [5]}], "topics is a list. Set a list"),
        ([{**FLOW, "topics": []}], "topics is required. Set it"),
        ([{**FLOW, "topics": ["("]}], "no regular expression"),
        ([{**FLOW, "topics": ["(" + "x" * 500]}], "no regular expression|x{50}"),
        ([{**FLOW, "topics_exclude": ["a,b"]}], "comma"),
        ([{**FLOW, "policy": "own"}], "policy is one of default, identity"),
        ([{**FLOW, "engine": ["legacy"]}], "engine is a list. Set a text"),
        ([{**FLOW, "exactly_once": True}], "exactly_once is true. Set a text"),
        ([{**FLOW, "heartbeats": "yes"}], "heartbeats is \"yes\". Set true or false"),
        ([FLOW, FLOW], "2 flows of engine mirror_maker_2"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(given: Any, named: str) -> None:
    found, (wrong,) = flows_of(json.loads(json.dumps(given)), ["dc_a", "dc_b"])
    assert found == ()
    with pytest.raises(ValueError, match=named):
        raise ValueError(wrong)
    assert wrong.startswith("mirrors")
    assert len(wrong) < 250


def test_a_flow_with_properties_is_a_key_and_differs_by_them() -> None:
    plain, other = (Flow("a", "b", ("t",), config=config) for config in (None, {"consumer.fetch.min.bytes": 1}))
    assert plain != other
    assert len({plain: 1, other: 2}) == 2

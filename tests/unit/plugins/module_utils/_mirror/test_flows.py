"""Flows as data: what is taken, what is refused, which topics they cover and under what names."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror import flows as mirror
from ansible_collections.streamops.kafka.plugins.module_utils._mirror import reading

ONE = {"source": "a", "target": "b", "topics": ["orders"]}


def flow(**changes: Any) -> mirror.Flow:
    return reading.read_flows([{**ONE, **changes}])[0]


def test_a_flow_has_its_defaults() -> None:
    read = flow()
    assert (read.policy, read.engine, read.exactly_once, read.groups) == (
        "default",
        "mirror_maker_2",
        "disabled",
        (".*",),
    )
    assert read.pair == "a->b"


@pytest.mark.parametrize(
    ("pattern", "topic", "covered"),
    [
        ("orders", "orders", True),
        ("orders", "orders2", False),
        ("orders", "old-orders", False),
        (".*", "orders", True),
        (".*", "__consumer_offsets", False),
        (".*", "_streamops_smoke", False),
        (".*", "mm2-offsets.c.internal", False),
        (".*", "heartbeats", False),
        (".*", ".hidden", False),
        (".*", "c.heartbeats", False),
        (".*", "c.orders", True),
        (".*", "b.orders", False),
        (".*", "b.c.orders", False),
        (".*", "orders.replica", False),
    ],
)
def test_which_topics_a_flow_covers(pattern: str, topic: str, covered: bool) -> None:
    assert mirror.matches(flow(topics=[pattern]), topic) is covered


def test_a_list_that_is_left_empty_has_no_flows() -> None:
    assert reading.read_flows(None) == reading.read_flows([]) == []


def test_an_exclusion_wins() -> None:
    assert not mirror.matches(flow(topics=[".*"], topics_exclude=["orders"]), "orders")


def test_names_kept_tell_no_cycle() -> None:
    assert mirror.matches(flow(topics=[".*"], policy="identity"), "b.orders")


@pytest.mark.parametrize(
    ("changes", "name"),
    [({}, "a.orders"), ({"policy": "identity"}, "orders"), ({"engine": "legacy"}, "orders")],
)
def test_the_name_in_the_target(changes: dict[str, Any], name: str) -> None:
    assert mirror.remote_topic(flow(**changes), "orders") == name
    assert mirror.source_topic(flow(**changes), name) == "orders"


def test_internal_names() -> None:
    assert mirror.offsets_topic(flow()) == "mm2-offsets.a.internal"
    assert mirror.legacy_group(flow()) == "streamops-mirror-a-b"


def test_flows_into_a_cluster_leave_out_others_and_disabled_ones() -> None:
    flows = reading.read_flows([ONE, {**ONE, "target": "c"}, {**ONE, "source": "d", "enabled": False}])
    assert [one.pair for one in mirror.flows_into(flows, "b")] == ["a->b"]


@pytest.mark.parametrize(
    ("raw", "path", "words"),
    [
        ("orders", "mirror_flows", "list of flows"),
        (["a->b"], "mirror_flows[0]", "is a mapping"),
        ([{**ONE, "topic": "x"}], "mirror_flows[0].topic", "not known"),
        ([{**ONE, 1: "x"}], "mirror_flows[0].1", "not known"),
        ([{"source": "a", "target": "b"}], "mirror_flows[0].topics", "required"),
        ([{**ONE, "topics": "orders"}], "mirror_flows[0].topics", "list of regular expressions"),
        ([{**ONE, "topics": ["("]}], "mirror_flows[0].topics", "no regular expression"),
        ([{**ONE, "topics": ["a,b"]}], "mirror_flows[0].topics", "comma"),
        ([{**ONE, "policy": "Identity"}], "mirror_flows[0].policy", "default, identity"),
        ([{**ONE, "heartbeats": "maybe"}], "mirror_flows[0].heartbeats", "true or false"),
        ([{**ONE, "config": []}], "mirror_flows[0].config", "mapping of native"),
        ([{**ONE, "source": "a.b"}], "mirror_flows[0].source", "kafka_cluster_name"),
        ([{**ONE, "streams": 2}], "mirror_flows[0].streams", "engine legacy"),
        ([{**ONE, "engine": "legacy", "streams": 0}], "mirror_flows[0].streams", "1 or more"),
        ([{**ONE, "engine": "legacy", "config": {"x": 1}}], "mirror_flows[0].config", "consumer_config and producer"),
        ([{**ONE, "target": "a"}], "mirror_flows[0]", "into itself"),
        ([ONE, ONE], "mirror_flows", "one for each pair"),
        ([ONE, {**ONE, "source": "c", "exactly_once": "enabled"}], "mirror_flows", "differ in exactly_once"),
    ],
)
def test_what_is_refused(raw: Any, path: str, words: str) -> None:
    problems = reading.flow_problems(raw)
    assert [where for where, _ in problems] == [path]
    assert words in problems[0][1]
    with pytest.raises(ValueError, match="mirror_flows"):
        reading.read_flows(raw)


def test_all_problems_are_told_at_once() -> None:
    assert len(reading.flow_problems([{"source": "a", "policy": "x"}, {**ONE, "groups": "all"}])) == 4

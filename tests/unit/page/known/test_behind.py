"""Two pictures of the ends of a flow: what they say together, and what they cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import OF_TOPIC, TopicConfigs, TopicValue
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import NO_ANSWER, TOO_OLD, Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.known.behind import (
    ALIVE,
    BEHIND,
    EMPTY,
    FEWER,
    IN_STEP,
    MISSING,
    NO_RECORD,
    NOT_COMPARABLE,
    SILENT,
    UNKNOWN,
    beat_of,
    event_age,
    rows_of,
)
from page.known.details import Details
from page.known.newest import Newest, asked_for, covered_by
from page.known.picture import Picture

FLOW = Flow("a", "b", ("orders",))
#: When the target was asked, in s since 1970.
ASKED = 1_000_000.0
Times = Mapping[int, int | str | None]


def at(seconds: float) -> int:
    """So many seconds before the target was asked, in ms since 1970."""
    return round((ASKED - seconds) * 1000)


def picture(
    cluster: str, times: Mapping[str, Times], flow: Flow = FLOW, asked: float = ASKED, ends: int = 9, **more: Any
) -> Picture:
    logs = {name: dict.fromkeys(some, Log(ends, ends)) for name, some in times.items()}
    newest = Newest(asked, covered_by([flow], cluster, times), times)
    return Picture(asked, 0.1, 1, 1, 0, logs, [], newest=newest, **more)


def compared(source: Times, target: Times, flow: Flow = FLOW, asked: float = ASKED, **more: Any) -> dict[str, Any]:
    """The only row of the topic."""
    there = {"a.orders": target} if target else {}
    (row,) = rows_of(flow, picture("a", {"orders": source}, flow, asked), picture("b", there, flow, **more))
    return row


@pytest.mark.parametrize(
    ("source", "target", "state", "behind"),
    [
        ({0: at(5)}, {0: at(5)}, IN_STEP, 0),
        ({0: at(5)}, {0: at(45)}, IN_STEP, 40),
        ({0: at(5), 1: at(10)}, {0: at(5), 1: at(100)}, BEHIND, 90),
        # What came after the target was asked is not held against the mirror.
        ({0: at(-3600)}, {0: at(2)}, IN_STEP, 2),
        # The target was asked later, and has more.
        ({0: at(30)}, {0: at(1)}, IN_STEP, 0),
        # One partition has nothing to mirror.
        ({0: None, 1: at(1)}, {0: None, 1: at(1)}, IN_STEP, 0),
        ({0: None}, {0: None}, NO_RECORD, None),
        ({0: None}, {0: at(9)}, NO_RECORD, None),
        ({0: at(5)}, {}, MISSING, None),
        ({0: at(5), 1: at(5)}, {0: at(5)}, FEWER, None),
        ({0: at(5)}, {0: at(5), 1: None}, IN_STEP, 0),
        ({0: NO_ANSWER}, {0: at(5)}, UNKNOWN, None),
        ({0: at(5), 1: at(5)}, {0: at(5), 1: TOO_OLD}, UNKNOWN, None),
        ({0: at(5)}, {0: at(-3600)}, NOT_COMPARABLE, None),
        # Records were there: retention of the target took them.
        ({0: at(5)}, {0: None}, NOT_COMPARABLE, None),
        ({0: at(5), 1: at(5)}, {0: None, 1: at(7)}, IN_STEP, 2),
    ],
)  # fmt: skip
def test_how_far_a_topic_is_behind(source: Times, target: Times, state: str, behind: float | None) -> None:
    found = compared(source, target)
    assert (found["state"], found["behind_seconds"]) == (state, behind)
    assert (found["flow"], found["topic"], found["remote_topic"]) == ("a->b", "orders", "a.orders")
    assert bool(found["why"]) == (state in (UNKNOWN, NOT_COMPARABLE))


def test_a_partition_to_which_nothing_was_ever_written_is_told_from_one_that_retention_emptied() -> None:
    found = compared({0: at(5), 1: at(5)}, {0: at(5), 1: None}, ends=0)
    assert (found["state"], found["partition"]) == (EMPTY, 1)


def test_times_that_are_not_those_of_the_source_are_not_compared() -> None:
    own = {"a.orders": {"message.timestamp.type": TopicValue("LogAppendTime", source=OF_TOPIC)}}
    found = compared({0: at(5)}, {0: at(5)}, details=Details(configs=TopicConfigs(own)))
    assert (found["state"], "LogAppendTime" in found["why"]) == (NOT_COMPARABLE, True)
    assert compared({0: at(5)}, {0: at(5)}, details=Details(configs=TopicConfigs({"a.orders": {}})))["state"] == IN_STEP
    once = Flow("a", "b", ("orders",), exactly_once="enabled")
    found = compared({0: at(5)}, {0: at(5)}, once)
    assert (found["state"], "exactly_once" in found["why"]) == (NOT_COMPARABLE, True)
    assert compared({0: at(5)}, {}, once)["state"] == MISSING


@pytest.mark.parametrize("side", ["source", "target"])
def test_of_one_end_alone_is_shown_what_it_knows(side: str) -> None:
    source = picture("a", {"orders": {0: at(5)}}) if side == "source" else None
    target = picture("b", {"a.orders": {0: at(6), 1: at(7)}, "own": {0: at(1)}}) if side == "target" else None
    (row,) = rows_of(FLOW, source, target)
    assert (row["topic"], row["remote_topic"], row["state"]) == ("orders", "a.orders", UNKNOWN)
    assert (row["source_partitions"], row["target_partitions"]) == ((1, None) if source else (None, 2))
    assert "target" in row["why"] if source else "source" in row["why"]
    assert rows_of(FLOW, None, None) == []


@pytest.mark.parametrize(
    ("beats", "state", "age"),
    [
        ({0: at(2)}, ALIVE, 2),
        ({0: at(-5)}, ALIVE, 0),
        ({0: at(600), 1: at(61)}, SILENT, 61),
        ({0: None}, SILENT, None),
        ({}, SILENT, None),
        ({0: NO_ANSWER}, UNKNOWN, None),
        ({0: TOO_OLD, 1: None}, UNKNOWN, None),
    ],
)
def test_a_heartbeat_tells_whether_a_flow_lives(beats: Times, state: str, age: float | None) -> None:
    found = beat_of(FLOW, picture("b", {"a.heartbeats": beats} if beats else {}))
    assert (found.state, found.age) == (state, age)


def test_without_heartbeats_or_a_target_that_is_not_known() -> None:
    assert beat_of(FLOW, None).state == UNKNOWN
    quiet = Flow("a", "b", ("orders",), heartbeats=False)
    assert beat_of(quiet, picture("b", {"a.heartbeats": {0: at(1)}})).state == UNKNOWN


def test_a_cluster_is_asked_for_topics_of_its_flows_and_heartbeats_that_came_in() -> None:
    flows = [Flow("a", "b", (".*",), ("not.*",)), Flow("b", "a", ("back",), policy="identity"), Flow("c", "d", (".*",))]
    topics = ["orders", "not.this", "__consumer_offsets", "a.heartbeats", "b.orders", "heartbeats", "back"]
    there = covered_by(flows, "a", topics)
    assert {flow.pair: some for flow, some in there.items()} == {
        "a->b": {"orders": "orders", "back": "back"}, "b->a": {"back": "back"},
    }  # fmt: skip
    assert asked_for(there, "a", topics) == {"orders", "back"}
    there = covered_by(flows, "b", ["a.orders", "a.not.this", "other", "a.heartbeats", "back"])
    assert {flow.pair: some for flow, some in there.items()} == {
        "a->b": {"orders": "a.orders"}, "b->a": {"back": "back"},
    }  # fmt: skip
    assert asked_for(there, "b", ["a.orders", "a.heartbeats", "back"]) == {"a.orders", "a.heartbeats", "back"}
    assert covered_by(flows, "x", topics) == {}


def test_the_age_of_the_newest_event_of_a_canary_is_that_at_the_target() -> None:
    events, copy = "streamops-canary.a.b", "a.streamops-canary.a.b"
    source = picture("a", {events: {0: at(5), 1: at(5)}})
    assert event_age(FLOW, source, picture("b", {copy: {0: at(30), 1: at(8)}})) == 8.0
    assert event_age(FLOW, None, picture("b", {copy: {0: at(-9)}})) == 0.0
    assert event_age(FLOW, source, picture("b", {})) == SILENT
    assert event_age(FLOW, source, picture("b", {copy: {0: None, 1: None}})) == SILENT
    # Nobody told.
    assert event_age(FLOW, source, None) == UNKNOWN
    assert event_age(FLOW, source, picture("b", {copy: {0: NO_ANSWER}})) == UNKNOWN
    # No canary writes, or its topics are left from one that is gone.
    assert event_age(FLOW, picture("a", {}), picture("b", {})) is None
    assert event_age(FLOW, picture("a", {events: {0: None}}), picture("b", {copy: {0: None}})) is None


def test_events_of_canaries_are_asked_for_at_both_ends() -> None:
    source = {"orders", "streamops-canary.a.b", "streamops-canary.a.c", "x"}
    assert asked_for(covered_by([FLOW], "a", source), "a", source) == {"orders", "streamops-canary.a.b"}
    target = {"a.orders", "a.streamops-canary.a.b", "streamops-canary.b.a"}
    assert asked_for(covered_by([FLOW], "b", target), "b", target) == {"a.orders", "a.streamops-canary.a.b"}

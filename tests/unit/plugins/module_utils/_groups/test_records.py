"""Which records go, and what is said against it."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._groups.records import (
    Deletion,
    changes_of,
    consent_said,
    plan_deletions,
    protected,
    topics_shown,
    unconsented,
)
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log

P0, P1 = ("orders", 0), ("orders", 1)
LOGS = {P0: Log(10, 100), P1: Log(0, 0)}


@pytest.mark.parametrize(
    ("to", "offset", "at", "before"),
    [
        ("end", None, None, 100),
        ("offset", 30, None, 30),
        ("timestamp", None, {P0: 50}, 50),
        ("timestamp", None, {}, 100),
    ],
)
def test_records_before_a_point_go(
    to: str, offset: int | None, at: dict[tuple[str, int], int | None], before: int
) -> None:
    deletions, violations = plan_deletions({P0: LOGS[P0]}, to, offset, at)
    assert (deletions, violations) == ([Deletion("orders", 0, 10, before)], [])
    assert deletions[0].records == before - 10


@pytest.mark.parametrize("offset", [0, 9, 10])
def test_what_is_gone_already_is_no_deletion(offset: int) -> None:
    assert plan_deletions({P0: LOGS[P0]}, "offset", offset) == ([], [])


@pytest.mark.parametrize("offset", [101, -1])
def test_an_offset_outside_of_the_log_is_refused(offset: int) -> None:
    deletions, violations = plan_deletions({P0: LOGS[P0]}, "offset", offset)
    assert (deletions, len(violations)) == ([], 1)


def test_an_empty_log_has_nothing_to_delete() -> None:
    assert plan_deletions({P1: LOGS[P1]}, "end") == ([], [])


def test_a_log_without_an_answer_stops_the_deletion() -> None:
    assert len(plan_deletions({P0: Log(missing="no_answer")}, "end")[1]) == 1


def test_topics_of_kafka_and_compacted_ones_are_protected() -> None:
    topics = ["orders", "__of_a_user", "__consumer_offsets", "_streamops_state", "keys", "both"]
    policies = {"orders": "delete", "keys": "compact", "both": "compact, delete"}
    assert [one.split(":")[0] for one in protected(topics, policies)] == [
        "topic __consumer_offsets",
        "topic _streamops_state",
        "topic keys",
    ]


def test_consent_names_each_topic() -> None:
    assert unconsented(["b", "a", "c"], ["c", "other"]) == ["a", "b"]
    assert "does not name a, b." in consent_said(["a", "b"])


def test_topics_are_shown_with_their_records() -> None:
    found = topics_shown({**LOGS, ("audit", 0): Log(missing="no_answer")}, {P0: 50})
    assert [(one["name"], one["records"]) for one in found] == [("audit", 0), ("orders", 90)]
    assert [one["offset_at"] for one in found[1]["partitions"]] == [50, None]
    assert found[0]["partitions"][0]["records"] is None
    assert "offset_at" not in topics_shown(LOGS, None)[0]["partitions"][0]


def test_the_diff_shows_first_offsets_and_records() -> None:
    assert diff_of(changes_of([Deletion("orders", 0, 10, 30)])) == {
        "before": {"orders-0": {"start": 10}},
        "after": {"orders-0": {"start": 30, "records_deleted": 20}},
    }

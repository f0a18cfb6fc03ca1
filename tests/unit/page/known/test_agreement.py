"""Whether all brokers agree on the metadata: when they are asked, and what the quorum of a page says of it."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum, Snapshot, Voter
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.compare import Verdict, described, judged
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.look import Known, Question
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import ASKED, BROKER, Facts, Look
from page import poll_brokers
from page.known.agreement import (
    EVERY,
    MOST_PARTITIONS,
    agreement_of,
    carried,
    is_due,
    not_compared,
    subjects_for,
)
from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.shown.clusters import cluster
from page.shown.sheet import Sheet, state_of
from tests.support.status_seen import hurt

ALL = [one for one, kinds in ASKED.items() if BROKER in kinds]
NO_ACLS = "the cluster has no authorizer"
NO_BROKERS = Snapshot("cid", 1, (), (), Quorum(1, 7, 100, (Voter(1, None, 100, 0, 0),), ()))


def found(*nodes: Facts) -> dict[str, Any]:
    """What the comparison of these brokers returns, which said the same three times."""
    return described(judged([Look(1000.0 + 3 * at, 100, nodes) for at in range(3)]), 5)


def broker(number: int, **other: dict[str, str]) -> Facts:
    """A broker that says what all say, but for these values, and knows no ACLs."""
    told = {subject: {"name": "same"} for subject in ALL if subject != "acls"}
    return Facts(number, BROKER, applied=100, values={**told, **other}, unanswered={"acls": NO_ACLS})


def row(*nodes: Facts, subjects: list[str] | None = None) -> dict[str, Any]:
    """What the page keeps of that."""
    return agreement_of(found(*nodes), subjects or ALL, [3, 2, 1], 1_795_762_800.0)


def shown(metadata: dict[str, Any] | None) -> Sheet:
    """The first page of a cluster of which a poll saw this."""
    one = Picture(time.time(), 0.1, 1, 3, 0, {}, [], {**hurt(), "metadata": metadata})
    return cluster(state_of("orders", Seen(Polls(0.0, 2), one), time.time(), 300))


def test_brokers_are_asked_at_the_first_poll_and_then_at_each_tenth() -> None:
    before: dict[str, Any] | None = None
    asked = []
    for poll in range(25):
        due = is_due(before)
        asked += [poll] if due else []
        before = row(broker(1)) if due or before is None else carried(before)
    assert asked == [0, EVERY, 2 * EVERY]


def test_of_a_large_cluster_topics_are_left_out_and_that_is_said() -> None:
    assert subjects_for(MOST_PARTITIONS) == ALL
    few = subjects_for(MOST_PARTITIONS + 1)
    assert set(ALL) - set(few) == {"topics", "partitions", "topic_configs"}
    one = broker(1)
    kept = Facts(1, BROKER, applied=100, values={name: one.values[name] for name in few if name in one.values})
    assert row(kept, subjects=few)["not_compared"]["topics"] == "the cluster has more than 10,000 partitions"


def test_the_quorum_says_in_one_line_that_all_agree_in_what_and_who_was_not_asked() -> None:
    seen = row(broker(1), broker(2), broker(3))
    assert (seen["agree"], seen["not_compared"]) == (True, {"acls": NO_ACLS})
    (quorum,) = shown(seen).tables
    assert quorum.note == (
        "Of the metadata: node 1 leads in epoch 7. metadata: all 3 nodes agree at offset 100. "
        f"Compared: {', '.join(one for one in ALL if one != 'acls')}. Not compared: acls. "
        "Not asked: controller 1, controller 2, controller 3, since the page asks brokers alone; the module "
        "metadata_compare asks them too. Asked at 2026-11-27 07:00:00 UTC, and again after 10 polls."
    )


@pytest.mark.parametrize("subject", [one for one in ALL if one != "acls"])
def test_who_differs_in_what_is_a_line_and_has_its_detail(subject: str) -> None:
    sheet = shown(seen := row(broker(1), broker(2), broker(3, **{subject: {"name": "other"}})))
    quorum, detail = sheet.tables
    assert f"metadata: 2 of 3 nodes agree at offset 100: broker 3 differs in {subject}." in quorum.note
    assert detail.rows[0][0].text == (
        f"{subject}: broker 3 differs in 1 of 1 names for at least 6s: "
        "name (same at broker 1, broker 2, other at broker 3)"
    )
    assert sheet.data["seen"]["metadata"] == seen
    assert seen["differences"][0]["apart"] == ["broker 3"]


def test_one_that_hangs_is_named() -> None:
    quorum, detail = shown(row(broker(1), broker(2), Facts(3, BROKER, why="n3:9092: no answer in time"))).tables
    assert "metadata: 2 of 3 nodes agree at offset 100: broker 3 does not answer" in quorum.note
    assert detail.rows[0][0].text == "broker 3 does not answer: n3:9092: no answer in time"


def test_a_comparison_that_failed_says_why_and_nothing_else() -> None:
    (quorum,) = shown(not_compared("the poll took too long. Raise poll_timeout.", 1_795_762_800.0)).tables
    assert "metadata: not compared: the poll took too long. Raise poll_timeout. Asked at " in quorum.note


def compared(left: float, timeout: int = 30) -> dict[str, Any]:
    """What a poll with so many seconds left keeps of a cluster without brokers."""
    kept = poll_brokers.agreement(Session(Connection(("a:1",), request_timeout=timeout)), NO_BROKERS, (), None, left)
    assert kept is not None
    return kept


@pytest.mark.parametrize(
    ("error", "why", "logged"),
    [
        (IndexError("list index out of range"), "IndexError", ["the brokers of cluster cid cannot be compared"]),
        (RuntimeError("can't start new thread"), "RuntimeError", ["the brokers of cluster cid cannot be compared"]),
        (StreamopsError("a:1 does not answer."), "a:1 does not answer", []),
    ],
)
def test_whatever_goes_wrong_in_a_comparison_the_rest_of_the_picture_stays(
    error: Exception, why: str, logged: list[str], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_given: Any) -> None:
        raise error

    monkeypatch.setattr(poll_brokers, "verdict_on", fail)
    kept = compared(60)
    assert (kept["agree"], kept["line"], kept["polls_ago"]) == (None, f"not compared: {why}", 0)
    assert [one.message for one in caplog.records] == logged
    assert all(one.exc_info and one.exc_info[1] is error for one in caplog.records)


@pytest.mark.parametrize(
    ("left", "timeout", "seconds"), [(60, 30, 3), (3, 30, 3), (2.9, 30, 0), (2.9, 2, 2), (0, 2, 0)]
)
def test_each_broker_has_its_whole_time_or_none_is_asked(
    left: float, timeout: int, seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []

    def judge(_session: Session, question: Question, _known: Known) -> Verdict:
        given.append(question.node_timeout)
        return judged([Look(1000.0, 100, ())])

    monkeypatch.setattr(poll_brokers, "verdict_on", judge)
    line = compared(left, timeout)["line"]
    assert given == ([seconds] if seconds else [])
    assert (line == "not compared: the poll took too long. Raise poll_timeout") == (not seconds)


def test_before_a_comparison_the_quorum_says_nothing_of_it() -> None:
    (quorum,) = shown(None).tables
    assert quorum.note == "Of the metadata: node 1 leads in epoch 7."


def test_what_one_broker_alone_does_not_tell_is_in_the_detail() -> None:
    third = broker(3)
    told = {name: some for name, some in third.values.items() if name != "users"}
    third = replace(third, values=told, unanswered={**third.unanswered, "users": "denied"})
    quorum, detail = shown(row(broker(1), broker(2), third)).tables
    assert "metadata: all 3 nodes agree" in quorum.note
    assert [cells[0].text for cells in detail.rows] == ["users not compared at broker 3: denied"]

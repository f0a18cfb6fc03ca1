# SPDX-License-Identifier: GPL-3.0-or-later
"""What becomes of a question without an answer, and what a look returns; the looks themselves are integration tests."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import partition_of
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import TopicConfigs, TopicValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    MissingLibraryError,
    RequestFailedError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import (
    _throttled,
    _told,
    _with_min_insync,
    judged,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits, State

DENIED = RequestFailedError("configs of", "orders", "TOPIC_AUTHORIZATION_FAILED", "no right")
SLOW = RequestFailedError("list groups", "of all", "POLL_TIMEOUT", "too long")


def failing(error: Exception) -> Callable[[], int]:
    """A question that fails so."""

    def question() -> int:
        raise error

    return question


def test_an_answer_is_returned_and_nothing_noted() -> None:
    untold: list[str] = []
    assert _told(untold, False, "figures", lambda: 7, 0) == 7
    assert untold == []


@pytest.mark.parametrize("notes_rights", [False, True])
@pytest.mark.parametrize("error", [SLOW, StreamopsError("broken"), MissingLibraryError("x", "to try", "")])
def test_what_fails_by_itself_is_noted_and_not_fatal(error: StreamopsError, notes_rights: bool) -> None:
    untold: list[str] = []
    assert _told(untold, notes_rights, "figures", failing(error), 0) == 0
    assert untold == [f"figures ({error.message})"]


def test_a_missing_right_is_an_error_of_the_module_and_a_note_of_a_poll() -> None:
    untold: list[str] = []
    with pytest.raises(RequestFailedError):
        _told(untold, False, "figures", failing(DENIED), 0)
    assert untold == []
    assert _told(untold, True, "figures", failing(DENIED), 0) == 0
    assert untold == [f"figures ({DENIED.message})"]


def test_other_errors_are_never_noted() -> None:
    with pytest.raises(ZeroDivisionError):
        _told([], True, "figures", failing(ZeroDivisionError()), 0)


def test_a_state_is_judged_as_the_module_returns_it() -> None:
    found = judged(State(None, "no answer"), Limits())
    assert (found["changed"], found["status"], found["cluster"]) == (False, "DOWN", None)
    assert [one["kind"] for one in found["findings"]] == ["cluster_unreachable"]


def own(**values: str) -> dict[str, TopicValue]:
    """What a topic sets; "_" stands for "."."""
    return {name.replace("_", "."): TopicValue(value, source="DYNAMIC_TOPIC") for name, value in values.items()}


def test_one_answer_about_topics_has_min_insync_and_the_throttles_that_they_have_of_their_own() -> None:
    told = TopicConfigs(
        {"orders": own(min_insync_replicas="2", leader_replication_throttled_replicas="0:1", retention_ms="1"),
         "plain": {}},
        {"min.insync.replicas": TopicValue("3"), "follower.replication.throttled.replicas": TopicValue("")},
    )  # fmt: skip
    partitions = [partition_of(topic, 0, 1, [1], [1]) for topic in ("orders", "plain", "deleted")]
    assert [one.min_insync for one in _with_min_insync(partitions, told)] == [2, 3, 0]
    assert [one.min_insync for one in _with_min_insync(partitions, TopicConfigs({"plain": {}}))] == [0, 1, 0]
    assert _throttled(told) == {"orders": {"leader.replication.throttled.replicas": "0:1"}}
    assert _throttled(TopicConfigs()) == {}

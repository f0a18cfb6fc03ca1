"""Errors: a sentence for people, fields for programs."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change, diff_of
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    AccessRefusedError,
    ClusterUnreachableError,
    RefusedError,
    RequestFailedError,
    StreamopsError,
    WaitTimeoutError,
    errors_reported,
    warn,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.look import at


def test_an_unreachable_cluster_names_every_server_and_why() -> None:
    error = ClusterUnreachableError({"a:1": "refused", "b:2": "unknown host"})
    assert "a:1: refused" in error.message
    assert "b:2: unknown host" in error.message
    assert error.failure == {
        "kind": "ClusterUnreachableError",
        "passing": True,
        "attempts": {"a:1": "refused", "b:2": "unknown host"},
        "refused": [],
    }


def test_a_refusal_lists_all_violations_and_says_that_nothing_changed() -> None:
    error = RefusedError("topics", ["one.", "two."])
    assert error.message == "topics: 2 violation(s), nothing was changed:\n- one.\n- two."


def test_a_failed_request_says_what_name_and_why() -> None:
    assert RequestFailedError("create topics", "a", "X", "because").message == "create topics a: because (X)"


def test_a_long_list_of_what_is_missing_is_cut_in_the_message_only() -> None:
    error = WaitTimeoutError("topics", 3, [f"t{number}" for number in range(25)], "Run again.")
    assert "and 5 more" in error.message
    assert len(error.failure["missing"]) == 25


def test_a_diff_leaves_out_what_does_not_exist() -> None:
    assert diff_of([Change("a", None, {"x": 1}), Change("b", {"y": 2}, None)]) == {
        "before": {"b": {"y": 2}},
        "after": {"a": {"x": 1}},
    }


def test_servers_with_the_same_story_share_it() -> None:
    assert (
        "(a:1, c:3: refused; b:2: unknown host)"
        in ClusterUnreachableError({"a:1": "refused", "b:2": "unknown host", "c:3": "refused"}).message
    )


@pytest.mark.parametrize(
    ("error", "passing"),
    [
        (ClusterUnreachableError({"a:1": "refused"}), True),
        (AccessRefusedError({"a:1": "wrong password"}, ["Correct it."]), False),
        (RequestFailedError("describe", "quorum", "NOT_CONTROLLER", "w"), True),
        (RequestFailedError("describe", "quorum", "CLUSTER_AUTHORIZATION_FAILED", "w"), False),
        (RequestFailedError("read", "orders", "TOPIC_AUTHORIZATION_FAILED", "w"), False),
        (RefusedError("topics", ["one."]), False),
    ],
)
def test_what_waiting_may_mend_is_told_from_what_it_cannot(error: StreamopsError, passing: bool) -> None:
    assert error.failure["passing"] is passing


def test_a_warning_reaches_the_module_whose_work_it_is_and_no_other() -> None:
    heard: list[str] = []
    module = SimpleNamespace(warn=heard.append)
    with errors_reported(module):
        warn("broker 1 hangs")
    warn("nobody works")
    assert heard == ["broker 1 hangs"]


def test_an_error_is_the_same_text_however_it_is_shown() -> None:
    error = RequestFailedError("read", "orders", "NOT_LEADER", "no leader")
    with pytest.raises(StreamopsError), at("source a"):
        raise error
    assert str(error) == error.message == "source a: read orders: no leader (NOT_LEADER)"

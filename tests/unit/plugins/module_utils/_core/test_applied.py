"""What a module has changed when it fails half way: told in the result, in the diff and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import Applied
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    RequestFailedError,
    StreamopsError,
    WaitTimeoutError,
)

REFUSED = ("POLICY_VIOLATION", "too large")
Answer = Mapping[str, Any] | StreamopsError


def changes(names: Sequence[str]) -> list[Change]:
    """What was made."""
    return [Change(name, None, {"made": True}) for name in names]


def run(*requests: tuple[str, Answer], diff: bool = True) -> StreamopsError:
    """The error of requests about the letters of a word, each answered so."""
    applied = Applied[str]("thing")

    def give(answer: Answer) -> Mapping[str, Any]:
        if isinstance(answer, StreamopsError):
            raise answer
        return answer

    def work() -> None:
        with applied.truthful(changes, diff):
            for names, answer in requests:
                applied.ask(names, partial(give, answer))
            raise WaitTimeoutError("things", 3, ["a"], "All was accepted.")

    with pytest.raises(StreamopsError) as failed:
        work()
    return failed.value


def test_a_refusal_of_the_first_request_changed_nothing() -> None:
    error = run(("ab", {"a": REFUSED, "b": REFUSED}))
    assert error.done == {"changed": False, "diff": {"before": {}, "after": {}}}
    assert error.message == "thing a: too large; refused too: b (POLICY_VIOLATION). Nothing was changed."


def test_what_was_done_before_and_beside_a_refusal_is_told() -> None:
    error = run(("ab", {"a": None, "b": None}), ("cd", {"c": REFUSED, "d": None}))
    assert error.done["changed"] is True
    assert list(error.done["diff"]["after"]) == ["a", "b", "d"]
    assert error.message.endswith("Done before that: a, b, d. Run again to do the rest.")


def test_what_was_asked_and_never_answered_counts_as_changed_and_is_told() -> None:
    lost = RequestFailedError("alter", "of a:1", "REQUEST_TIMED_OUT", "no answer")
    error = run(("a", {"a": None}), ("bc", lost))
    assert list(error.done["diff"]["after"]) == ["a", "b", "c"]
    assert "Done before that: a. No clear answer came for b, c, so these may be done or not." in error.message


def test_a_missing_right_leaves_no_doubt() -> None:
    error = run(("a", RequestFailedError("alter", "x", "CLUSTER_AUTHORIZATION_FAILED", "no right")))
    assert error.done["changed"] is False


@pytest.mark.parametrize(
    "code",
    [
        "REQUEST_TIMED_OUT",
        "NETWORK_EXCEPTION",
        "UNKNOWN_SERVER_ERROR",
        "UNKNOWN",
        "_TIMED_OUT",
        "_TIMED_OUT_QUEUE",
        "_TRANSPORT",
    ],
)
def test_a_part_whose_answer_was_lost_is_in_doubt_and_not_called_unchanged(code: str) -> None:
    error = run(("abc", {"a": None, "b": (code, "no answer"), "c": REFUSED}))
    assert error.done["changed"] is True
    assert list(error.done["diff"]["after"]) == ["a", "b"]
    assert error.message.startswith("thing c: too large (POLICY_VIOLATION). Done before that: a.")
    assert "No clear answer came for b, so these may be done or not." in error.message
    alone = run(("b", {"b": (code, "no answer")}))
    assert alone.done["changed"] is True
    assert "Nothing was changed" not in alone.message


@pytest.mark.parametrize(
    "error",
    [
        ClusterUnreachableError({"h:1": "refused"}),
        RequestFailedError("alter", "of h:1", "NodeNotReadyError", "no broker is ready", unsent=True),
        RequestFailedError("add", "voter 3", "INVALID_REQUEST", "no"),
    ],
)
def test_what_was_never_sent_or_was_refused_leaves_no_doubt(error: StreamopsError) -> None:
    failed = run(("a", error))
    assert failed.done["changed"] is False
    assert failed.message.endswith("Nothing was changed.")
    assert "may be done or not" not in failed.message


def test_an_error_that_says_nothing_was_changed_is_corrected() -> None:
    error = run(("a", {"a": None}), ("b", ClusterUnreachableError({"h:1": "refused"})))
    assert "Nothing was changed" not in error.message
    assert error.done["changed"] is True


def test_a_wait_that_ends_too_early_has_changed_all_of_it() -> None:
    error = run(("ab", {"a": None, "b": None}), diff=False)
    assert error.done == {"changed": True}
    assert error.message.endswith("All was accepted.")

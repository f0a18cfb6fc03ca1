"""What a module has changed when it fails half way: told in the result, in the diff and in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import (
    REPEATS,
    Applied,
    asked_again,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    RefusedError,
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


class Cluster:
    """Things that exist, and what happens to the requests about them, one after the other."""

    def __init__(self, *happens: str) -> None:
        self.there: set[str] = set()
        self.happens = list(happens)
        self.slept: list[float] = []

    def make(self, name: str) -> Mapping[str, Any]:
        """Make one thing, refuse it, or lose the answer (lost: it is done; dropped: it is not)."""
        happens = self.happens.pop(0) if self.happens else "done"
        if happens == "refused":
            return {name: REFUSED}
        if happens != "dropped":
            self.there.add(name)
        return {name: None if happens == "done" else ("REQUEST_TIMED_OUT", "no answer")}

    def ensure(self, wanted: str, diff: bool = True) -> Mapping[str, Any]:
        """Do as a module does: plan from the state, ask, tell."""
        left = [name for name in wanted if name not in self.there]
        applied = Applied[str]("thing")
        with applied.truthful(changes, diff):
            for name in left:
                applied.ask([name], partial(self.make, name))
        result: dict[str, Any] = {"changed": bool(left), "unchanged": len(wanted) - len(left)}
        return {**result, "diff": {"before": {}, "after": {name: {"made": True} for name in left}}} if diff else result


@pytest.mark.parametrize("happens", ["lost", "dropped"])
@pytest.mark.parametrize("diff", [True, False])
def test_a_lost_answer_is_asked_for_again_and_what_was_not_done_is_done(happens: str, diff: bool) -> None:
    cluster = Cluster("done", happens)
    result = asked_again(lambda: cluster.ensure("abc", diff), cluster.slept.append)
    assert cluster.there == {*"abc"}
    assert result["changed"] is True
    assert len(cluster.slept) == 1
    if diff:
        assert sorted(result["diff"]["after"]) == ["a", "b", "c"]
    assert ("diff" in result) is diff


def test_nothing_is_repeated_without_a_doubt() -> None:
    cluster = Cluster("done", "refused")
    with pytest.raises(RequestFailedError) as failed:
        asked_again(lambda: cluster.ensure("abc"), cluster.slept.append)
    assert cluster.slept == []
    assert failed.value.message.endswith("Done before that: a. Run again to do the rest.")


def test_a_doubt_that_stays_ends_with_all_that_was_said_and_changed() -> None:
    cluster = Cluster("done", *["dropped"] * 9)
    with pytest.raises(RequestFailedError) as failed:
        asked_again(lambda: cluster.ensure("ab"), cluster.slept.append)
    assert len(cluster.slept) == REPEATS
    assert sorted(failed.value.done["diff"]["after"]) == ["a", "b"]
    assert "Done before that: a. No clear answer came for b" in failed.value.message
    assert failed.value.message.count("Run again to do the rest.") == 1


def test_an_error_of_the_next_look_tells_of_the_first_one_and_of_its_changes() -> None:
    cluster = Cluster("done", "dropped", "refused", "refused")
    with pytest.raises(RequestFailedError) as failed:
        asked_again(lambda: cluster.ensure("ab"), cluster.slept.append)
    assert failed.value.done["changed"] is True
    assert "Done before that: a." in failed.value.message
    assert "Asked again: thing b: too large (POLICY_VIOLATION)." in failed.value.message
    assert "Nothing was changed" not in failed.value.message


def test_what_the_rules_refuse_at_the_next_look_is_not_tried_once_more() -> None:
    cluster = Cluster("dropped")

    def work() -> Mapping[str, Any]:
        if cluster.slept:
            raise RefusedError("things", ["b: no."])
        return cluster.ensure("b")

    with pytest.raises(RefusedError) as failed:
        asked_again(work, cluster.slept.append)
    assert len(cluster.slept) == 1
    assert failed.value.done["changed"] is True


def test_a_request_that_is_carried_out_late_makes_the_next_one_wrong_and_not_the_run() -> None:
    cluster = Cluster("dropped", "refused")

    def late(_seconds: float) -> None:
        cluster.slept.append(_seconds)
        if len(cluster.slept) == REPEATS:
            cluster.there.add("a")

    assert asked_again(lambda: cluster.ensure("a"), late)["changed"] is True


def test_a_cluster_that_is_away_for_the_next_look_is_asked_once_more() -> None:
    cluster = Cluster("lost")
    away = [ClusterUnreachableError({"h:1": "refused"})]

    def work() -> Mapping[str, Any]:
        if cluster.there and away:
            raise away.pop()
        return cluster.ensure("a")

    assert asked_again(work, cluster.slept.append)["changed"] is True
    assert len(cluster.slept) == 2


def test_before_is_what_was_before_the_first_time_and_after_what_is_after_the_last() -> None:
    values = iter([(1, 2), (2, 3)])

    def work() -> Mapping[str, Any]:
        before, after = next(values)
        diff = {"before": {"a": {"n": before}}, "after": {"a": {"n": after}}}
        if before == 1:
            error = RequestFailedError("alter", "a", "REQUEST_TIMED_OUT", "no answer")
            error.unclear, error.done = True, {"changed": True, "diff": diff}
            raise error
        return {"changed": True, "diff": diff}

    assert asked_again(work, lambda _seconds: None)["diff"] == {"before": {"a": {"n": 1}}, "after": {"a": {"n": 3}}}


def test_the_result_names_what_was_done_each_time_and_nothing_twice() -> None:
    """Of three steps the first is done, the second is lost and done, the third is dropped and done the next time."""
    results = iter([
        {"made": ["a", "b"], "by": {"a": 1, "b": 1}, "deleted": True},
        {"made": ["c"], "by": {"c": 1}, "deleted": False},
    ])  # fmt: skip

    def work() -> Mapping[str, Any]:
        result = next(results)
        if result["deleted"]:
            error = RequestFailedError("alter", "a", "REQUEST_TIMED_OUT", "no answer")
            error.unclear, error.done, error.partial = True, {"changed": True}, {**result, "made": ["a", "b", "c"]}
            raise error
        return {"changed": True, "unchanged": 2, **result}

    assert asked_again(work, lambda _seconds: None) == {
        "changed": True,
        "unchanged": 2,
        "made": ["a", "b", "c"],
        "by": {"a": 1, "b": 1, "c": 1},
        "deleted": True,
    }


def test_an_error_carries_the_fields_of_what_was_done_and_may_be_done() -> None:
    applied = Applied[str]("thing")

    def work() -> None:
        with applied.truthful(changes, False, lambda done: {"made": [*done]}):
            applied.ask("a", dict)
            applied.ask("bc", lambda: {"b": ("REQUEST_TIMED_OUT", "no answer"), "c": REFUSED})

    with pytest.raises(RequestFailedError) as failed:
        work()
    assert failed.value.partial == {"made": ["a", "b"]}
    assert "made" not in failed.value.done

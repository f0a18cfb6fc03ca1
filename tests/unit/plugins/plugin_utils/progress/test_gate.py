# SPDX-License-Identifier: GPL-3.0-or-later
"""When a gate is waited for, and what a shut one says."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    AccessRefusedError,
    ClusterUnreachableError,
    MissingLibraryError,
    RequestFailedError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import DONE, FAILED, GOING, Hold
from ansible_collections.streamops.kafka.plugins.plugin_utils.progress.gate import (
    FLAPS,
    Opening,
    failure,
    seconds_for,
    step,
    unanswered,
    with_pace,
)


def refusal(kind: str, transient: bool) -> dict[str, Any]:
    """Return a refusal as the module returns it."""
    return {
        "kind": kind,
        "what": f"what {kind}",
        "found": "f",
        "allowed": "a",
        "fix": "Do w.",
        "transient": transient,
    }


@pytest.mark.parametrize(
    ("transient", "state"), [([], DONE), ([True], GOING), ([True, True], GOING), ([True, False], FAILED)]
)
def test_a_gate_is_waited_for_only_while_every_reason_may_pass(transient: list[bool], state: str) -> None:
    result = {"refusals": [refusal(f"k{number}", value) for number, value in enumerate(transient)]}
    assert step([3], result, answered_before=False).state == state


UNREACHABLE = ClusterUnreachableError({"a:1": "refused"})
DENIED = RequestFailedError("describe", "quorum", "CLUSTER_AUTHORIZATION_FAILED", "no right")
FAILED_REQUEST = RequestFailedError("describe", "quorum", "NOT_CONTROLLER", "electing")


@pytest.mark.parametrize(
    ("error", "before", "state"),
    [
        (UNREACHABLE, False, FAILED),
        (UNREACHABLE, True, GOING),
        (FAILED_REQUEST, True, GOING),
        (FAILED_REQUEST, False, GOING),
        (DENIED, True, FAILED),
        (AccessRefusedError({"a:1": "wrong password"}, []), True, FAILED),
        (MissingLibraryError("kafka-python", "to ask", ""), True, FAILED),
    ],
)
def test_a_cluster_that_answers_sometimes_may_be_electing(error: StreamopsError, before: bool, state: str) -> None:
    result = {"failed": True, "msg": "no answer", "failure": error.failure}
    assert step([3], result, answered_before=before).state == state


def test_a_last_look_that_fails_does_not_hide_what_the_gate_waited_for() -> None:
    failed = {"failed": True, "msg": "no answer."}
    shut = {"refusals": [refusal("one", True)], "allowed": False}
    looks = [{"refusals": [refusal("older", True)]}, shut, failed]
    assert unanswered(failed, looks).splitlines() == [
        "no answer. The gate stays shut: nothing was stopped. When the cluster last answered, the gate waited for:",
        "- what one: found f; allowed: a. Do w.",
    ]
    assert unanswered(failed, [failed]) == "no answer. The gate stays shut: nothing was stopped."
    assert "waited for" not in unanswered(failed, [{"refusals": [], "allowed": True}])


def test_the_message_names_the_nodes_every_reason_and_that_nothing_was_stopped() -> None:
    message = failure([3, 2], [refusal("one", True), refusal("two", False)], "1m00s")
    assert message.splitlines() == [
        "restart_gate node 2, 3: refused after 1m00s, 2 reason(s), nothing was stopped:",
        "- what one: found f; allowed: a. Do w.",
        "- what two: found f; allowed: a. Do w.",
    ]


def test_reasons_that_were_seen_are_kept_when_the_quorum_could_not_be_asked_later() -> None:
    unknown = [refusal("quorum_unknown", True)]
    looks = [{"refusals": [refusal("one", True)]}, {"refusals": unknown}, {"failed": True, "msg": "no answer."}]
    assert failure([3], unknown, "20s", looks).splitlines()[1:] == [
        "- what quorum_unknown: found f; allowed: a. Do w.",
        "When the cluster last answered, the gate waited for:",
        "- what one: found f; allowed: a. Do w.",
    ]
    assert unanswered(looks[2], looks[:2]).splitlines()[-1] == "- what one: found f; allowed: a. Do w."
    assert failure([3], [refusal("two", True)], "20s", looks).count("what one") == 0, "the last look saw all"


@pytest.mark.parametrize(("left", "seconds"), [(60.0, 30), (20.0, 17), (4.5, 3), (0.0, 3)])
def test_no_look_takes_longer_than_the_gate_has_left(left: float, seconds: int) -> None:
    assert seconds_for(left, 30) == seconds
    assert seconds_for(left, 2) == 2


OPEN = {"refusals": [], "allowed": True}
SHUT = {"refusals": [refusal("broker_down", True)], "allowed": False}


def test_a_gate_opens_only_after_looks_without_a_bad_one_over_its_time() -> None:
    opening = Opening([3], Hold(10.0))
    assert [opening.step(OPEN, True, at).state for at in (0.0, 4.0)] == [GOING, GOING]
    assert opening.step(SHUT, True, 9.0).state == GOING
    assert [opening.step(OPEN, True, at).state for at in (11.0, 18.0, 19.0)] == [GOING, GOING, DONE]
    assert opening.flapping() == ["The gate was open and shut again 1 time(s), last because: what broker_down."]


def test_a_gate_without_a_time_opens_at_one_look() -> None:
    assert Opening([3], Hold()).step(OPEN, False, 0.0).state == DONE


def test_a_fenced_node_that_is_corrected_is_not_waited_for() -> None:
    sick = {**OPEN, "corrects": True, "serves_nothing": True, "copied_bytes": 0}
    assert Opening([3], Hold(10.0)).step(sick, False, 0.0).state == DONE


def test_a_node_whose_followers_have_more_at_each_look_is_not_cut_off() -> None:
    opening = Opening([3], Hold(10.0))
    sick = {**OPEN, "corrects": True, "serves_nothing": False}
    for second in range(40):
        assert opening.step({**sick, "copied_bytes": 1000 * second}, True, float(second)).state == GOING
    for second in range(40, 49):
        assert opening.step({**sick, "copied_bytes": 39000}, True, float(second)).state == GOING
    assert opening.step({**sick, "copied_bytes": 39000}, True, 49.0).state == DONE


def test_a_gate_that_is_open_has_its_time_and_one_that_flaps_has_not() -> None:
    opening = Opening([3], Hold(10.0))
    progress = []
    for start in range(0, 50, 10):
        progress.append(opening.step(OPEN, True, float(start)).progress)
        opening.step(SHUT, True, start + 5.0)
    assert progress[:FLAPS] == ["open 0", "open 1", "open 2"]
    assert set(progress[FLAPS:]) == {""}
    opening.step(OPEN, True, 50.0)
    assert opening.unsteady().startswith("restart_gate node 3: refused, nothing was stopped: it was open, 1 of 3 good")


def test_a_gate_that_shuts_while_a_change_is_timed_is_waited_for_again() -> None:
    figures = {"metadata_seconds": 0.03, "not_timed": ""}
    assert with_pace(OPEN, {**OPEN, **figures}) == {**OPEN, **figures}
    assert with_pace(OPEN, {"failed": True, "msg": "no answer"}) == OPEN
    opening = Opening([3], Hold(10.0))
    for second in range(0, 11, 5):
        opened = opening.step(OPEN, True, float(second))
    assert opened.state == DONE
    assert opening.step(with_pace(OPEN, {**SHUT, **figures}), True, 10.0).state == GOING
    assert [opening.step(OPEN, True, second).state for second in (12.0, 16.0, 20.0)] == [GOING, GOING, DONE]


def copying(size: int | None, *kinds: str) -> dict[str, Any]:
    """Return a look at a gate that is shut for these reasons while replicas have so much to copy."""
    attributions = [{"kind": "catching_up", "bytes_behind": size}]
    return {"refusals": [refusal(kind, True) for kind in kinds], "attributions": attributions}


def test_a_gate_that_only_waits_for_replicas_has_its_time_again_while_they_copy() -> None:
    opening = Opening([3], Hold())
    sizes = (900, 800, 850, None, 799)
    told = [opening.step(copying(size, "catching_up"), True, 0).progress for size in sizes]
    assert told == ["", "moved 1", "moved 1", "moved 1", "moved 2"]
    other = Opening([3], Hold())
    assert [other.step(copying(size, "catching_up", "broker_down"), True, 0).progress for size in sizes] == [""] * 5

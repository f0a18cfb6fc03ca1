"""Voters that are added and removed: what is said when the cluster gives no answer."""

from __future__ import annotations

from itertools import chain, repeat
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._brokers import voter_apply
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Quorum, Voter
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import ConfigValue
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    RefusedError,
    RequestFailedError,
    StreamopsError,
)

THREE = tuple(Voter(node, directory, 100, 0, 0) for node, directory in ((1, "a"), (2, "b"), (3, "c")))
ABSENT = {"node_id": 3, "state": "absent", "listeners": None, "timeout": 5}


@pytest.fixture(autouse=True)
def no_broker_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    """The node is no broker, and joins again at once where it does."""
    monkeypatch.setattr(voter_apply, "live_brokers", lambda _session: [])
    monkeypatch.setattr(voter_apply, "REJOIN_SECONDS", 0.0)
    monkeypatch.setattr(voter_apply, "PAUSE", 0.0)


@pytest.mark.parametrize(
    ("code", "unsent", "changed"),
    [("REQUEST_TIMED_OUT", False, True), ("VOTER_NOT_FOUND", False, False), ("NodeNotReadyError", True, False)],
)
def test_a_removal_that_was_not_answered_may_be_done(
    monkeypatch: pytest.MonkeyPatch, code: str, unsent: bool, changed: bool
) -> None:
    def remove(_session: Any, _node: int, _directory: str) -> None:
        raise RequestFailedError("remove voter 3", "of a:1", code, "why", unsent)

    session: Any = None
    voters = tuple(Voter(node, directory, 100, 0, 0) for node, directory in ((1, "a"), (2, "b"), (3, "c")))
    monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session: Quorum(1, 5, 100, voters, ()))
    monkeypatch.setattr(voter_apply, "remove_voter", remove)
    params = {"node_id": 3, "state": "absent", "listeners": None, "timeout": 0}
    with pytest.raises(RequestFailedError) as failed:
        voter_apply.ensure_voter(session, params, False, False)
    assert failed.value.done["changed"] is changed
    assert ("No clear answer came for removed 3@c" in failed.value.message) is changed
    assert failed.value.message.endswith("Nothing was changed.") is not changed


@pytest.mark.parametrize("state", ["present", "absent"])
def test_a_change_without_an_answer_that_the_quorum_shows_in_the_end_is_done(
    monkeypatch: pytest.MonkeyPatch, state: str
) -> None:
    # A quorum of a machine under load takes longer than the request for the change may.
    def unanswered(*_given: Any) -> None:
        raise RequestFailedError("change", "voter 3", "REQUEST_TIMED_OUT", "the request timed out")

    session: Any = None
    two, third = (Voter(1, "a", 100, 0, 0), Voter(2, "b", 100, 0, 0)), Voter(3, "c", 100, 0, 0)
    without, with_it = Quorum(1, 5, 100, two, (third,)), Quorum(1, 5, 100, (*two, third), ())
    before, after = (without, with_it) if state == "present" else (with_it, without)
    answers = chain([before] * 3, repeat(after))
    monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session: next(answers))
    monkeypatch.setattr(voter_apply, "add_voter", unanswered)
    monkeypatch.setattr(voter_apply, "remove_voter", unanswered)
    params = {"node_id": 3, "state": state, "listeners": None, "timeout": 5}
    done = voter_apply.ensure_voter(session, params, False, False)
    assert (done["changed"], "3@c" in done["voters"]) == (True, state == "present")


def test_a_leader_that_is_taken_out_leaves_a_quorum_that_elects(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = None
    three = tuple(Voter(node, directory, 100, 0, 0) for node, directory in ((1, "a"), (2, "b"), (3, "c")))
    # The leader resigns once it was taken out, also right behind the look that saw the change.
    answers = [
        Quorum(1, 5, 100, three, ()),
        Quorum.unknown("not the leader"),
        Quorum(None, 5, 100, three[1:], ()),
        Quorum(2, 6, 101, three[1:], ()),
        Quorum.unknown("not the leader"),
    ]
    asked = iter(answers)
    monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session: next(asked))
    monkeypatch.setattr(voter_apply, "remove_voter", lambda *_given: None)
    params = {"node_id": 1, "state": "absent", "listeners": None, "timeout": 5}
    done = voter_apply.ensure_voter(session, params, False, False)
    assert (done["changed"], done["voters"]) == (True, ["2@b", "3@c"])
    assert list(asked) == [], "each answer was asked for"


@pytest.mark.parametrize("state", ["present", "absent"])
@pytest.mark.parametrize(
    ("quorum", "why"),
    [
        (Quorum.unknown("not the leader"), "the quorum does not answer who votes (not the leader)"),
        (Quorum(None, 5, 100, (Voter(1, "a", 100, 0, 0),), ()), "the quorum has no leader"),
    ],
)
def test_a_quorum_that_elects_is_waited_for_and_in_check_mode_told(
    monkeypatch: pytest.MonkeyPatch, state: str, quorum: Quorum, why: str
) -> None:
    # The leader may be killed while a new controller observes.
    session: Any = None
    monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session: quorum)
    params = {"node_id": 3, "state": state, "listeners": None, "timeout": 5}
    found = voter_apply.ensure_voter(session, params, False, False)
    assert (found["changed"], found["waiting"]) == (False, why)
    with pytest.raises(RefusedError):
        voter_apply.ensure_voter(session, params, True, False)


def test_what_has_no_voters_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = None
    params = {"node_id": 3, "state": "present", "listeners": None, "timeout": 5}
    for quorum in (None, Quorum(1, 5, 100, (Voter(1, None, 100, 0, 0),), ())):
        monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session, quorum=quorum: quorum)
        with pytest.raises(RefusedError):
            voter_apply.ensure_voter(session, params, False, False)


@pytest.mark.parametrize("check", [True, False])
def test_a_node_that_would_join_again_by_itself_is_not_taken_out(monkeypatch: pytest.MonkeyPatch, check: bool) -> None:
    session: Any = None
    asked: list[Any] = []
    on = {"controller.quorum.auto.join.enable": ConfigValue("true", "BOOLEAN")}
    monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session: Quorum(1, 5, 100, THREE, ()))
    monkeypatch.setattr(voter_apply, "live_brokers", lambda _session: [1, 2, 3])

    def describe(_session: Any, _kind: int, wanted: Any) -> Any:
        """Tell the configuration of broker 3."""
        asked.append(wanted)
        return {"3": on}

    monkeypatch.setattr(voter_apply, "describe_configs", describe)
    with pytest.raises(RefusedError) as refused:
        voter_apply.ensure_voter(session, ABSENT, check, False)
    assert "node 3: controller.quorum.auto.join.enable is true there" in refused.value.message
    assert asked == [{"3": ["controller.quorum.auto.join.enable"]}]


def test_a_node_that_joined_again_by_itself_is_told_with_its_property(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = None
    monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session: Quorum(1, 5, 100, THREE, ()))
    monkeypatch.setattr(voter_apply, "remove_voter", lambda *_given: None)
    with pytest.raises(StreamopsError, match="node 3 was taken out and is a voter again: it joined by itself") as told:
        voter_apply.ensure_voter(session, ABSENT, False, False)
    assert "controller.quorum.auto.join.enable" in told.value.message
    assert told.value.done["changed"] is True


def test_a_node_that_is_down_is_not_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    session: Any = None
    monkeypatch.setattr(voter_apply, "REJOIN_SECONDS", 60.0)
    down = (*THREE[:2], Voter(3, "c", 7, 93, 60_000))
    answers = iter([Quorum(1, 5, 100, down, ()), *[Quorum(1, 5, 100, THREE[:2], ())] * 2])
    monkeypatch.setattr(voter_apply, "describe_quorum", lambda _session: next(answers))
    monkeypatch.setattr(voter_apply, "remove_voter", lambda *_given: None)
    assert voter_apply.ensure_voter(session, ABSENT, False, False)["voters"] == ["1@a", "2@b"]

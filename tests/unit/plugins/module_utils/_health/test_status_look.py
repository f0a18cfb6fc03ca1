# SPDX-License-Identifier: GPL-3.0-or-later
"""What a status asks beside the health of a cluster, none of which hides the rest; looks are integration tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health import look, status_look
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import State
from ansible_collections.streamops.kafka.plugins.module_utils._health.status_look import (
    FEATURES,
    METADATA,
    answer,
    cluster_status,
    parts_to_ask,
)

LED = {"error": ""}
HEALTH = {"status": "OK", "findings": [], "changed": False}
#: What cluster_status and cluster_health are given, without a connection to anybody.
PARAMS: dict[str, Any] = {
    "bootstrap_servers": ["kafka1:9092"],
    "controller_protocol": "SSL",
    **{name: option["default"] for name, option in look.HEALTH_OPTIONS.items()},
}


@pytest.mark.parametrize(
    ("quorum", "parts"),
    [(LED, {FEATURES, METADATA}), ({"error": "no answer"}, set()), (None, {FEATURES})],
    ids=["led", "without an answer", "ZooKeeper"],
)
def test_controllers_that_did_not_answer_are_not_asked_again(quorum: Any, parts: set[str]) -> None:
    assert {*parts_to_ask(quorum)} == parts


def failing(error: Exception) -> Callable[..., Any]:
    """A question that fails so, whatever it is asked with."""

    def question(*_given: Any) -> Any:
        raise error

    return question


@pytest.fixture
def judged_as(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Let the cluster have this quorum and be OK; its parts answer with what they were asked with."""

    def patch(quorum: Any) -> None:
        def health_of(_params: Any, _is_check: bool, further: Any) -> Any:
            health = {**HEALTH, "cluster": {"quorum": quorum}}
            return {**health, **further("session", health)}

        monkeypatch.setattr(status_look, "health_of", health_of)
        for name in ("features_info", "compare_metadata"):
            monkeypatch.setattr(status_look, name, lambda session, params, *_modes: {"of": session, **params})

    return patch


def test_both_parts_are_asked_in_the_session_of_the_health(judged_as: Callable[[Any], None]) -> None:
    judged_as(LED)
    seen = cluster_status(PARAMS, False)
    assert (seen["status"], seen["cluster"]) == ("OK", {"quorum": LED})
    assert seen[FEATURES] == {"of": "session", "controller_protocol": "SSL", "ask_controller": False}
    assert (seen[METADATA]["of"], seen[METADATA]["controller_protocol"]) == ("session", "SSL")


@pytest.mark.parametrize(("quorum", "empty"), [(None, {METADATA}), ({"error": "mute"}, {FEATURES, METADATA})])
def test_what_is_not_asked_is_empty(judged_as: Callable[[Any], None], quorum: Any, empty: set[str]) -> None:
    judged_as(quorum)
    seen = cluster_status(PARAMS, False)
    assert {part for part in (FEATURES, METADATA) if not seen[part]} == empty


@pytest.mark.parametrize("error", [StreamopsError("no right"), ValueError("no right")])
@pytest.mark.parametrize(("name", "part"), [("features_info", FEATURES), ("compare_metadata", METADATA)])
def test_a_part_that_fails_hides_neither_the_verdict_nor_the_other(
    judged_as: Callable[[Any], None], monkeypatch: pytest.MonkeyPatch, name: str, part: str, error: Exception
) -> None:
    judged_as(LED)
    monkeypatch.setattr(status_look, name, failing(error))
    seen = cluster_status(PARAMS, False)
    assert (seen["status"], "no right" in seen[part]["msg"]) == ("OK", True)
    (other,) = {FEATURES, METADATA} - {part}
    assert seen[other]["of"] == "session"


def test_the_message_of_an_error_for_people_is_left_as_it_is() -> None:
    assert answer(failing(StreamopsError("describe quorum x: no right"))) == {"msg": "describe quorum x: no right"}
    assert answer(failing(KeyError("id"))) == {"msg": "KeyError: 'id'"}
    assert answer(lambda: {"agree": True}) == {"agree": True}


class Session:
    """A session with a cluster that answers, or does not."""

    error: Exception | None = None

    def __init__(self, _connection: Any) -> None:
        pass

    def __enter__(self) -> Session:
        if self.error:
            raise self.error
        return self

    def __exit__(self, *_error: object) -> None:
        pass


@pytest.fixture
def session(monkeypatch: pytest.MonkeyPatch) -> type[Session]:
    """Let the cluster be one of which nothing is told."""
    own = type("Own", (Session,), {})
    monkeypatch.setattr(look, "Session", own)
    monkeypatch.setattr(look, "_looked_again", lambda _session, snapshot, _given: (snapshot, {}))
    for name in ("require_describe", "describe_quorum", "take_snapshot", "answering"):
        monkeypatch.setattr(look, name, lambda *_given, **_options: None)
    monkeypatch.setattr(look, "state_of", lambda *_given, **_options: State(None, "nothing is told"))
    return own


def test_a_cluster_that_answered_is_asked_for_more_once_it_is_judged(session: type[Session]) -> None:
    def further(asked: Any, health: dict[str, Any]) -> dict[str, Any]:
        return {"more": (type(asked), health["findings"][0]["kind"])}

    seen = look.health_of(PARAMS, False, further)
    assert seen["more"] == (session, "cluster_unreachable")
    assert "more" not in look.health_of(PARAMS, False)


def test_a_cluster_that_does_not_answer_is_down_and_asked_for_nothing_more(session: type[Session]) -> None:
    session.error = ClusterUnreachableError({"kafka1:9092": "nobody is there"})
    seen = cluster_status(PARAMS, False)
    assert (seen["status"], seen["cluster"], seen[FEATURES], seen[METADATA]) == ("DOWN", None, {}, {})


def test_a_login_that_is_refused_is_an_error_of_the_whole_status(session: type[Session]) -> None:
    session.error = ClusterUnreachableError({"kafka1:9092": "refused"}, refused=["kafka1:9092"])
    with pytest.raises(ClusterUnreachableError):
        cluster_status(PARAMS, False)

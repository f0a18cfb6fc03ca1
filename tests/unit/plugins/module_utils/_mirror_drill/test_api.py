# SPDX-License-Identifier: GPL-3.0-or-later
"""Which records of production a drill takes, and by what it knows its own again."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill import api
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_drill.model import (
    HEADER,
    Content,
    Counts,
    Kept,
    Outcome,
)
from ansible_collections.streamops.kafka.plugins.module_utils._state import api as state
from ansible_collections.streamops.kafka.plugins.module_utils._state.form import UnknownFormError

SESSION: Any = "a session"


def record(offset: int, key: bytes | None, value: bytes | None, *headers: tuple[str, bytes]) -> Any:
    """A record as the library gives it."""
    return SimpleNamespace(topic="t", partition=0, offset=offset, key=key, value=value, headers=list(headers))


def taken(monkeypatch: pytest.MonkeyPatch, records: list[Any], end: int, partitions: int = 1) -> tuple[Any, Any]:
    """What is taken of these records, and from which offsets on they were asked for."""
    asked: list[Any] = []

    def visit(_session: Any, starts: Any, _ends: Any, take: Callable[[Any], None]) -> None:
        """Give the records."""
        asked.append(starts)
        for one in records:
            take(one)

    monkeypatch.setattr(api, "visit", visit)
    contents = api.last_contents(SESSION, {("t", number): (0, end) for number in range(partitions)})
    return contents, asked[0]


def test_a_drill_that_the_user_may_not_know_of_is_not_taken_for_none(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = [STATE_TOPIC]
    monkeypatch.setattr(state, "topics_at", lambda *_asked: {})
    monkeypatch.setattr(state, "hidden_topics", lambda _session, names: [name for name in names if name in hidden])
    plaintext: Any = SimpleNamespace(connection=Connection(("b1:9092",)))
    flow = Flow("a", "b", (".*",))
    for read in (lambda: api.last_of_flows(plaintext, [flow], ["orders"]), lambda: api.kept_of_flow(plaintext, flow)):
        with pytest.raises(RequestFailedError, match=r"operation read on the topic _streamops_state\. Fix: grant"):
            read()
    # A cluster in which no run has kept anything.
    hidden.clear()
    assert api.last_of_flows(plaintext, [flow], ["orders"]) == {"a->b": None}


def test_a_record_of_another_form_is_named_and_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = Flow("a", "b", (".*",)), Flow("c", "b", (".*",))
    outcome = Outcome("2026-01-31T02:10:00Z", "alice", counts=Counts(9, 0, 1, 2, 0, 0))
    good = Kept(None, outcome).as_data()
    read: dict[str, Any] = {"mirror_drill a->b": good}
    monkeypatch.setattr(
        api, "read_states", lambda _session, keys, _topics=None: {key: read[key] for key in keys & read.keys()}
    )
    assert api.last_of_flows(SESSION, [a, b]) == {"a->b": outcome, "c->b": None}
    assert (api.kept_of_flow(SESSION, a).last, api.kept_of_flow(SESSION, b).last) == (outcome, None)
    # What a newer release keeps beside it is passed over.
    read["mirror_drill c->b"] = {
        **good,
        "more": 1,
        "last": {**good["last"], "more": 1, "counts": {**good["last"]["counts"], "more": 1}},
    }
    assert api.last_of_flows(SESSION, [a, b]) == {"a->b": outcome, "c->b": outcome}
    lacking: dict[str, Any] = {**good["last"], "counts": {"acknowledged": 9}}
    for other in ({"last": lacking}, {"last": {**good["last"], "at": "yesterday"}}, {"last": {"at": 1}}, ["text"], "{"):
        read["mirror_drill c->b"] = other
        with pytest.raises(UnknownFormError, match=r"'mirror_drill c->b' has another form .* Take the release"):
            api.kept_of_flow(SESSION, b)
        # The page shows those of all other flows.
        shown = api.last_of_flows(SESSION, [a, b, Flow("d", "b", (".*",))])
        assert (shown["a->b"], shown["d->b"]) == (outcome, None)
        assert "'mirror_drill c->b' has another form" in str(shown["c->b"])


def test_the_last_records_of_all_partitions_together_are_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    contents, starts = taken(monkeypatch, [record(9, b"k", b"v", ("theirs", b"1"))], 5000, 4)
    assert contents == [Content(0, b"k", b"v")]
    assert starts == {("t", number): 4750 for number in range(4)}
    _contents, starts = taken(monkeypatch, [], 10)
    assert starts == {("t", 0): 0}


def test_large_records_are_fewer_and_the_last_of_all_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api, "MOST_BYTES", 10)
    monkeypatch.setattr(api, "MOST_RECORDS", 3)
    small = [record(at, None, b"%d" % at) for at in range(5)]
    assert [content.value for content in taken(monkeypatch, small, 5)[0]] == [b"2", b"3", b"4"]
    large = [record(0, None, b"1234567"), record(1, b"12", b"34567")]
    assert taken(monkeypatch, large, 2)[0] == [Content(0, b"12", b"34567")]


def test_a_record_that_may_be_too_large_for_the_mirror_with_a_header_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [record(0, None, b"v" * 65536), record(1, b"k", b"v" * 65536)]
    assert taken(monkeypatch, records, 2)[0] == [Content(0, None, b"v" * 65536)]


def test_a_deletion_is_taken_as_it_is_and_a_record_without_anything_gets_an_empty_value(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    records = [record(0, b"k", None), record(1, None, None)]
    assert taken(monkeypatch, records, 2)[0] == [Content(0, b"k", None), Content(0, None, b"")]


def test_a_record_of_a_drill_is_known_by_its_last_header() -> None:
    assert api.number_of(record(0, None, b"v", (HEADER, b"7"))) == 7
    # One of an earlier drill was taken from a topic that a drill had written into.
    assert api.number_of(record(0, None, b"v", (HEADER, b"7"), (HEADER, b"12"))) == 12
    assert api.number_of(record(0, None, b"v")) is None
    assert api.number_of(record(0, None, b"v", (HEADER, b"text"))) is None
    assert api.number_of(record(0, None, b"v", ("theirs", b"7"))) is None

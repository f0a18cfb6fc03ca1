# SPDX-License-Identifier: GPL-3.0-or-later
"""Which values are kept, and when the topic only looks as if there were none."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._state import api


class Broker:
    """The topic as a caller sees it: who may not describe it sees none."""

    def __init__(self) -> None:
        self.is_there = self.is_hidden = False
        self.records: list[tuple[bytes | None, bytes | None]] = []
        #: Requests beyond those that a topic which is there takes.
        self.questions = 0

    def topics_at(self, _session: Any, _broker: Any, names: Any) -> dict[str, Any]:
        return {name: () for name in names if self.is_there and not self.is_hidden}

    def hidden_topics(self, _session: Any, names: Any) -> list[str]:
        self.questions += 1
        return [*names] if self.is_hidden else []

    def consumed(self, _session: Any, is_wanted: Any, since: int) -> tuple[list[api.Written], int]:
        written = [api.Written(offset, key.decode(), value) for offset, (key, value) in enumerate(self.records) if key]
        return [one for one in written if one.offset >= since and is_wanted(one.key)], len(self.records)


@pytest.fixture
def broker(monkeypatch: pytest.MonkeyPatch) -> Broker:
    made = Broker()
    monkeypatch.setattr(api, "topics_at", made.topics_at)
    monkeypatch.setattr(api, "hidden_topics", made.hidden_topics)
    monkeypatch.setattr(api, "_consumed", made.consumed)
    return made


SESSION: Any = SimpleNamespace(connection=Connection(("b1:9092",)), call=lambda _what, function: function())
READS = {
    "one key": lambda: api.read_state(SESSION, "a"),
    "one key of listed topics": lambda: api.read_state(SESSION, "a", ["orders"]),
    "some keys": lambda: api.read_states(SESSION, ["a"]),
    "some keys of listed topics": lambda: api.read_states(SESSION, ["a"], ["orders"]),
    "keys that begin alike": lambda: api.read_prefixed(SESSION, "a"),
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_a_topic_that_the_caller_may_not_know_of_is_not_taken_for_none(broker: Broker, read: Any) -> None:
    broker.is_there = broker.is_hidden = True
    with pytest.raises(RequestFailedError, match=r"operation read on the topic _streamops_state\. Fix: grant") as told:
        read()
    assert (told.value.code, told.value.passing) == ("TOPIC_AUTHORIZATION_FAILED", False)
    # A cluster in which no run has kept anything.
    broker.is_there = broker.is_hidden = False
    assert read() in (((None, 0)), {})
    assert broker.questions == 2


def test_a_topic_that_is_there_is_asked_nothing_more(broker: Broker) -> None:
    broker.is_there = True
    assert api.read_state(SESSION, "a") == (None, 0)
    broker.records = [(b"a", b"1"), (None, b"2"), (b"b", b"3"), (b"a", b"4")]
    assert api.read_state(SESSION, "a", [STATE_TOPIC]) == (4, 4)
    assert broker.questions == 0


def test_the_last_value_of_each_key_holds_and_one_that_was_taken_away_is_none(broker: Broker) -> None:
    broker.is_there = True
    broker.records = [(b"a", b"1"), (b"a b", b"[2]"), (b"c", b"3"), (b"a", b"4"), (b"c", None), (b"b a", b"5")]
    assert api.read_states(SESSION, ["a", "c", "d"]) == {"a": 4}
    assert api.read_prefixed(SESSION, "a") == {"a": 4, "a b": [2]}


def test_what_is_no_json_comes_as_its_text_and_hides_no_other_key(broker: Broker) -> None:
    broker.is_there = True
    broker.records = [(b"b", b"{"), (b"a", b"{\xff"), (b"b", b"{}")]
    assert api.read_states(SESSION, ["a", "b"]) == {"a": "{\ufffd", "b": {}}
    assert api.read_state(SESSION, "a") == ("{\ufffd", 3)

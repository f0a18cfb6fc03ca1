# SPDX-License-Identifier: GPL-3.0-or-later
"""The time of the newest record: brokers that would take the question for another one do not get it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kafka.errors import IncompatibleBrokerVersion
from kafka.protocol.broker_version_data import BrokerVersionData

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import Leaders, newest_times
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import NO_ANSWER, TOO_OLD, TOPIC_DELETED


class Versioned(Session):
    """A session whose broker is of a version: the library judges each request by it, and nothing is sent."""

    version = (2, 8)
    asked = 0

    def send(self, what: str, request: Any, node: int | None = None) -> Any:
        """Note the version of the request, and answer for no topic."""
        try:
            self.asked = BrokerVersionData(self.version).api_version(request)
        except IncompatibleBrokerVersion as error:
            self.failed(what, error)
        return SimpleNamespace(topics=[])


def test_a_broker_before_3_0_is_not_asked() -> None:
    session = Versioned(Connection.from_params({"bootstrap_servers": ["kafka1:9092"]}))
    leaders = Leaders({("orders", 0): 1, ("orders", 1): None}, frozenset())
    wanted = [("orders", 0), ("orders", 1), ("gone", 0)]
    assert newest_times(session, leaders, wanted) == {
        ("orders", 0): TOO_OLD,
        ("orders", 1): NO_ANSWER,
        ("gone", 0): TOPIC_DELETED,
    }


def test_a_broker_of_3_0_is_asked_with_the_first_version_that_knows_the_question() -> None:
    session = Versioned(Connection.from_params({"bootstrap_servers": ["kafka1:9092"]}))
    session.version = (3, 0)
    assert newest_times(session, Leaders({("orders", 0): 1}, frozenset()), [("orders", 0)]) == {
        ("orders", 0): NO_ANSWER
    }
    assert session.asked == 7

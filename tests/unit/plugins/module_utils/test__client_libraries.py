# SPDX-License-Identifier: GPL-3.0-or-later
"""How the client reads answers and says what went wrong; calls against brokers are in tests/integration."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client_libraries import (
    Libraries,
    explain,
    outcome,
    sound,
)
from ansible_collections.streamops.kafka.plugins.module_utils._connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._errors import RequestFailedError


def part(code: int, said: str | None = None) -> SimpleNamespace:
    """A part of an answer as the protocol gives it."""
    return SimpleNamespace(error_code=code, error_message=said)


def test_a_part_that_is_well_has_no_outcome() -> None:
    assert outcome(part(0)) is None


def test_an_error_has_kafkas_name_and_the_brokers_words() -> None:
    assert outcome(part(44, "min.insync.replicas is too low")) == ("POLICY_VIOLATION", "min.insync.replicas is too low")


def test_an_error_without_words_gets_those_of_the_library() -> None:
    code, why = explain(part(3))
    assert code == "UNKNOWN_TOPIC_OR_PARTITION"
    assert "does not" in why


def test_an_answer_refused_as_a_whole_is_an_error_with_its_subject() -> None:
    assert sound(answer := part(0), "ACLs") is answer
    with pytest.raises(RequestFailedError, match=r"^describe ACLs: not allowed"):
        sound(part(31, "not allowed"), "ACLs")


def test_what_a_connection_reported_is_told_of_its_own_server() -> None:
    libraries = Libraries(Connection(bootstrap_servers=("a:1", "b:1")))
    libraries._events.append("sasl_ssl://a:1/bootstrap: Authentication failed")
    assert libraries._reported("timed out") == {
        "a:1": "sasl_ssl://a:1/bootstrap: Authentication failed",
        "b:1": "timed out",
    }

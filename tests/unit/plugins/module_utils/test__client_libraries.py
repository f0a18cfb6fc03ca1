# SPDX-License-Identifier: GPL-3.0-or-later
"""How the client reads answers and says what went wrong; calls against brokers are in tests/integration."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError, NodeNotReadyError

from ansible_collections.streamops.kafka.plugins.module_utils._client_libraries import (
    HANDSHAKES,
    BootstrapCause,
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


class Drawing(Libraries):
    """A connection whose calls end as told, one after the other; a first broker is what the library stays with."""

    def __init__(self, *outcomes: Any) -> None:
        super().__init__(Connection.from_params({"bootstrap_servers": ["kafka1:9092"]}))
        self.outcomes = list(outcomes)
        self._python_client = SimpleNamespace(_controller_id=1)

    def ask(self) -> Any:
        """The next outcome, raised or returned."""
        return self._asked(self._next)

    def _next(self) -> Any:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


WRONG_NAME = KafkaConnectionError("Handshake failed: IP address mismatch")


@pytest.mark.parametrize("refusal", [WRONG_NAME, NodeNotReadyError(1)])
def test_a_broker_with_a_wrong_certificate_does_not_keep_others_from_answering(refusal: Exception) -> None:
    for refusals in (1, HANDSHAKES - 1):
        drawing = Drawing(*[refusal] * refusals, "answer")
        assert drawing.ask() == "answer"
        assert drawing._python._controller_id is None, "another one is drawn"


def test_a_call_that_may_have_arrived_is_not_repeated() -> None:
    with pytest.raises(KafkaConnectionError, match="disconnected"):
        Drawing(KafkaConnectionError("socket disconnected"), "answer").ask()


def test_the_draws_come_to_an_end() -> None:
    with pytest.raises(KafkaConnectionError, match="mismatch"):
        Drawing(*[WRONG_NAME] * HANDSHAKES, "answer").ask()


def test_of_what_kafka_python_logs_a_refused_login_is_kept_before_closed_sockets() -> None:
    cause = BootstrapCause()
    log = logging.Logger("kafka")
    log.addHandler(cause)
    log.error("Bootstrap failed: KafkaTimeoutError: Unable to bootstrap from ['a:1']")
    log.warning("Bootstrap %s not ready; waiting %.2f secs", "bootstrap-0", 0.1)
    assert cause.text == ""
    told = "Bootstrap connection to %s failed: %s (backoff %.2f secs)"
    log.warning(told, "bootstrap-0", KafkaConnectionError("socket disconnected"), 0.05)
    assert cause.text == "KafkaConnectionError: socket disconnected"
    log.warning(told, "bootstrap-1", "SaslAuthenticationFailedError: invalid credentials", 0.1)
    log.warning(told, "bootstrap-0", KafkaConnectionError("socket disconnected"), 0.1)
    assert cause.text == "SaslAuthenticationFailedError: invalid credentials"

# SPDX-License-Identifier: GPL-3.0-or-later
"""By which mechanisms clients log in, as the log of a broker says it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.info import _logins as logins
from ansible_collections.streamops.kafka.plugins.module_utils._node.log_lines import seconds_of
from ansible_collections.streamops.kafka.plugins.module_utils._node.logins import Logins, logins_of

NOW = 1_790_000_000.0
THREAD = "data-plane-kafka-network-thread-1-ListenerName(CLIENT)-SASL_SSL-3"


def line(at: float, mechanism: str = "SCRAM-SHA-512", thread: str = THREAD) -> str:
    """Return a line as Kafka writes it with the log configuration of this collection."""
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(at))
    return f"[{when},123] {thread} Using SASL mechanism '{mechanism}' provided by client"


def counted(lines: list[str]) -> list[Logins]:
    """Return what lines of a log say; those without a time are left out, as the look does."""
    return logins_of((each, at) for each in lines if (at := seconds_of(each)) is not None)


def test_logins_are_counted_by_listener_and_mechanism() -> None:
    lines = [line(NOW), line(NOW + 5, "OAUTHBEARER"), line(NOW + 9)]
    assert counted(lines) == [
        Logins("CLIENT", "OAUTHBEARER", 1, NOW + 5, NOW + 5),
        Logins("CLIENT", "SCRAM-SHA-512", 2, NOW, NOW + 9),
    ]


@pytest.mark.parametrize(
    ("thread", "listener"),
    [
        ("data-plane-kafka-network-thread-1-ListenerName(CLIENT)-SASL_SSL-3", "CLIENT"),
        ("control-plane-kafka-network-thread-12-ListenerName(INSIDE-1)-SASL_PLAINTEXT-0", "INSIDE-1"),
        ("data-plane-kafka-network-thread-1-CLIENT-SASL_SSL-3", "CLIENT"),
        ("kafka-network-thread-1-INSIDE-SASL-SASL_SSL-3", "INSIDE-SASL"),
    ],
)
def test_the_listener_is_in_the_name_of_the_thread(thread: str, listener: str) -> None:
    assert [entry.listener for entry in counted([line(NOW, thread=thread)])] == [listener]


def test_a_client_that_names_a_mechanism_which_is_not_offered_writes_no_login() -> None:
    # Kafka writes the name as the client sent it (SaslServerAuthenticator.handleHandshakeRequest).
    sent = line(NOW)[27:].removesuffix(" provided by client")
    refused = f"[2026-09-21 14:13:20,123] {THREAD} SASL mechanism '{sent}' requested by client is not supported"
    assert counted([refused]) == []


def test_a_line_that_lacks_something_counts_nothing() -> None:
    cut = line(NOW)[:-30]
    assert counted(["", cut, line(NOW)[27:], line(NOW, thread="main"), "Using SASL mechanism"]) == []


def test_the_log_and_the_one_before_are_read_from_the_start_of_the_process_on(tmp_path: Path) -> None:
    log = tmp_path / "logins.log"
    assert logins(str(log), NOW) is None, "a broker that offers one mechanism has no such log"
    log.write_text("")
    assert logins(str(log), NOW) == []
    (tmp_path / "logins.log.1").write_text(f"{line(NOW - 60)}\n{line(NOW + 1)}\n")
    log.write_text(f"{line(NOW + 9)}\n")
    assert logins(str(log), NOW) == [
        {"listener": "CLIENT", "mechanism": "SCRAM-SHA-512", "count": 2, "first": NOW + 1, "last": NOW + 9}
    ]

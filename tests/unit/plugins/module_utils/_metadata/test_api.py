# SPDX-License-Identifier: GPL-3.0-or-later
"""What is said of a node that cannot be asked: it does not answer, or it runs and does not let us in."""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.wire import Channel
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.api import _told, facts_at
from ansible_collections.streamops.kafka.plugins.module_utils._metadata.model import (
    BROKER,
    CONTROLLER,
    Facts,
    Stopwatch,
)


@pytest.fixture
def port() -> Iterator[int]:
    """A port whose server takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def asked(port: int) -> Facts:
    """What a controller at this port says within a second."""
    connection = Connection(bootstrap_servers=(f"127.0.0.1:{port}",))
    return facts_at(connection, CONTROLLER, 3, ["leader", "topics"], [], 1.0)


def test_a_node_that_takes_the_connection_and_hangs_does_not_answer_and_costs_its_time_once(port: int) -> None:
    began = time.monotonic()
    found = asked(port)
    assert time.monotonic() - began < 1.9
    assert not found.is_unreached
    assert (found.name, found.values, found.unanswered) == ("controller 3", {}, {})
    where = f"127.0.0.1:{port}"
    assert found.why == f"{where}: it took the connection and did not answer in time (in the first request)"


def test_a_port_without_a_server_does_not_answer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    found = asked(free)
    assert "refused" in found.why
    assert found.is_unreached


def test_a_listener_that_we_do_not_fit_runs_and_is_not_compared() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            """Answer twice as no Kafka does: the second time it is asked for what is told before a login."""
            for _time in range(2):
                taken, _from = server.accept()
                with taken:
                    taken.recv(100)
                    taken.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        threading.Thread(target=serve, daemon=True).start()
        found = asked(server.getsockname()[1])
    assert (found.why, found.values) == ("", {})
    # Only what a controller can be asked for.
    assert found.unanswered == {"leader": "the server does not speak Kafka's protocol"}


def test_a_node_that_hangs_after_an_answer_says_at_which_question_its_connection_broke() -> None:
    def metadata() -> None:
        """Hang until the time is over."""
        raise TimeoutError("no answer in time")

    features = SimpleNamespace(epoch=99, finalized={"metadata.version": 30})
    node: Any = SimpleNamespace(kind=BROKER, features=features, metadata=metadata)
    found = _told(node, 1, "n1:9092", ["features", "topics", "partitions"])
    why = "no answer to topics: no answer in time"
    assert (found.why, found.broken) == ("", f"n1:9092: {why}")
    assert (dict(found.values), found.applied) == ({"features": {"metadata.version": "30"}}, 100)
    assert found.unanswered == {"topics": why, "partitions": why}


def test_a_broker_that_waits_for_a_silent_controller_is_not_silent_itself() -> None:
    def quorum() -> None:
        """Wait for the active controller until the time is over."""
        raise TimeoutError("no answer in time")

    features = SimpleNamespace(epoch=99, finalized={"metadata.version": 30})
    node: Any = SimpleNamespace(kind=BROKER, features=features, quorum=quorum)
    found = _told(node, 1, "n1:9092", ["features", "leader", "epoch"])
    assert (found.why, found.broken) == ("", "")
    why = "no answer to leader: no answer in time"
    assert found.unanswered == {"leader": why, "epoch": why}
    # A controller answers for itself.
    node.kind, node.cluster = CONTROLLER, quorum
    assert _told(node, 1, "n1:9093", ["features", "leader"]).broken == f"n1:9093: {why}"


def test_time_in_which_nothing_was_asked_does_not_count_where_a_channel_is_given_it_back() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            """Answer each question at once, with nothing."""
            taken, _from = server.accept()
            with taken:
                while asked := taken.recv(1000):
                    taken.sendall(struct.pack(">i", 4) + asked[8:12])

        threading.Thread(target=serve, daemon=True).start()
        channel = Channel(0.5)
        watch = Stopwatch(time.monotonic)
        with channel.open(f"127.0.0.1:{server.getsockname()[1]}", None):
            channel.greet()
            watch.answered()
            time.sleep(0.7)  # A large answer is read here.
            assert watch.waited() < 0.5
            channel.extend(watch.asks())
            channel.greet()
            time.sleep(0.7)
            with pytest.raises(TimeoutError):
                channel.greet()

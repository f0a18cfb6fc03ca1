# SPDX-License-Identifier: GPL-3.0-or-later
"""Names and connections in bounded time, wherever they are asked for."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker
from ansible_collections.streamops.kafka.plugins.module_utils._core import network
from ansible_collections.streamops.kafka.plugins.module_utils._core.network import connect, resolve
from ansible_collections.streamops.kafka.plugins.module_utils._node.network import names
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.states import _silence
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.ensemble import Member
from ansible_collections.streamops.kafka.plugins.module_utils._zookeeper.look import word
from ansible_collections.streamops.kafka.plugins.plugin_utils.addresses import addresses


@pytest.fixture
def hanging(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A resolver that never answers."""
    over = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_asked, **_more: [over.wait(60)][:0])
    monkeypatch.setattr(network, "RESOLVE_SECONDS", 0.2)
    monkeypatch.setattr(resolve, "__defaults__", (0.2,))
    yield
    over.set()


def unreachable(ask: Callable[[], Any]) -> Any:
    """What is said of somebody who cannot be reached."""
    try:
        return ask()
    except OSError as error:
        return str(error)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda: connect("db.example", 2181, 5), "the name db.example was not resolved within 0.2 s"),
        (lambda: word(Member(1, "db.example", 2181), "srvr", 5, None), "the name db.example was not resolved"),
        (
            lambda: _silence(None, Broker(1, "db.example", 9092, None, fenced=False)),
            "the name db.example was not resolved",
        ),  # type: ignore[arg-type]
        (lambda: names(["db.example"]), {"db.example": []}),
        (lambda: addresses("db.example"), []),
    ],
)
@pytest.mark.usefixtures("hanging")
def test_a_resolver_that_never_answers_holds_up_nobody(ask: Callable[[], Any], said: Any) -> None:
    began = time.monotonic()
    found = unreachable(ask)
    assert time.monotonic() - began < 5
    assert said in found if isinstance(said, str) else found == said


def test_the_first_address_that_takes_a_connection_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("127.0.0.99", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_asked, **_more: found)
        with connect("both.example", port, 5) as connection:
            assert (connection.getpeername()[0], connection.gettimeout()) == ("127.0.0.1", 5)


def test_a_name_that_none_can_have_is_an_os_error() -> None:
    with pytest.raises(OSError, match="is no name of a host"):
        connect("a" * 70 + ".example", 1, 5)

"""One question to an Alertmanager that answers badly, late or without end: real sockets, each with one fault."""

from __future__ import annotations

import base64
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from page.alerts.ask import UnansweredError, Watch, ask
from page.alerts.settings import Alertmanager

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
Talk = Callable[[socket.socket], None]


@contextlib.contextmanager
def answering(talk: Talk) -> Iterator[tuple[int, list[bytes]]]:
    """A server on loopback that reads a request and then talks; its port and what it was sent."""
    sent: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            with contextlib.suppress(OSError):
                taken, _address = server.accept()
                with taken, contextlib.suppress(OSError):
                    sent.append(taken.recv(4096))
                    talk(taken)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server.getsockname()[1], sent
        server.close()
        thread.join(10)


def saying(text: bytes) -> Talk:
    """Say this and close."""
    return lambda taken: taken.sendall(text)


def dripping(first: bytes) -> Talk:
    """Say the first part, and then a byte now and then as long as anything is there to hear it."""

    def drip(taken: socket.socket) -> None:
        taken.sendall(first)
        for _ in range(100):
            taken.sendall(b"x")
            time.sleep(0.1)

    return drip


def at(port: int, **more: str) -> Alertmanager:
    return Alertmanager(False, "127.0.0.1", port, "/am/api/v2/alerts", **more)


def test_an_answer_is_read_whole_with_a_login() -> None:
    with answering(saying(OK + b"Content-Length: 2\r\n\r\n[]")) as (port, sent):
        assert ask(at(port, user="u", password="p")) == b"[]"
    assert sent[0].startswith(b"GET /am/api/v2/alerts HTTP/1.1\r\n")
    assert b"Authorization: Basic " + base64.b64encode(b"u:p") in sent[0]


def test_an_answer_in_chunks_is_read_whole() -> None:
    with answering(saying(OK + b"Transfer-Encoding: chunked\r\n\r\n1\r\n[\r\n1\r\n]\r\n0\r\n\r\n")) as (port, _sent):
        assert ask(at(port)) == b"[]"


@pytest.mark.parametrize(
    ("talk", "said"),
    [
        (saying(b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n"), "it answered 401, so it wants a login"),
        (saying(b"HTTP/1.1 302 Found\r\nLocation: http://x\r\nContent-Length: 0\r\n\r\n"), "it answered 302"),
        (saying(OK + b"Content-Length: 5000\r\n\r\n" + b"x" * 5000), "its answer is longer than 1,000 bytes"),
        (saying(OK + b"\r\n" + b"x" * 5000), "its answer is longer than 1,000 bytes"),
        (saying(OK + b"Content-Length: 9\r\n\r\n[]"), "its answer ended 7 bytes too early"),
        (saying(b"SSH-2.0-OpenSSH\r\n"), "SSH-2.0"),
        (saying(b""), "closed connection"),
        (dripping(b""), "no whole answer within 1 s"),
        (dripping(OK + b"X-Slow: "), "no whole answer within 1 s"),
        (dripping(OK + b"Content-Length: 900\r\n\r\n"), "no whole answer within 1 s"),
        (dripping(OK + b"\r\n"), "no whole answer within 1 s"),
    ],
)
def test_every_other_answer_is_none_and_costs_no_more_than_its_time(talk: Talk, said: str) -> None:
    with answering(talk) as (port, _sent):
        began = time.monotonic()
        with pytest.raises(UnansweredError, match=said):
            ask(at(port, user="u", password="secret"), 1.0, 1000)
        assert time.monotonic() - began < 3


def test_a_handshake_that_does_not_end_ends_with_the_time() -> None:
    with answering(dripping(b"\x16\x03\x03\x40\x00")) as (port, _sent):
        began = time.monotonic()
        with pytest.raises(UnansweredError, match="no whole answer within 1 s"):
            ask(Alertmanager(True, "127.0.0.1", port, "/"), 1.0)
        assert time.monotonic() - began < 3


def test_no_server_no_ca_and_no_name_are_said() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(UnansweredError, match="Connection refused"):
        ask(at(port))
    with pytest.raises(UnansweredError, match="No such file"):
        ask(Alertmanager(True, "127.0.0.1", port, "/", ca_file="/nowhere/ca.pem"))


def test_what_was_told_is_kept_while_it_cannot_be_asked() -> None:
    firing = b'[{"labels": {"alertname": "A", "severity": "critical", "cluster": "orders"}}]'
    answers = iter([firing, UnansweredError("gone"), b"nonsense", RuntimeError("odd"), b"[]"])

    def answer() -> bytes:
        one = next(answers)
        if isinstance(one, Exception):
            raise one
        return one

    watch = Watch(answer, 9)
    assert watch.seen.about("orders").asked is None
    errors = []
    for _ in range(4):
        watch.look()
        found = watch.seen.about("orders")
        errors.append(found.error)
        assert found.critical == 1
    assert errors == ["", "gone", "its answer is no JSON", "RuntimeError: odd"]
    watch.look()
    assert (watch.seen.about("orders").critical, watch.seen.error) == (0, "")


def test_what_is_no_status_line_is_told_in_one_visible_line() -> None:
    said = b"x\x1b[31m 2026-01-01 ERROR page root logged in" + b"A" * 5000 + b"\r\n"
    with answering(saying(said)) as (port, _sent), pytest.raises(UnansweredError) as raised:
        ask(at(port), 5)
    assert str(raised.value).isprintable()
    assert len(str(raised.value)) <= 200


def test_a_ca_file_that_is_missing_is_named() -> None:
    gone = Alertmanager(True, "127.0.0.1", 9, "/api/v2/alerts", ca_file="/none/ca.pem")
    with pytest.raises(UnansweredError, match=r"/none/ca\.pem"):
        ask(gone, 5)

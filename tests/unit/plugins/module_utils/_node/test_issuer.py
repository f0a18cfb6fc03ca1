"""What is said of an issuer of tokens: whether a broker would get its keys, and what time it has there."""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client import issuer as asking
from ansible_collections.streamops.kafka.plugins.module_utils._node.issuer import Answer, ask_issuer, judge
from tests.support.cluster import free_port_base
from tests.support.token_issuer import TokenIssuer

RSA = {"kty": "RSA", "kid": "a", "n": "x", "e": "AQAB"}
NOW = 1_800_000_000.0


def keys(*listed: Any) -> bytes:
    return json.dumps({"keys": listed}).encode()


@pytest.mark.parametrize(
    ("body", "count"),
    [(keys(RSA), 1), (keys(RSA, {**RSA, "use": "enc"}), 1), (keys({**RSA, "use": "sig"}, {"kty": "EC"}), 2)],
)
def test_keys_that_verify_signatures_are_counted(body: bytes, count: int) -> None:
    assert judge(Answer(200, body)) == ("", count)


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (503, keys(RSA), "status 503"),
        (302, b"", "status 302"),
        (200, b"<html>", "no set of keys"),
        (200, b"[]", "no set of keys"),
        (200, b'{"keys": 3}', "no set of keys"),
        (200, b'{"keys": ["a"]}', "no set of keys"),
        (200, b"\xff\xfe", "no set of keys"),
        (200, keys(), "no public key"),
        (200, keys({**RSA, "use": "enc"}), "no public key"),
        (200, keys({"kty": "oct", "k": "x"}), "no public key"),
        (200, b" " * (1 << 20) + keys(RSA), "longer than 1 MiB"),
    ],
)
def test_an_answer_without_keys_says_why(status: int, body: bytes, words: str) -> None:
    problem, count = judge(Answer(status, body))
    assert (words in problem, count) == (True, 0)


@pytest.mark.parametrize(
    ("date", "behind"), [(formatdate(NOW - 360, usegmt=True), 360), (formatdate(NOW + 5), -5), ("", None), ("x", None)]
)
def test_the_clock_of_the_issuer_is_that_of_its_answer(date: str, behind: float | None) -> None:
    found = ask_issuer("https://id/keys", "", 30, lambda _url, _ca: Answer(200, keys(RSA), date), lambda: NOW)
    assert found == {"problem": "", "keys": 1, "behind": behind, "clock_skew": 30}


@pytest.fixture
def issuer(tmp_path: Path) -> Iterator[TokenIssuer]:
    with TokenIssuer(tmp_path, free_port_base()) as served:
        yield served


def asked(issuer: TokenIssuer, path: str = "/keys", ca: str | None = None) -> dict[str, Any]:
    text = issuer.ca_file.read_text() if ca is None else ca
    return ask_issuer(f"{issuer.url}{path}", text, 30)


def test_an_issuer_is_asked_over_tls(issuer: TokenIssuer) -> None:
    found = asked(issuer)
    assert (found["problem"], found["keys"]) == ("", 1)
    assert abs(found["behind"]) < 5
    issuer.rotate("second")
    assert asked(issuer)["keys"] == 2
    assert "status 404" in asked(issuer, "/other")["problem"]
    assert "its certificate is refused" in asked(issuer, ca="")["problem"]


def test_an_issuer_that_is_down_does_not_answer(tmp_path: Path) -> None:
    port = free_port_base()
    with TokenIssuer(tmp_path, port) as issuer:
        pass
    found = asked(issuer)
    assert "it does not answer" in found["problem"]
    assert "refused" in found["problem"]


def test_an_answer_that_comes_byte_by_byte_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asking, "_WHOLE", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def drips() -> None:
            taken, _address = server.accept()
            with taken, contextlib.suppress(OSError):
                for byte in itertools.cycle(b"HTTP/1.1 200 OK\r\nA: b\r\n"):
                    taken.send(bytes([byte]))
                    time.sleep(0.02)

        thread = threading.Thread(target=drips, daemon=True)
        thread.start()
        told = ask_issuer(f"http://127.0.0.1:{server.getsockname()[1]}/keys", "", 10)
        thread.join(10)
    assert not thread.is_alive()
    assert (told["keys"], bool(told["problem"])) == (0, True)


def told_by(headers: str, body: bytes) -> dict[str, Any]:
    """Return what is said of an issuer that answers so, and closes the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answers() -> None:
            taken, _address = server.accept()
            with taken:
                taken.recv(4096)
                taken.sendall(f"HTTP/1.1 200 OK\r\n{headers}\r\n\r\n".encode() + body)

        threading.Thread(target=answers, daemon=True).start()
        return ask_issuer(f"http://127.0.0.1:{server.getsockname()[1]}/keys", "", 10)


def test_an_answer_that_is_cut_off_is_none() -> None:
    assert told_by("Content-Length: 500", keys(RSA))["problem"] == "it does not answer: its answer was cut off"


def test_the_answer_of_a_cache_has_the_time_of_an_earlier_one() -> None:
    date = f"Date: {formatdate(time.time() - 3600, usegmt=True)}"
    assert told_by(date, keys(RSA))["behind"] == pytest.approx(3600, abs=30)
    cached = told_by(f"{date}\r\nAge: 3600", keys(RSA))
    assert (cached["problem"], cached["behind"]) == ("", None)


def test_an_answer_that_is_nested_too_deeply_is_no_set_of_keys() -> None:
    assert judge(Answer(200, b"[" * 200_000)) == ("its answer is no set of keys (JWKS, RFC 7517)", 0)

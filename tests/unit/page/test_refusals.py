"""What is refused: counted by reason, and said once with all that came since."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from page.core.exposition import exposition
from page.refusals import BAD_REQUEST, REASONS, TLS, TOO_MANY, Crowd, Refusals, Seldom, is_told, refusal


def test_each_reason_has_a_series_from_the_start() -> None:
    found = Refusals()
    text = exposition([found.families()])
    assert "# TYPE streamops_page_refused_connections_total counter\n" in text
    assert [line.split('"')[1] for line in text.splitlines() if not line.startswith("#")] == [*REASONS]
    found.count(TLS)
    found.count(TLS)
    assert 'streamops_page_refused_connections_total{reason="tls"} 2\n' in exposition([found.families()])


def test_a_line_has_what_came_since_the_line_before() -> None:
    found = Refusals()
    assert found.line() == ""
    for _one in range(1200):
        found.count(TOO_MANY)
    found.count(BAD_REQUEST)
    assert found.line() == "1,200 (more than are served at once), 1 (no valid HTTP)"
    assert found.line() == ""
    found.count(TLS)
    assert found.line() == "1 (TLS handshake failed)"
    assert found.total[TOO_MANY] == 1200, "the metric only rises"


@pytest.mark.parametrize(
    ("said", "told"),
    [("Invalid HTTP request received.", False), ("Exception in ASGI application\n", True), ("Started", True)],
)
def test_of_the_lines_of_uvicorn_only_refusals_are_left_out(said: str, told: bool) -> None:
    assert is_told(logging.makeLogRecord({"msg": said})) is told


def test_a_lack_of_file_handles_is_told_once_a_minute() -> None:
    def line(text: str, at: float) -> logging.LogRecord:
        made = logging.LogRecord("asyncio", logging.ERROR, "", 0, text, None, None)
        made.created = at
        return made

    seldom, lack = Seldom(), "socket.accept() out of system resource\nsocket: ..."
    told = [seldom.filter(line(lack, at)) for at in (1000.0, 1000.5, 1059.0, 1060.0, 1061.0)]
    assert told == [True, False, False, True, False]
    assert seldom.filter(line("Task exception was never retrieved", 1000.6))


class Slow:
    """An application that answers when it may."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.began = 0

    async def __call__(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer a request."""
        self.began += 1
        await self.may_answer.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})


async def ask(crowd: Crowd, path: str) -> tuple[int, dict[bytes, bytes]]:
    """The status and the headers of an answer."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    await crowd({"type": "http", "path": path, "method": "GET", "headers": []}, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"])


def test_two_hundred_pages_at_once_keep_no_scrape_out() -> None:
    async def run() -> None:
        slow, refusals = Slow(), Refusals()
        crowd = Crowd(slow, refusals, pages=50, scrapes=3)
        pages = [asyncio.ensure_future(ask(crowd, "/clusters/a")) for _one in range(200)]
        await asyncio.sleep(0)
        scrapes = [asyncio.ensure_future(ask(crowd, path)) for path in ("/metrics", "/health", "/metrics", "/metrics")]
        await asyncio.sleep(0)
        assert slow.began == 53
        slow.may_answer.set()
        assert Counter(status for status, _headers in await asyncio.gather(*pages)) == {200: 50, 503: 150}
        *taken, refused = await asyncio.gather(*scrapes)
        assert [status for status, _headers in taken] == [200] * 3
        assert (refused[0], refused[1][b"retry-after"], refused[1][b"connection"]) == (503, b"1", b"close")
        assert refusals.total[TOO_MANY] == 151
        # All places are free again.
        assert [(await ask(crowd, path))[0] for path in ("/", "/metrics")] == [200, 200]

    asyncio.run(run())


def test_a_request_that_fails_gives_its_place_back() -> None:
    async def fails(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise ValueError("made up")

    async def run() -> None:
        crowd = Crowd(fails, Refusals(), pages=1)
        for _one in range(3):
            with pytest.raises(ValueError, match="made up"):
                await ask(crowd, "/")

    asyncio.run(run())


@pytest.mark.parametrize(
    ("query", "text"),
    [
        (b"", "login needed\n"),
        (b"format=csv", "login needed\n"),
        (b"sort=name&format=json", '{"error":"login needed","next_step":"Log in."}'),
    ],
)
def test_a_refusal_is_json_where_the_request_asks_for_that(query: bytes, text: str) -> None:
    answer = refusal({"type": "http", "query_string": query}, 401, "login needed", "Log in.", {"retry-after": "1"})
    assert (answer.status_code, bytes(answer.body).decode(), answer.headers["retry-after"]) == (401, text, "1")

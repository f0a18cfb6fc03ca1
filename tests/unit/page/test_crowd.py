"""Many requests at once: those for pages are bounded, and keep none of the places of Prometheus."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from page.crowd import Crowd
from page.refusals import TOO_MANY, Refusals


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

"""Answer GET /metrics and GET /health out of the last picture; nothing that a client sends reaches Kafka."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Callable

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from page.health import health
from page.metrics import CONTENT_TYPE, text_of_polls
from page.poller import Seen

_HEADERS = {
    b"content-security-policy": b"default-src 'none'; frame-ancestors 'none'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}


def application(look: Callable[[], Seen], stale_after: float) -> ASGIApp:
    """Return the application; C(look) gives what the poller has, C(stale_after) is in seconds."""

    async def metrics(_request: Request) -> Response:
        """Serve the metrics of the last picture with its age."""
        seen = look()
        head = text_of_polls(seen.polls, seen.picture, time.time())
        return Response(head + seen.text, headers={"content-type": CONTENT_TYPE})

    async def healthy(_request: Request) -> Response:
        """Serve 200 when the picture is fresh, 503 otherwise."""
        seen = look()
        found = health(seen.polls, seen.picture, time.time(), stale_after)
        # Why a poll failed names addresses and users: the log has it.
        del found["error"]
        return JSONResponse(found, 200 if found["status"] == "ok" else 503)

    inner = Starlette()
    inner.add_route("/metrics", metrics, methods=["GET"])
    inner.add_route("/health", healthy, methods=["GET"])
    return _guarded(inner)


def _guarded(inner: ASGIApp) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Let only GET through, and put the headers on every answer."""
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            """Add the headers to the start of an answer."""
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *_HEADERS.items()]
            await send(message)

        if scope["method"] == "GET":
            await inner(scope, receive, with_headers)
        else:
            await PlainTextResponse("GET only\n", 405, {"allow": "GET"})(scope, receive, with_headers)

    return answer

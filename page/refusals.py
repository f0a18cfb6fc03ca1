"""Bound the requests that are answered at once; count and log the connections that the service refuses."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import logging
import ssl
from collections.abc import Mapping

from starlette.datastructures import QueryParams
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from page.core.exposition import Family, family_of_service

_LOG = logging.getLogger("page")
TOO_MANY, TLS, BAD_REQUEST, NO_REQUEST = "too_many", "tls", "bad_request", "no_request"
#: Why a connection is refused, for people.
REASONS: Mapping[str, str] = {
    TOO_MANY: "more than are served at once",
    TLS: "TLS handshake failed",
    BAD_REQUEST: "no valid HTTP",
    NO_REQUEST: "no request in time",
}
#: Seconds between two lines of the log.
EVERY = 60.0
#: What uvicorn says of each connection that sends no valid HTTP.
_OF_UVICORN = "Invalid HTTP request received."

#: What asyncio says where no more connections can be taken.
_NO_HANDLES = "socket.accept() out of system resource"


class Refusals:
    """How many connections were refused, by reason. It belongs to one event loop."""

    def __init__(self) -> None:
        self.total = dict.fromkeys(REASONS, 0)
        self._said = dict(self.total)

    def count(self, reason: str) -> None:
        """Count one connection."""
        self.total[reason] += 1

    def families(self) -> list[Family]:
        """Return the metrics; they belong to no cluster."""
        return family_of_service(
            "streamops_page_refused_connections_total",
            "Connections that the service refused, by reason.",
            (({"reason": reason}, count) for reason, count in self.total.items()),
            "counter",
        )

    def line(self) -> str:
        """Return what was refused since the line before; empty where nothing was."""
        new = {reason: count - self._said[reason] for reason, count in self.total.items()}
        self._said = dict(self.total)
        return ", ".join(f"{count:,} ({REASONS[reason]})" for reason, count in new.items() if count)

    async def run(self) -> None:
        """Log what was refused, once a minute at most, until cancelled."""
        while True:
            await asyncio.sleep(EVERY)
            if line := self.line():
                _LOG.warning("connections refused since the last such line: %s", line)


def counted(refusals: Refusals) -> type[ssl.SSLObject]:
    """Return the class of a context's connections (sslobject_class) that counts handshakes that fail."""

    class Counted(ssl.SSLObject):
        """A connection whose handshake is counted when it fails; asyncio alone would tell nobody."""

        def do_handshake(self) -> None:
            """Go on with the handshake."""
            try:
                super().do_handshake()
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError):
                raise
            except ssl.SSLError:
                refusals.count(TLS)
                raise

    return Counted


class Seldom(logging.Filter):
    """Lets a line of asyncio's on a lack of file handles through once a minute: it writes one for each connection."""

    def __init__(self) -> None:
        super().__init__()
        self._next = 0.0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a line is to be logged."""
        if not record.getMessage().startswith(_NO_HANDLES):
            return True
        is_due = record.created >= self._next
        if is_due:
            self._next = record.created + EVERY
        return is_due


def is_told(record: logging.LogRecord) -> bool:
    """Return whether a line of uvicorn's is to be logged: refusals are counted here instead."""
    return record.getMessage() != _OF_UVICORN


def refusal(scope: Scope, status: int, what: str, next_step: str, headers: Mapping[str, str]) -> Response:
    """Return the answer that refuses a request before its page is made: as JSON where the request asks for that."""
    if QueryParams(scope.get("query_string", b"")).get("format") == "json":
        return JSONResponse({"error": what, "next_step": next_step}, status, headers)
    return PlainTextResponse(f"{what}\n", status, headers)


#: Requests for pages at once; more are answered 503. A page has some readers.
PAGES = 50
#: Requests for what machines ask at once: one or two Prometheus, and something that looks at the health.
SCRAPES = 10
_SCRAPED = ("/metrics", "/health")
_BUSY = {"connection": "close", "retry-after": "1"}


class Crowd:
    """An application that passes on at most so many requests at once; it belongs to one event loop."""

    def __init__(self, inner: ASGIApp, refusals: Refusals, pages: int = PAGES, scrapes: int = SCRAPES) -> None:
        self._inner, self._refusals = inner, refusals
        self._most = {True: scrapes, False: pages}
        self._busy = {True: 0, False: 0}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say that there are too many."""
        if scope["type"] != "http":
            await self._inner(scope, receive, send)
            return
        is_scrape = scope["path"] in _SCRAPED
        if self._busy[is_scrape] >= self._most[is_scrape]:
            self._refusals.count(TOO_MANY)
            answer = refusal(scope, 503, "too many requests at once", "Ask again a second later.", _BUSY)
            await answer(scope, receive, send)
            return
        self._busy[is_scrape] += 1
        try:
            await self._inner(scope, receive, send)
        finally:
            self._busy[is_scrape] -= 1

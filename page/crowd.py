"""Bound the requests that are answered at once, with places of their own for Prometheus.

Readers who open many pages at once, or a page that is slow, must not keep the alerts from their data.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from page.refusals import TOO_MANY, Refusals

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
            await PlainTextResponse("too many requests at once\n", 503, _BUSY)(scope, receive, send)
            return
        self._busy[is_scrape] += 1
        try:
            await self._inner(scope, receive, send)
        finally:
            self._busy[is_scrape] -= 1

"""Answer /metrics, /health and the pages for people, out of the last pictures; of what is sent here only a request for
records reaches Kafka (page/records)."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from starlette.applications import Starlette
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.access import Access, Answer
from page.alerts.told import Told
from page.core.exposition import CONTENT_TYPE, exposition
from page.filed.shelf import Shelf
from page.flow_metrics import FlowMetrics
from page.hosts import is_served
from page.known.freshness import health, is_current
from page.known.metrics import families_of_polls
from page.known.poller import Seen
from page.pages import USER, Pages
from page.records.door import Door
from page.refusals import Crowd, Refusals, refusal

_HEADERS = {
    b"content-security-policy": b"default-src 'none'; style-src 'self'; img-src 'self'; frame-ancestors 'none'; "
    b"base-uri 'none'; form-action 'self'",
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cache-control": b"no-store",
}
#: Pages that are made at once: each is work of a processor, and with as many threads as Starlette has the event loop,
#: which answers /metrics, would get its turn too late.
_THREADS = 8
#: What has no right login keeps no connection, of which there are few.
_END = {"connection": "close"}
_LOGIN = {"www-authenticate": 'Basic realm="streamops.kafka", charset="UTF-8"', **_END}

#: To a request for another host (RFC 9110, 421).
_OTHER = "not served under this name: open the page as 127.0.0.1, or let the proxy send that as Host"
_OPEN = "Open the page as 127.0.0.1, or let the proxy send that as Host."


class _Everything(PathConvertor):
    """All of a path. That of Starlette ends at a line break, which the name of a group may have."""

    regex = r"[\s\S]*"


def application(
    look: Callable[[], Mapping[str, Seen]],
    stale_after: float,
    access: Access | None,
    beside: Callable[[], Awaitable[None]],
    served: frozenset[str] | None = None,
    reports: str = "",
    mirrors: Sequence[Flow] = (),
    refusals: Refusals | None = None,
    door: Door | None = None,
    alerts: Callable[[], Told] | None = None,
) -> ASGIApp:
    """Return the application.

    C(look) gives what the pollers have by cluster, C(stale_after) is in seconds, without C(access) there is no login,
    C(beside) runs as long as the application, requests are answered for the names C(served) alone, None for any,
    C(reports) is the directory of reports, empty for none, C(mirrors) are the flows of mirrors, C(refusals) counts what
    is refused, C(door) serves records, None for none, and C(alerts) gives what Alertmanager told last, None where there
    is none.
    """

    flows = FlowMetrics(mirrors)
    refused = refusals or Refusals()

    async def metrics(_request: Request) -> Response:
        """Serve the metrics of the last pictures with their ages."""
        seen, now = look(), time.time()
        polls = [families_of_polls(name, one.polls, one.picture, now, stale_after) for name, one in seen.items()]
        # What is no longer seen must not look as if it stood still: groups that have stopped, lag that does not grow.
        held = {name: one for name, one in seen.items() if is_current(one.polls, one.picture, now, stale_after)}
        shown = [one.families for one in held.values()]
        told = flows.families(lambda name: held[name].picture if name in held else None)
        text = exposition([*polls, *shown, *told, refused.families()])
        return Response(text, headers={"content-type": CONTENT_TYPE})

    async def healthy(_request: Request) -> Response:
        """Serve 200 when all pictures are fresh, 503 otherwise."""
        seen = {name: (one.polls, one.picture) for name, one in look().items()}
        found = health(seen, time.time(), stale_after)
        return JSONResponse(found, 200 if found["status"] == "ok" else 503)

    @contextlib.asynccontextmanager
    async def lifespan(_application: Starlette) -> AsyncIterator[None]:
        """Run what runs beside the application."""
        task = asyncio.ensure_future(beside())
        yield
        task.cancel()

    inner = Starlette(lifespan=lifespan)
    inner.add_route("/metrics", metrics, methods=["GET"])
    inner.add_route("/health", healthy, methods=["GET"])
    pages = Pages(look, stale_after, Shelf(reports), mirrors, door, alerts)
    inner.add_route("/style.css", pages.style, methods=["GET"])
    inner.add_route("/icon.svg", pages.icon, methods=["GET"])
    register_url_convertor("everything", _Everything())
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="page")

    async def answer(request: Request) -> Response:
        """Serve a page, made in a thread."""
        return await asyncio.get_running_loop().run_in_executor(threads, pages.answer, request)

    inner.add_route("/{rest:everything}", answer, methods=["GET"])
    return _guarded(Crowd(inner, refused), access, served)


def _guarded(inner: ASGIApp, access: Access | None, served: frozenset[str] | None) -> ASGIApp:
    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Let only logins, GET and HEAD through, and put the headers on every answer."""
        if scope["type"] != "http":
            await inner(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            """Add the headers to the start of an answer, but for those that it has: two policies would both hold."""
            if message["type"] == "http.response.start":
                own = message.get("headers", [])
                there = {name.lower() for name, _value in own}
                message["headers"] = [*own, *(one for one in _HEADERS.items() if one[0] not in there)]
            await send(message)

        if not _is_for_this(scope, served):
            await refusal(scope, 421, _OTHER, _OPEN, _END)(scope, receive, with_headers)
            return
        login = await _login(scope, access)
        if login.status == 401:
            app: ASGIApp = refusal(scope, 401, "login needed", "Send the name and password of a user.", _LOGIN)
        elif login.status == 429:
            app = refusal(scope, 429, "too many logins", "Log in again a second later.", {"retry-after": "1", **_END})
        elif scope["method"] not in ("GET", "HEAD"):
            app = refusal(scope, 405, "GET and HEAD only", "Send GET or HEAD.", {"allow": "GET, HEAD"})
        else:
            app, scope = inner, {**scope, USER: login.user}
        await app(scope, receive, with_headers)

    return answer


def _is_for_this(scope: Scope, served: frozenset[str] | None) -> bool:
    given = [value for name, value in scope["headers"] if name == b"host"]
    return served is None or (len(given) == 1 and is_served(given[0], served))


async def _login(scope: Scope, access: Access | None) -> Answer:
    if access is None:
        return Answer(200)
    given = [value for name, value in scope["headers"] if name == b"authorization"]
    address = scope["client"][0] if scope.get("client") else ""
    return await access.judge(given[0] if len(given) == 1 else None, address)

"""Close connections that send no request, and idle ones where there are too many: they would keep all readers out."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import math
import resource
from asyncio import constants

from uvicorn.protocols.http.h11_impl import H11Protocol

from page.refusals import BAD_REQUEST, NO_REQUEST, TOO_MANY, Refusals

#: Seconds from a connection, the end of its TLS handshake, or an answer to the end of the head of the next request; and
#: those that the handshake itself may take.
REQUEST = 5
#: Connections at once, most of which wait between two requests; the one that has waited longest goes first. Those in
#: their handshake come on top, so there are more files than the 1,024 of a process by default where a host allows it.
MOST, FILES = 500, 65_536


def be_ready(seconds: float = REQUEST) -> None:
    """Bound TLS handshakes, which the protocol below sees only at their end, and allow as many files as may be."""
    # asyncio waits for a minute by default, and uvicorn passes it no other time.
    constants.SSL_HANDSHAKE_TIMEOUT = seconds
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Impatient(H11Protocol):
    """uvicorn's protocol, with a bound on the wait for each request, and room for who asks.

    By itself uvicorn waits for ever for the first request, and for a later one of which some bytes have come. Its timer
    of connections without a request under way runs here from the connection, or an answer, to the end of a head.
    """

    refusals = Refusals()
    most = MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, begin to wait, and end another one where there are too many."""
        super().connection_made(transport)
        self.timeout_keep_alive_task = self.loop.call_later(self.timeout_keep_alive, self.timeout_keep_alive_handler)
        if len(self.connections) > self.most:
            self.refusals.count(TOO_MANY)
            # Where each other one has a request under way, it is this one.
            min((one for one in self.connections if isinstance(one, Impatient)), key=Impatient._waits_until).end()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait with the connection."""
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request. uvicorn would end the wait here; the whole head ends it (handle_events)."""
        self.conn.receive_data(data)
        self.handle_events()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self.refusals.count(BAD_REQUEST)
        super().send_400_response(msg)

    def timeout_keep_alive_handler(self) -> None:
        """End a connection whose next request did not come in time; one that had an answer may be idle."""
        if not self.transport.is_closing():
            if self.cycle is None or self.conn.trailing_data[0]:
                self.refusals.count(NO_REQUEST)
            self.end()

    def end(self) -> None:
        """End the connection and give its place away."""
        self.connections.discard(self)
        if self.cycle is None or self.conn.trailing_data[0]:
            # abort, not close: a peer that reads nothing would keep a closing TLS connection open.
            self.transport.abort()
        else:
            # What it has not read yet of its answer still goes out.
            self.transport.close()

    def _waits_until(self) -> float:
        """Return when the wait for a request ends: long ago where the connection closes, never during a request."""
        if self.transport.is_closing():
            return 0.0
        return self.timeout_keep_alive_task.when() if self.timeout_keep_alive_task else math.inf

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing where a client asks for another protocol: it is answered as if it had not."""


def counting(refusals: Refusals) -> type[Impatient]:
    """Return the protocol of one service, which counts there what it refuses."""
    return type("Counting", (Impatient,), {"refusals": refusals})

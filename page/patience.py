"""Close connections that send no request, and those that are too many: idle ones would keep all readers out."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import resource
from asyncio import constants

from uvicorn.protocols.http.h11_impl import H11Protocol

from page.refusals import BAD_REQUEST, NO_REQUEST, TOO_MANY, Refusals

#: Seconds from a connection, or the end of its TLS handshake, to the end of the head of its first request; and those
#: that the handshake itself may take.
FIRST_REQUEST = 5.0
#: Connections at once, most of which wait between two requests. Those in their handshake come on top, so there are more
#: files than the 1,024 of a process by default, where its host allows them.
MOST, FILES = 500, 65_536


def be_ready(seconds: float = FIRST_REQUEST) -> None:
    """Bound TLS handshakes, which the protocol below sees only at their end, and allow as many files as may be."""
    # asyncio waits for a minute by default, and uvicorn passes it no other time.
    constants.SSL_HANDSHAKE_TIMEOUT = seconds
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = FILES if hard == resource.RLIM_INFINITY else min(FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < most:
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class Impatient(H11Protocol):
    """uvicorn's protocol, which by itself waits for ever for the first request.

    Later requests need no such bound: an answer without a right login ends its connection (page/web.py).
    """

    refusals = Refusals()
    most = MOST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, and begin to wait."""
        super().connection_made(transport)
        self._first_request = self.loop.call_later(FIRST_REQUEST, self._give_up)
        if len(self.connections) > self.most:
            self.refusals.count(TOO_MANY)
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait with the connection."""
        self._first_request.cancel()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP."""
        self.refusals.count(BAD_REQUEST)
        super().send_400_response(msg)

    def _unsupported_upgrade_warning(self) -> None:
        """Say nothing where a client asks for another protocol: it is answered as if it had not."""

    def _give_up(self) -> None:
        if self.cycle is None:
            self.refusals.count(NO_REQUEST)
            # abort, not close: a peer that reads nothing would keep a closing TLS connection open.
            self.transport.abort()


def counting(counted: Refusals) -> type[Impatient]:
    """Return the protocol that counts what it refuses there."""

    class Counting(Impatient):
        """The protocol of one service."""

        refusals = counted

    return Counting

"""Close connections that send no request: their number is bounded, so idle ones would keep all readers out."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

#: Seconds from a connection, or the end of its TLS handshake, to the end of the head of its first request.
FIRST_REQUEST = 5.0


class Impatient(H11Protocol):
    """uvicorn's protocol, which by itself waits for ever for the first request.

    Later requests need no such bound: an answer without a right login ends its connection (page/web.py).
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take the connection, and begin to wait."""
        super().connection_made(transport)
        self._first_request = self.loop.call_later(FIRST_REQUEST, self._give_up)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait with the connection."""
        self._first_request.cancel()
        super().connection_lost(exc)

    def _give_up(self) -> None:
        if self.cycle is None:
            # abort, not close: a peer that reads nothing would keep a closing TLS connection open.
            self.transport.abort()

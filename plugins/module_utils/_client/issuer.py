# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One question to an issuer of tokens over HTTP, in bounded time."""

from __future__ import annotations

import contextlib
import http.client
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from .._core.network import connect

#: Seconds for the connection, and for each wait for a part of the answer.
SECONDS = 10.0
#: Seconds for the whole answer, which might come byte by byte.
_WHOLE = 30.0
#: More bytes than any set of keys, or any token, has.
LIMIT = 1 << 20


@dataclass(frozen=True)
class Answer:
    """What an issuer answered: the status and the body of HTTP, and its time by the header Date, '' where unknown."""

    status: int
    body: bytes
    date: str = ""


def ask(url: str, ca: str, form: Mapping[str, str] | None = None, authorization: str = "") -> Answer:
    """Ask once, without a proxy, which Java does not take from the environment either, and follow nowhere else.

    ca -- the CAs that its certificate must lead to, in PEM; those of the machine where it is empty. form -- what is
    posted, with a header Authorization. At most a byte more than LIMIT is read. What fails is an OSError (ssl and
    time-outs too), HTTPException or ValueError.
    """
    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    with contextlib.ExitStack() as opened:
        held = opened.enter_context(connect(parts.hostname or "", parts.port or (443 if is_tls else 80), SECONDS))
        if is_tls:
            held = opened.enter_context(_context(ca).wrap_socket(held, server_hostname=parts.hostname))
        end = threading.Timer(_WHOLE, _give_up, (held,))
        end.daemon = True
        opened.callback(end.cancel)
        end.start()
        connection = http.client.HTTPConnection(parts.netloc, timeout=SECONDS)
        connection.sock = held
        path = f"{parts.path or '/'}{f'?{parts.query}' if parts.query else ''}"
        headers = {"Accept": "application/json", "Connection": "close"}
        if form is None:
            connection.request("GET", path, headers=headers)
        else:
            headers.update({"Content-Type": "application/x-www-form-urlencoded", "Authorization": authorization})
            connection.request("POST", path, urlencode(form), headers)
        answer = connection.getresponse()
        body = answer.read(LIMIT + 1)
        # Of a body whose end is missing http.client returns the beginning.
        if end.finished.is_set() or (answer.length and len(body) <= LIMIT):
            raise ConnectionError("its answer was cut off")
        # A cache keeps the date of the answer that it has kept (RFC 9111, section 5.1).
        is_kept = answer.getheader("Age") is not None
        return Answer(answer.status, body, "" if is_kept else answer.getheader("Date", ""))


def _give_up(held: socket.socket) -> None:
    with contextlib.suppress(OSError):
        held.shutdown(socket.SHUT_RDWR)


def _context(ca: str) -> ssl.SSLContext:
    """Return what servers are verified by: these CAs, as Java takes them, or those of the machine."""
    context = ssl.create_default_context(cadata=ca or None)
    # Java trusts a CA below a root too, and knows nothing of the stricter form that newer Python asks for.
    context.verify_flags |= getattr(ssl, "VERIFY_X509_PARTIAL_CHAIN", 0x80000)
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context

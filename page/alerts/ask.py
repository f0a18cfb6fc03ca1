"""Ask an Alertmanager for its alerts again and again in a thread, bounded in time and in bytes, for any readers."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import base64
import contextlib
import http.client
import logging
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

from ansible_collections.streamops.kafka.plugins.module_utils._core.network import connect
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_cells import visible
from page.alerts.settings import Alertmanager
from page.alerts.told import NoAlertsError, Told, told

#: Seconds that an answer may take, and bytes that it may have: some thousand alerts.
SECONDS = 10.0
BYTES = 8_000_000
_CHUNK = 65_536


class UnansweredError(Exception):
    """Why there was no answer, as a phrase without a login."""


def ask(at: Alertmanager, seconds: float = SECONDS, most: int = BYTES) -> bytes:
    """Return the body of the answer to GET /api/v2/alerts; UnansweredError where it is none, too late or too long.

    No proxy is used and no redirection followed.
    """
    until = time.monotonic() + seconds
    try:
        with contextlib.closing(_Connection(at, seconds)) as connection, connection.cut_at(until):
            connection.request("GET", at.path, headers=_headers(at))
            answer = connection.getresponse()
            if answer.status != 200:
                raise UnansweredError(f"it answered {answer.status}{_hint(answer.status)}")
            return _read(answer, until, seconds, most)
    except ssl.SSLCertVerificationError as error:
        raise UnansweredError(f"its certificate is not trusted: {error.verify_message}") from error
    except (OSError, ValueError, http.client.HTTPException) as error:
        if time.monotonic() >= until:
            raise UnansweredError(f"no whole answer within {seconds:g} s") from error
        raise UnansweredError(_why(error)) from error


def _read(answer: http.client.HTTPResponse, until: float, seconds: float, most: int) -> bytes:
    found = bytearray()
    while (chunk := answer.read1(_CHUNK)) and time.monotonic() < until:
        found += chunk
        if len(found) > most:
            raise UnansweredError(f"its answer is longer than {most:,} bytes")
    # What was cut has no end of its own: it would look whole where no length was told.
    if time.monotonic() >= until:
        raise UnansweredError(f"no whole answer within {seconds:g} s")
    if answer.length:
        raise UnansweredError(f"its answer ended {answer.length:,} bytes too early")
    return bytes(found)


def _headers(at: Alertmanager) -> dict[str, str]:
    headers = {"Accept": "application/json", "Connection": "close"}
    if at.user:
        login = base64.b64encode(f"{at.user}:{at.password}".encode()).decode()
        headers["Authorization"] = f"Basic {login}"
    return headers


def _hint(status: int) -> str:
    return {
        401: ", so it wants a login",
        403: ", so its login has no right",
        404: ", so its address or path is another",
    }.get(status, "")


def _why(error: Exception) -> str:
    # What the other side sent may be in it, as a line that is no status.
    return visible(str(getattr(error, "strerror", None) or error).strip())[:200] or type(error).__name__


def _context(at: Alertmanager) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=at.ca_file or None)
        # Private CAs often leave out what Python asks for from 3.13 on, and Prometheus does not.
        context.verify_flags &= ~ssl.VERIFY_X509_STRICT
        return context
    except OSError as error:
        raise UnansweredError(f"its CA file {at.ca_file} cannot be read: {_why(error)}") from error


class _Connection(http.client.HTTPConnection):
    """A connection whose every step, the TLS handshake too, ends with its time."""

    def __init__(self, at: Alertmanager, seconds: float) -> None:
        super().__init__(at.host, at.port, timeout=seconds)
        self._at, self._seconds = at, seconds
        self._context = _context(at) if at.is_tls else None
        self.default_port = 443 if at.is_tls else 80
        self._is_late = False

    def connect(self) -> None:
        """Connect, and make the handshake where there is one."""
        plain = connect(self._at.host, self._at.port, self._seconds)
        self.sock = plain
        if self._context:
            # The handshake comes when the socket can be cut, since a time-out bounds each of its waits alone.
            self.sock = self._context.wrap_socket(plain, server_hostname=self._at.host, do_handshake_on_connect=False)
        # The time may have ended before there was a socket to cut.
        if self._is_late:
            raise TimeoutError
        if isinstance(self.sock, ssl.SSLSocket):
            self.sock.do_handshake()

    @contextlib.contextmanager
    def cut_at(self, until: float) -> Iterator[None]:
        """Cut the connection at a time, whatever the other side does: it may send a byte now and then for ever."""
        timer = threading.Timer(max(0.0, until - time.monotonic()), self._cut)
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _cut(self) -> None:
        self._is_late = True
        with contextlib.suppress(OSError, AttributeError):
            self.sock.shutdown(socket.SHUT_RDWR)


_LOG = logging.getLogger("page")


class Watch:
    """Calls C(ask) every C(interval) seconds in a thread of its own; where it fails, what was told last is kept.

    So an Alertmanager that is gone takes no alert back: that a critical one fired is known, that it has ended is not.
    """

    def __init__(self, ask: Callable[[], bytes], interval: float) -> None:
        self.seen = Told()
        self._ask, self._interval = ask, interval
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="alerts", daemon=True)

    def start(self) -> None:
        """Begin to ask."""
        self._thread.start()

    def end(self) -> None:
        """Ask no more."""
        self._ended.set()

    def look(self) -> None:
        """Ask once."""
        try:
            self.seen = told(self._ask(), time.time())
        except (UnansweredError, NoAlertsError) as error:
            self._failed(str(error))
        except Exception as error:
            # Whatever goes wrong, the next question must come.
            _LOG.exception("cannot read the alerts of Alertmanager")
            self._failed(f"{type(error).__name__}: {error}")

    def _failed(self, why: str) -> None:
        if why != self.seen.error:
            _LOG.error("Alertmanager cannot be asked for its alerts: %s", why)
        self.seen = replace(self.seen, error=why)

    def _run(self) -> None:
        while not self._ended.is_set():
            self.look()
            self._ended.wait(self._interval)

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Kafka's protocol on one connection by the standard library: connect, TLS, a login (KIP-12, KIP-152), all in time.

The client libraries keep a whole client alive for each connection, bound no TLS handshake, and repeat a login that was
refused. Everything here ends at one deadline.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import ssl
import struct
import time
from collections.abc import Iterator
from typing import Any

from .._core.addresses import split_host_port
from .._core.errors import StreamopsError
from .._core.network import RESOLVE_SECONDS, connect_to, resolve
from .._core.scram import HASHES, ScramClient
from .connection import Connection
from .login import TICKETS, TOKENS
from .tickets import Exchange

#: Kafka's numbers of the requests (ApiKeys) and of the errors UNSUPPORTED_SASL_MECHANISM, ILLEGAL_SASL_STATE and
#: SASL_AUTHENTICATION_FAILED (Errors).
_HANDSHAKE, _API_VERSIONS, _AUTHENTICATE = (17, 1), (18, 0), (36, 0)
_UNSUPPORTED_MECHANISM, _ILLEGAL_STATE, _AUTHENTICATION_FAILED = 33, 34, 58
#: An answer longer than this comes from somebody who does not speak Kafka's protocol.
_MAX_ANSWER = 1 << 20
#: The stages of a connection. In the first two nobody has taken it yet; a login names its mechanism behind it.
RESOLVING, CONNECTING = "resolving the name", "connecting"
HANDSHAKE, REQUEST, LOGIN = "in the TLS handshake", "in the first request", "in the login by"


class NotKafkaError(ValueError):
    """The other side does not speak Kafka's protocol."""


class NoSaslError(ValueError):
    """The listener speaks Kafka's protocol and knows no logins."""


class MechanismError(ValueError):
    """The listener does not offer the SASL mechanism."""


class AnsweredError(ValueError):
    """The listener answered with one of Kafka's errors."""


def tls_context(connection: Connection) -> ssl.SSLContext | None:
    """TLS as the connection describes it, host names verified, as kafka-python does it; None without TLS."""
    if not connection.security_protocol.endswith("SSL"):
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    sealed: list[bool] = []

    def password() -> str:
        """Return what OpenSSL asks for when the key is encrypted; without it, it would ask at the terminal."""
        sealed.append(True)
        return connection.ssl_key_password or ""

    try:
        if connection.ssl_ca_location:
            context.load_verify_locations(connection.ssl_ca_location)
        else:
            context.load_default_certs()
        if connection.ssl_certificate_location:
            context.load_cert_chain(connection.ssl_certificate_location, connection.ssl_key_location, password)
    except (OSError, ValueError) as error:
        if sealed:
            key = connection.ssl_key_location
            why = "is not the password of it" if connection.ssl_key_password else "is not set"
            raise StreamopsError(
                f"connection: the key {key} is encrypted, and ssl_key_password {why}. "
                "Fix: set ssl_key_password to the password of this key. Nothing was changed."
            ) from error
        raise StreamopsError(f"connection: the TLS files cannot be used: {error}. Nothing was changed.") from error
    return context


class Channel:
    """One connection that sends a request and waits for its answer, all within C(seconds). C(stage) is for people.

    The address of a name is looked up before that, within C(resolve) seconds. An answer has at most C(most) bytes.
    C(connecting) bounds the wait for a connection, where that is worth less than all of the time.
    """

    def __init__(
        self,
        seconds: float,
        resolve: float = RESOLVE_SECONDS,
        most: int = _MAX_ANSWER,
        connecting: float | None = None,
    ) -> None:
        self._seconds = seconds
        self._resolve = resolve
        self._connecting = seconds if connecting is None else min(seconds, connecting)
        self._most = most
        self._deadline = 0.0
        self._sent = 0
        self._socket: socket.socket | None = None
        self.host = ""
        self.stage = RESOLVING

    @contextlib.contextmanager
    def open(self, server: str, context: ssl.SSLContext | None) -> Iterator[Channel]:
        """Connect, with TLS where there is a context. What fails is an OSError (ssl and time-outs too) or ValueError.

        Every wait counts against the deadline, the handshake as well: Python bounds it by the time-out of the socket.
        """
        host, port = split_host_port(server)
        self.host = host
        addresses = resolve(host, port, self._resolve)
        self.stage = CONNECTING
        self._deadline = time.monotonic() + self._seconds
        with connect_to(addresses, self._connecting) as plain:
            channel: socket.socket = plain
            if context is not None:
                self.stage = HANDSHAKE
                plain.settimeout(self._left())
                channel = context.wrap_socket(plain, server_hostname=host)
            with channel:
                self._socket = channel
                self.stage = REQUEST
                yield self

    def certificate(self) -> dict[str, Any]:
        """Return the certificate of the server as ssl.SSLSocket.getpeercert does; ValueError without TLS."""
        found = self._socket.getpeercert() if isinstance(self._socket, ssl.SSLSocket) else None
        if not found:
            raise ValueError("the server showed no certificate")
        return dict(found)

    def greet(self) -> None:
        """Ask what the broker can do, which everybody may ask: somebody who answers is a broker that works."""
        self.ask(_API_VERSIONS, b"")

    def log_in(self, mechanism: str, name: str, password: str) -> bool:
        """Return whether the broker takes the password; MechanismError or AnsweredError when it cannot say.

        password -- the token, with OAUTHBEARER.
        """
        self._choose(mechanism)
        if mechanism == TOKENS:
            refusal = self._authenticate(f"n,,\1auth=Bearer {password}\1\1".encode())
            # A broker says in JSON what it has against a token, and waits for a byte (RFC 7628, section 3.2.3).
            return refusal == b"" or (bool(refusal) and self._authenticate(b"\1") is not None)
        if mechanism not in HASHES:  # PLAIN (RFC 4616)
            return self._authenticate(f"\0{name}\0{password}".encode()) is not None
        client = ScramClient(mechanism, name, password, secrets.token_hex(16))
        first = self._authenticate(client.first())
        # A user that the broker does not know (yet) is refused in the first step, a wrong password in the second.
        last = None if first is None else self._authenticate(client.final(first))
        return last is not None and client.proven(last)

    def log_in_by_ticket(self, exchange: Exchange, first: bytes) -> bool:
        """Return whether the broker takes the tickets of an exchange, whose first message is there already.

        Raises MechanismError or AnsweredError when it cannot say, TicketError where its answer is no proof.
        """
        self._choose(TICKETS)
        answer = self._authenticate(first)
        while answer is not None and not exchange.is_last:
            answer = self._authenticate(exchange.answer(answer))
        return answer is not None

    def _choose(self, mechanism: str) -> None:
        """Say by which mechanism the login will be; MechanismError, NoSaslError or AnsweredError where it cannot be."""
        self.stage = f"{LOGIN} {mechanism}"
        (code,) = struct.unpack_from(">h", self.ask(_HANDSHAKE, _text(mechanism)))
        if code == _UNSUPPORTED_MECHANISM:
            raise MechanismError(f"the listener does not offer {mechanism}")
        if code == _ILLEGAL_STATE:
            raise NoSaslError("the listener takes no login: it has no SASL")
        if code:
            raise AnsweredError(f"the listener refused the handshake (Kafka's error {code})")

    def _authenticate(self, message: bytes) -> bytes | None:
        """The server's answer, None when it refuses."""
        answer = self.ask(_AUTHENTICATE, struct.pack(">i", len(message)) + message)
        code, length = struct.unpack_from(">hh", answer)
        if code == _AUTHENTICATION_FAILED:
            return None
        if code:
            raise AnsweredError(f"the listener answered with Kafka's error {code}")
        start = 4 + max(length, 0)
        (size,) = struct.unpack_from(">i", answer, start)
        return answer[start + 4 : start + 4 + size]

    def ask(self, api: tuple[int, int], body: bytes) -> bytes:
        """The body of the answer to a request of an API key and version without flexible fields."""
        if self._socket is None:
            raise AssertionError("nothing can be asked before open()")
        self._sent += 1
        message = struct.pack(">hhi", *api, self._sent) + _text("streamops") + body
        self._socket.settimeout(self._left())
        try:
            self._socket.sendall(struct.pack(">i", len(message)) + message)
        except OSError:
            # In TLS 1.3 our certificate is refused after the handshake: what says so was sent before the end.
            self._read(1)
            raise
        (size,) = struct.unpack(">i", self._read(4))
        if not 4 <= size <= self._most:
            raise NotKafkaError("the server does not speak Kafka's protocol")
        return self._read(size)[4:]

    def extend(self, seconds: float) -> None:
        """Give it more time: so long nobody asked anything."""
        self._deadline += seconds

    def _left(self) -> float:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        return left

    def _read(self, size: int) -> bytes:
        if self._socket is None:
            raise AssertionError("nothing can be read before open()")
        read = bytearray()
        while len(read) < size:
            self._socket.settimeout(self._left())
            part = self._socket.recv(size - len(read))
            if not part:
                raise ConnectionError("the server closed the connection")
            read += part
        return bytes(read)


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded

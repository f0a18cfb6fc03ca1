# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether a password is the one that Kafka has, found out by logging in with it and doing nothing else.

A few messages of Kafka's protocol over a plain or a TLS connection (KIP-12, KIP-152), by the standard library: the
client libraries keep a whole client alive for each user. One login costs the work of its iterations, and a refused
one what the broker waits before it says so (connection.failed.authentication.delay.ms, 100 ms).
"""

from __future__ import annotations

import concurrent.futures
import secrets
import socket
import ssl
import struct
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ansible_collections.streamops.kafka.plugins.module_utils._connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reach import split_address
from ansible_collections.streamops.kafka.plugins.module_utils._scram import ScramClient, ScramError
from ansible_collections.streamops.kafka.plugins.module_utils._users import ACCEPTED, REFUSED, UNTRIED, Key, UserWish

#: Kafka's numbers of the two requests (ApiKeys) and of the errors UNSUPPORTED_SASL_MECHANISM and
#: SASL_AUTHENTICATION_FAILED (Errors).
_HANDSHAKE, _AUTHENTICATE = (17, 1), (36, 0)
_UNSUPPORTED_MECHANISM, _AUTHENTICATION_FAILED = 33, 58
#: An answer longer than this comes from somebody who does not speak Kafka's protocol.
_MAX_ANSWER = 1 << 20
#: Logins at a time. Their work is the client's, so more than the processors of a machine only hide the waits.
_AT_ONCE = 8


class UntriedError(Exception):
    """The login could not be tried; the text says why."""


@dataclass(frozen=True)
class Login:
    """Where and how to try logins. C(connection) gives servers and TLS files, C(timeout) seconds for each login."""

    connection: Connection
    timeout: float

    @classmethod
    def of(
        cls, connection: Connection, servers: Sequence[str] | None, protocol: str | None, timeout: float
    ) -> Login | None:
        """The login of a module's options; None where neither they nor the connection name a SASL listener."""
        chosen = protocol or connection.security_protocol
        if not chosen.startswith("SASL_"):
            return None
        listed = tuple(server.strip() for server in servers or connection.bootstrap_servers)
        return cls(replace(connection, security_protocol=chosen, bootstrap_servers=listed), timeout)

    def at(self, server: str) -> Login:
        """The same at one server only."""
        return replace(self, connection=replace(self.connection, bootstrap_servers=(server,)))


def try_logins(login: Login | None, wishes: Sequence[UserWish]) -> tuple[dict[Key, str], dict[str, str]]:
    """What a login said by wish (ACCEPTED, REFUSED, UNTRIED), and why some could not be tried, by mechanism.

    When the first user of a mechanism cannot be tried, the others of it are not tried either: the whole is bounded.
    """
    said: dict[Key, str] = {}
    why: dict[str, str] = {}
    context = _context(login.connection) if login is not None and wishes else None
    for mechanism in dict.fromkeys(wish.mechanism for wish in wishes):
        mine = [wish for wish in wishes if wish.mechanism == mechanism]
        if login is None:
            why[mechanism] = (
                "no SASL listener is known; name one by login_security_protocol and login_bootstrap_servers"
            )
        else:
            said.update(_try(login, context, mine[:1], why))
            if mechanism not in why:
                said.update(_try(login, context, mine[1:], why))
        said.update({wish.key: UNTRIED for wish in mine if wish.key not in said})
    return said, why


def _try(
    login: Login, context: ssl.SSLContext | None, wishes: Sequence[UserWish], why: dict[str, str]
) -> Mapping[Key, str]:
    def one(wish: UserWish) -> tuple[Key, str]:
        """Try one login."""
        try:
            return wish.key, ACCEPTED if log_in(login, wish, context) else REFUSED
        except UntriedError as error:
            why[wish.mechanism] = str(error)
            return wish.key, UNTRIED

    with concurrent.futures.ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return dict(pool.map(one, wishes))


def log_in(login: Login, wish: UserWish, context: ssl.SSLContext | None = None) -> bool:
    """Whether Kafka accepts the password of a wish; UntriedError when no server of the login could say."""
    if context is None:
        context = _context(login.connection)
    failed: list[str] = []
    for server in login.connection.bootstrap_servers:
        try:
            return _log_in_at(server, login.timeout, wish, context)
        except (OSError, ValueError, OverflowError, struct.error) as error:  # ssl and time-outs are OSError.
            failed.append(f"{server}: {error}")
    raise UntriedError("; ".join(failed))


def _log_in_at(server: str, timeout: float, wish: UserWish, context: ssl.SSLContext | None) -> bool:
    host, port = split_address(server)
    deadline = time.monotonic() + timeout
    with socket.create_connection((host, port), timeout=timeout) as plain:
        channel = plain if context is None else context.wrap_socket(plain, server_hostname=host)
        with channel:
            return _exchange(_Kafka(channel, deadline), wish)


def _exchange(kafka: _Kafka, wish: UserWish) -> bool:
    answer = kafka.ask(_HANDSHAKE, _text(wish.mechanism))
    (code,) = struct.unpack_from(">h", answer)
    if code == _UNSUPPORTED_MECHANISM:
        raise UntriedError(f"the listener does not offer {wish.mechanism}")
    if code:
        raise UntriedError(f"the listener refused the handshake (Kafka's error {code})")
    client = ScramClient(wish.mechanism, wish.name, wish.password, secrets.token_hex(16))
    first = _authenticate(kafka, client.first())
    # A user that the broker does not know (yet) is refused in the first step, a wrong password in the second.
    last = None if first is None else _authenticate(kafka, client.final(first))
    return last is not None and client.proven(last)


def _authenticate(kafka: _Kafka, message: bytes) -> bytes | None:
    """The server's answer, None when it refuses."""
    answer = kafka.ask(_AUTHENTICATE, struct.pack(">i", len(message)) + message)
    code, length = struct.unpack_from(">hh", answer)
    if code == _AUTHENTICATION_FAILED:
        return None
    if code:
        raise UntriedError(f"the listener answered with Kafka's error {code}")
    start = 4 + max(length, 0)
    (size,) = struct.unpack_from(">i", answer, start)
    return answer[start + 4 : start + 4 + size]


class _Kafka:
    """One connection that sends a request and waits for its answer, until a deadline."""

    def __init__(self, channel: socket.socket, deadline: float) -> None:
        self._channel = channel
        self._deadline = deadline
        self._sent = 0

    def ask(self, api: tuple[int, int], body: bytes) -> bytes:
        """The body of the answer to a request of an API key and version without flexible fields."""
        self._sent += 1
        message = struct.pack(">hhi", *api, self._sent) + _text("streamops") + body
        self._wait()
        self._channel.sendall(struct.pack(">i", len(message)) + message)
        (size,) = struct.unpack(">i", self._read(4))
        if not 4 <= size <= _MAX_ANSWER:
            raise ScramError("the server does not speak Kafka's protocol")
        return self._read(size)[4:]

    def _wait(self) -> None:
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        self._channel.settimeout(left)

    def _read(self, size: int) -> bytes:
        read = b""
        while len(read) < size:
            self._wait()
            part = self._channel.recv(size - len(read))
            if not part:
                raise ConnectionError("the server closed the connection")
            read += part
        return read


def _text(text: str) -> bytes:
    encoded = text.encode()
    return struct.pack(">h", len(encoded)) + encoded


def _context(connection: Connection) -> ssl.SSLContext | None:
    """TLS as the connection describes it, host names verified; None without TLS."""
    if connection.security_protocol != "SASL_SSL":
        return None
    try:
        context = ssl.create_default_context(cafile=connection.ssl_ca_location)
        if connection.ssl_certificate_location:
            password = connection.ssl_key_password
            context.load_cert_chain(connection.ssl_certificate_location, connection.ssl_key_location, password)
    except (OSError, ValueError) as error:
        raise StreamopsError(f"connection: the TLS files cannot be used: {error}. Nothing was changed.") from error
    return context

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a password is the one that Kafka has, found out by logging in with it and doing nothing else.

One login costs the work of its iterations, and a refused one what the broker waits before it says so
(connection.failed.authentication.delay.ms, 100 ms). It goes over the channel that probes the bootstrap servers
(_client/wire.py) and not through a client library: librdkafka tells a wrong password from a mechanism that the
listener does not offer by the text of a log line only, and kafka-python sends a comma or = in a name as it is, which
SCRAM does not allow (RFC 5802, saslname).
"""

from __future__ import annotations

import concurrent.futures
import ssl
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from .._client.connection import Connection, server_list
from .._client.wire import Channel, tls_context
from .plan import ACCEPTED, REFUSED, UNTRIED, DesiredUser, Key

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
        listed = server_list(servers, "login_bootstrap_servers") if servers else connection.bootstrap_servers
        return cls(replace(connection, security_protocol=chosen, bootstrap_servers=listed), timeout)

    def at(self, server: str) -> Login:
        """The same at one server only."""
        return replace(self, connection=replace(self.connection, bootstrap_servers=(server,)))


def try_logins(login: Login | None, specs: Sequence[DesiredUser]) -> tuple[dict[Key, str], dict[str, str]]:
    """Return what a login said by spec (ACCEPTED, REFUSED, UNTRIED), and why some were not tried, by mechanism.

    When the first user of a mechanism cannot be tried, the others of it are not tried either: the whole is bounded.
    """
    said: dict[Key, str] = {}
    why: dict[str, str] = {}
    context = tls_context(login.connection) if login is not None and specs else None
    for mechanism in dict.fromkeys(spec.mechanism for spec in specs):
        mine = [spec for spec in specs if spec.mechanism == mechanism]
        if login is None:
            why[mechanism] = (
                "no SASL listener is known; name one by login_security_protocol and login_bootstrap_servers"
            )
        else:
            said.update(_try(login, context, mine[:1], why))
            if mechanism not in why:
                said.update(_try(login, context, mine[1:], why))
        said.update({spec.key: UNTRIED for spec in mine if spec.key not in said})
    return said, why


def _try(
    login: Login, context: ssl.SSLContext | None, specs: Sequence[DesiredUser], why: dict[str, str]
) -> Mapping[Key, str]:
    def one(spec: DesiredUser) -> tuple[Key, str]:
        """Try one login."""
        try:
            return spec.key, ACCEPTED if log_in(login, spec, context) else REFUSED
        except UntriedError as error:
            why[spec.mechanism] = str(error)
            return spec.key, UNTRIED

    with concurrent.futures.ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        return dict(pool.map(one, specs))


def log_in(login: Login, spec: DesiredUser, context: ssl.SSLContext | None = None) -> bool:
    """Return whether Kafka accepts the password of a spec; UntriedError when no server of the login could say."""
    if context is None:
        context = tls_context(login.connection)
    failed: list[str] = []
    for server in login.connection.bootstrap_servers:
        try:
            return _log_in_at(server, login.timeout, spec, context)
        except (OSError, ValueError, OverflowError, struct.error) as error:  # ssl and time-outs are OSError.
            failed.append(f"{server}: {error}")
    raise UntriedError("; ".join(failed))


def _log_in_at(server: str, timeout: float, spec: DesiredUser, context: ssl.SSLContext | None) -> bool:
    with Channel(timeout).open(server, context) as channel:
        return channel.log_in(spec.mechanism, spec.name, spec.password)

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Asks servers of ZooKeeper by its four-letter words, all servers at once, over TLS where the ensemble has it."""

from __future__ import annotations

import concurrent.futures
import socket
import ssl
import time
from collections.abc import Sequence

from .._core.network import connect
from .connection import Access
from .ensemble import UNREACHABLE, Member, Server, read_words

# Those that the role allows (4lw.commands.whitelist), without ruok, which only says that a process runs.
WORDS = ("srvr", "conf", "mntr")
# More than any of these answers takes.
_MOST_BYTES = 1 << 20


def context_of(access: Access) -> ssl.SSLContext | None:
    """The TLS settings of a client, None without TLS. The name in the certificate must be that of the server."""
    if not access.ssl_ca_location:
        return None
    # Not create_default_context: from Python 3.13 on it asks more of certificates than Java does (VERIFY_X509_STRICT).
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(access.ssl_ca_location)
    if access.ssl_certificate_location:
        # The password of a key that is encrypted is not known; without an answer OpenSSL asks at the terminal.
        context.load_cert_chain(access.ssl_certificate_location, access.ssl_key_location, lambda: "")
    return context


def word(member: Member, name: str, seconds: float, context: ssl.SSLContext | None) -> str:
    """Return what a server answers to one word; OSError when it does not. The server closes when it has said all."""
    with connect(member.host, member.port, seconds) as plain:
        deadline = time.monotonic() + seconds
        if context is None:
            return _exchange(plain, name, deadline)
        with context.wrap_socket(plain, server_hostname=member.host) as secured:
            return _exchange(secured, name, deadline)


def _exchange(connection: socket.socket, name: str, deadline: float) -> str:
    connection.sendall(name.encode())
    answer = b""
    while len(answer) < _MOST_BYTES:
        # One limit for all parts together: a server that hands out a byte at a time would never come to an end.
        connection.settimeout(max(0.001, deadline - time.monotonic()))
        part = connection.recv(65536)
        if not part:
            break
        answer += part
    return answer.decode("utf-8", "replace")


def ask(members: Sequence[Member], access: Access) -> list[Server]:
    """Ask every server at once; one that does not answer is unreachable, with the reason."""
    context = context_of(access)

    def server(member: Member) -> Server:
        """One server."""
        try:
            return read_words(member, *(word(member, name, access.request_timeout, context) for name in WORDS))
        except (OSError, ValueError) as error:
            return Server(member.id, member.address, UNREACHABLE, error=str(error))

    with concurrent.futures.ThreadPoolExecutor(max_workers=max(len(members), 1)) as pool:
        return list(pool.map(server, members))

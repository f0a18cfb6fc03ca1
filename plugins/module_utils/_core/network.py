# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Names and connections in bounded time: a resolver knows no time limit, whatever the time-out of a socket is."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Sequence
from typing import Any

#: Longest time in seconds for the address of a name; one name server that is down costs a resolver 10.
RESOLVE_SECONDS = 15.0


def resolve(host: str, port: int | None, seconds: float = RESOLVE_SECONDS) -> list[Any]:
    """The addresses of a name; OSError or UnicodeError where it has none, TimeoutError after C(seconds).

    A thread asks the resolver, which nothing waits for.
    """
    answers: queue.SimpleQueue[list[Any] | OSError | UnicodeError] = queue.SimpleQueue()

    def look_up() -> None:
        """Ask the resolver."""
        try:
            answers.put(list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)))
        except (OSError, UnicodeError) as error:
            answers.put(error)

    threading.Thread(target=look_up, daemon=True).start()
    try:
        found = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(f"the name {host} was not resolved within {seconds:g} s") from None
    if isinstance(found, Exception):
        raise found
    return found


def connect_to(addresses: Sequence[Any], seconds: float) -> socket.socket:
    """A connection to the first of these addresses that takes one; each gets its share of the time."""
    deadline = time.monotonic() + seconds
    for number, (family, kind, protocol, _name, address) in enumerate(addresses):
        plain = socket.socket(family, kind, protocol)
        try:
            plain.settimeout(max(0.001, deadline - time.monotonic()) / (len(addresses) - number))
            plain.connect(address)
        except OSError:
            plain.close()
            if number == len(addresses) - 1:
                raise
        else:
            return plain
    raise ConnectionError("the name has no address")


def connect(host: str, port: int, seconds: float) -> socket.socket:
    """A connection within C(seconds), after the name was resolved within RESOLVE_SECONDS; OSError where there is none.

    Its time-out is C(seconds) too.
    """
    try:
        addresses = resolve(host, port, RESOLVE_SECONDS)
    except UnicodeError as error:
        raise OSError(f"{host!r} is no name of a host: {error}") from error
    plain = connect_to(addresses, seconds)
    plain.settimeout(seconds)
    return plain

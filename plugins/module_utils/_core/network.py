# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Names, connections and other waits in bounded time: a resolver knows no time limit, whatever that of a socket is."""

from __future__ import annotations

import queue
import socket
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, TypeVar, cast

T = TypeVar("T")

#: Longest time in seconds for the address of a name; one name server that is down costs a resolver 10.
RESOLVE_SECONDS = 15.0


def within(seconds: float, function: Callable[[], T], errors: tuple[type[Exception], ...], late: str) -> T:
    """Return what a function returns that nothing else bounds, or raise what it raises.

    Its thread is one that nothing waits for. errors -- what it may raise. TimeoutError, which says late, after so many
    seconds.
    """
    answers: queue.SimpleQueue[tuple[T, None] | tuple[None, Exception]] = queue.SimpleQueue()

    def run() -> None:
        """Run it."""
        try:
            answers.put((function(), None))
        except errors as error:
            answers.put((None, error))

    threading.Thread(target=run, daemon=True).start()
    try:
        answer, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise TimeoutError(late) from None
    if error is not None:
        raise error
    return cast("T", answer)


def resolve(host: str, port: int | None, seconds: float = RESOLVE_SECONDS) -> list[Any]:
    """The addresses of a name; OSError or UnicodeError where it has none, TimeoutError after C(seconds)."""
    late = f"the name {host} was not resolved within {seconds:g} s"
    errors = (OSError, UnicodeError)
    return within(seconds, lambda: list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)), errors, late)


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

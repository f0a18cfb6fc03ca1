# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""By which SASL mechanisms clients of a broker log in, as its log says it.

No metric of Kafka tells: those of socket-server-metrics count logins of a listener (successful-authentication-total),
and no metric, request or answer has the mechanism of a connection. A broker logs it when a client has chosen one, at
level DEBUG (SaslServerAuthenticator.handleHandshakeRequest), before it knows the user and whether the password is
right. The listener is in the name of the thread (SocketServer, Processor). A client that logs in again on an open
connection (KIP-368) is logged again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

#: What all these lines say.
SAYS = "Using SASL mechanism"
# The broker writes ListenerName(CLIENT) or the bare name, then the security protocol and the number of the thread. From
# the beginning of the line on: behind it a line may have what a client sent as the name of its mechanism.
_LINE = re.compile(
    r"\[[^\]]*\] [\w-]*kafka-network-thread-\d+-(?:ListenerName\((?P<listener>[^)\s]+)\)|(?P<name>[^\s']+?))"
    rf"-SASL_(?:SSL|PLAINTEXT)-\d+ {SAYS} '(?P<mechanism>[^']+)'"
)


@dataclass(frozen=True)
class Logins:
    """How many logins began at a listener by a mechanism; first and last are seconds since 1970."""

    listener: str
    mechanism: str
    count: int
    first: float
    last: float


def logins_of(lines: Iterable[tuple[str, float]]) -> list[Logins]:
    """Return the logins in lines of a log, each with its time, by listener and mechanism."""
    counted: dict[tuple[str, str], Logins] = {}
    for line, at in lines:
        if match := _LINE.match(line):
            key = (match["listener"] or match["name"], match["mechanism"])
            known = counted.get(key, Logins(*key, 0, at, at))
            counted[key] = replace(known, count=known.count + 1, last=max(known.last, at))
    return [counted[key] for key in sorted(counted)]

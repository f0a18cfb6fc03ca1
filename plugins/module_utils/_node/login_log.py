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

import os
import re
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from .log_lines import every_said, seconds_of

#: All that the roles keep of it: 4 MiB and as much of the file before, some 50,000 logins.
_BEFORE = ".1"
_SAYS = "Using SASL mechanism"
# The broker writes ListenerName(CLIENT) or the bare name, then the security protocol and the number of the thread.
_LINE = re.compile(
    r"kafka-network-thread-\d+-(?:ListenerName\((?P<listener>[^)]+)\)|(?P<name>.+?))-SASL_(?:SSL|PLAINTEXT)-\d+ "
    rf"{_SAYS} '(?P<mechanism>[^']+)'"
)


@dataclass(frozen=True)
class Logins:
    """How many logins began at a listener by a mechanism; first and last are seconds since 1970."""

    listener: str
    mechanism: str
    count: int
    first: float
    last: float


def logins(path: str, since: float | None) -> list[dict[str, Any]] | None:
    """Return the logins that a log has from then on (seconds since 1970), None without such a log.

    Each is listener, mechanism, count, first and last. What was logged before its first entry is not known.
    """
    if not os.path.exists(path):
        return None
    return [asdict(entry) for entry in logins_of(every_said([path + _BEFORE, path], _SAYS, since))]


def logins_of(lines: Iterable[str]) -> list[Logins]:
    """Return the logins in lines of a log, by listener and mechanism."""
    counted: dict[tuple[str, str], Logins] = {}
    for line in lines:
        match, at = _LINE.search(line), seconds_of(line)
        if match and at is not None:
            key = (match["listener"] or match["name"], match["mechanism"])
            known = counted.get(key, Logins(*key, 0, at, at))
            counted[key] = replace(known, count=known.count + 1, last=max(known.last, at))
    return [counted[key] for key in sorted(counted)]

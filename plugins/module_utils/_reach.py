# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""Whether anybody listens at the addresses of a cluster, found out before a client library is asked."""

from __future__ import annotations

import concurrent.futures
import socket
from collections.abc import Iterable

from ansible_collections.streamops.kafka.plugins.module_utils._errors import ClusterUnreachableError

#: Longest time in seconds to find out that a bootstrap server does not answer, so that a wrong address shows at once.
_PROBE_SECONDS = 5


def split_address(server: str) -> tuple[str, int]:
    """Host and port of C(host:port), an IPv6 address in brackets or not; ValueError for another form."""
    host, _colon, port = server.rpartition(":")
    return host.strip("[]"), int(port)


def probe(servers: Iterable[str]) -> None:
    """Raise ClusterUnreachableError unless one server accepts a connection; all are tried at once."""

    def attempt(server: str) -> str | None:
        """Why one server does not answer, None when it does."""
        try:
            with socket.create_connection(split_address(server), timeout=_PROBE_SECONDS):
                return None
        except (OSError, ValueError, OverflowError) as error:
            return str(error)

    listed = list(servers)
    with concurrent.futures.ThreadPoolExecutor(max_workers=max(len(listed), 1)) as pool:
        running = {server: pool.submit(attempt, server) for server in listed}
    failed = {server: str(future.result()) for server, future in running.items() if future.result() is not None}
    if len(failed) == len(running):
        raise ClusterUnreachableError(failed)

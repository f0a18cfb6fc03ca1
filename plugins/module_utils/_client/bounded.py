# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""kafka-python's client with an end to every step until a connection is ready, and whether a request was ever sent."""

from __future__ import annotations

import functools
import time
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import SETUP_SECONDS, within
from ansible_collections.streamops.kafka.plugins.module_utils._core.addresses import host_port

#: How long a broker that took a connection and did not answer is left alone (seconds).
_LEFT_ALONE = 10.0


@functools.cache
def _every_address() -> str:
    """The scheme of C(proxy_url) by which kafka-python gives each address of a name a share of the time.

    By itself it waits for the first one as long as a connection may take, and never comes to the second.
    """
    from kafka import errors
    from kafka.net.inet import KafkaNetSocket

    class EveryAddress(KafkaNetSocket):  # type: ignore[misc]  # kafka-python ships no types
        """Connects without a proxy. The library finds it by its scheme; behind that stand the seconds for all."""

        SCHEMES = ("every-address",)

        def __init__(self, proxy_url: str) -> None:
            super().__init__(proxy_url)
            self._seconds = float(proxy_url.rpartition("/")[2])
            self._until, self._left = 0.0, 0

        def dns_lookup(self, *asked: Any, **more: Any) -> Any:
            """The library's own, counted."""
            found = super().dns_lookup(*asked, **more)
            self._until, self._left = time.monotonic() + self._seconds, len(found)
            return found

        async def connect(self, *asked: Any, timeout_at: float | None = None, **more: Any) -> Any:
            """The library's own; the last address has the time limit that it would have alone."""
            if self._left > 1:
                now = time.monotonic()
                timeout_at = now + (self._until - now) / self._left
            self._left -= 1
            try:
                return await super().connect(*asked, timeout_at=timeout_at, **more)
            except errors.KafkaTimeoutError as error:
                raise errors.KafkaConnectionError("Connection timed out") from error

    return str(EveryAddress.SCHEMES[0])


def bounded_client(hung: dict[int, str], **config: Any) -> Any:
    """kafka-python's client, in which no connection takes longer to get ready than C(SETUP_SECONDS).

    The library bounds the steps before and after a TLS handshake, and waits for the handshake itself for ever. What
    goes wrong before a connection is ready is marked: nothing of a request was sent then. C(hung) gets the brokers that
    did not answer, by their number, with their address.
    """
    from kafka import errors
    from kafka.net.compat import KafkaNetClient

    limit = within(SETUP_SECONDS, config["request_timeout_ms"] / 1000)
    client = KafkaNetClient(**{**config, "proxy_url": f"{_every_address()}://{limit}"})
    manager = client._manager
    connect, delay = manager.get_connection, manager.connection_delay
    alone_until: dict[Any, float] = {}

    def give_up(node: Any, connection: Any) -> None:
        """Close a connection that is still not ready."""
        if not connection.initializing:
            return
        where = manager.cluster.broker_metadata(node)
        address = host_port(where.host, where.port) if where else "?"
        hung[node] = address
        alone_until[node] = time.monotonic() + _LEFT_ALONE
        connection.close(errors.KafkaConnectionError(f"no answer within {limit:g} s of connecting"))

    def get_connection(node_id: Any, timeout_ms: float | None = None, **options: Any) -> Any:
        """The library's own, with an end. Its own time limit comes later, since it does not say who hangs."""
        known = manager._conns.get(node_id)
        connection = connect(node_id, timeout_ms=max(timeout_ms or 0, (limit + 1) * 1000), **options)
        if connection is not known:
            connection.init_future.add_errback(_mark_unsent)
            connection.init_future.add_callback(lambda _ready: hung.pop(node_id, None))
            manager._net.call_later(limit, lambda: give_up(node_id, connection))
        return connection

    def connection_delay(node_id: Any) -> float:
        """The library's own, which it forgets when a connection is given up, with the time of those that hang."""
        return max(float(delay(node_id)), alone_until.get(node_id, 0.0) - time.monotonic())

    manager.get_connection, manager.connection_delay = get_connection, connection_delay
    return client


def _mark_unsent(error: Exception) -> None:
    error.unsent = True  # type: ignore[attr-defined]


def unsent(error: Exception) -> bool:
    """Whether the request of an error never left: its connection was not ready."""
    from kafka import errors

    return isinstance(error, errors.NodeNotReadyError) or getattr(error, "unsent", False)

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""kafka-python's client with an end to every step until a connection is ready, and whether a request was ever sent; and
one question to several brokers, of which the first answer counts.

All that this collection uses of the library beside its public interface stands here (Inside, ask_controller,
new_client). The library may change it without notice, so requirements.txt pins its minor version, and test_inside.py
fails when one of these members is gone.
"""

from __future__ import annotations

import functools
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

from .._core.addresses import host_port
from .connection import SETUP_SECONDS, within

#: How long a broker that took a connection and did not answer is left alone (seconds).
_LEFT_ALONE = 10.0


class Inside:
    """The inside of a client of kafka-python: the brokers that it knows, and its connections to them."""

    def __init__(self, client: Any) -> None:
        self._manager = client._manager

    def broker(self, node: Any) -> Any:
        """Return host and port of a broker by its number, None where the client does not know it."""
        return self._manager.cluster.broker_metadata(node)

    def brokers(self) -> list[int]:
        """Return the numbers of the brokers that the client knows."""
        return [broker.node_id for broker in self._manager.cluster.brokers()]

    def controller(self) -> int | None:
        """Return the number of the controller, None where the client does not know it."""
        found = self._manager.cluster.controller
        return found.node_id if found else None

    def connection(self, node: Any) -> Any:
        """Return the connection to a broker, None where there is none."""
        return self._manager._conns.get(node)

    def take_over(self, name: str, call: Callable[..., Any]) -> None:
        """Have the client call this instead of its own method of that name."""
        setattr(self._manager, name, call)

    def own(self, name: str) -> Callable[..., Any]:
        """Return the client's own method of that name."""
        method: Callable[..., Any] = getattr(self._manager, name)
        return method

    def later(self, seconds: float, call: Callable[[], None]) -> None:
        """Have the loop of the library call this after so many seconds."""
        self._manager._net.call_later(seconds, call)

    def exchange(self, request: Any, node: int | None, seconds: float | None) -> Any:
        """Send a message to a broker (None = any) and return its answer; without seconds in the client's own time."""
        limit = None if seconds is None else seconds * 1000

        async def exchange() -> Any:
            """The message and its answer, on the loop of the library."""
            return await self._manager.send(request, node_id=node, request_timeout_ms=limit)

        return self._manager.run(exchange)

    def close_ready(self, nodes: Collection[int | None]) -> None:
        """Close the connections to these brokers; one that is not ready yet is left to its end."""

        async def close() -> None:
            """Close them, on the loop of the library."""
            for node in nodes:
                known = self.connection(node)
                if known is not None and not known.initializing:
                    self._manager.close(node)

        self._manager.run(close)


def ask_controller(client: Any, request: Any, errors_of: Callable[[Any], Any]) -> Any:
    """Send a message to the controller, which an administrator's client looks up again when it has moved.

    C(errors_of) yields the errors of an answer, by which the client sees that.
    """
    return client._manager.run(client._send_request_to_controller, request, errors_of)


def new_client(config: dict[str, Any], seconds: float) -> Any:
    """Return a client of kafka-python that gives all addresses of a name together so many seconds to connect."""
    from kafka.net.compat import KafkaNetClient

    return KafkaNetClient(**{**config, "proxy_url": f"{_every_address()}://{seconds}"})


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


def bounded_client(hung: dict[int, str], silent: Collection[str] = (), **config: Any) -> Any:
    """kafka-python's client, in which no connection takes longer to get ready than C(SETUP_SECONDS).

    The library bounds the steps before and after a TLS handshake, and waits for the handshake itself for ever. What
    goes wrong before a connection is ready is marked: nothing of a request was sent then. C(hung) gets the brokers that
    did not answer, by their number, with their address. C(silent) are addresses that were asked before and did not
    answer: no broker there is drawn as long as there is another one. One that is meant by its number is asked.
    """
    from kafka import errors

    limit = within(SETUP_SECONDS, config["request_timeout_ms"] / 1000)
    client = new_client(config, limit)
    inside = Inside(client)
    connect, delay, draw = map(inside.own, ("get_connection", "connection_delay", "least_loaded_node"))
    alone_until: dict[Any, float] = {}
    drawing = [False]

    def give_up(node: Any, connection: Any) -> None:
        """Close a connection that is still not ready."""
        if not connection.initializing:
            return
        where = inside.broker(node)
        address = host_port(where.host, where.port) if where else "?"
        hung[node] = address
        alone_until[node] = time.monotonic() + _LEFT_ALONE
        connection.close(errors.KafkaConnectionError(f"no answer within {limit:g} s of connecting"))

    def get_connection(node_id: Any, timeout_ms: float | None = None, **options: Any) -> Any:
        """The library's own, with an end. Its own time limit comes later, since it does not say who hangs."""
        known = inside.connection(node_id)
        connection = connect(node_id, timeout_ms=max(timeout_ms or 0, (limit + 1) * 1000), **options)
        if connection is not known:
            connection.init_future.add_errback(_mark_unsent)
            connection.init_future.add_callback(lambda _ready: hung.pop(node_id, None))
            inside.later(limit, lambda: give_up(node_id, connection))
        return connection

    def connection_delay(node_id: Any) -> float:
        """The library's own, which it forgets when a connection is given up, with the time of those that hang."""
        where = inside.broker(node_id) if drawing[0] else None
        if where is not None and host_port(where.host, where.port) in silent:
            return _LEFT_ALONE
        return max(float(delay(node_id)), alone_until.get(node_id, 0.0) - time.monotonic())

    def least_loaded_node() -> Any:
        """The library's own, of the brokers that are not silent; of all where that leaves none."""
        drawing[0] = bool(silent)
        try:
            found = draw()
        finally:
            drawing[0] = False
        return draw() if found is None else found

    for taken in (get_connection, connection_delay, least_loaded_node):
        inside.take_over(taken.__name__, taken)
    return client


def _mark_unsent(error: Exception) -> None:
    error.unsent = True  # type: ignore[attr-defined]


def unsent(error: Exception) -> bool:
    """Return whether the request of an error never left: its connection was not ready."""
    from kafka import errors

    return isinstance(error, errors.NodeNotReadyError) or getattr(error, "unsent", False)


# -- one question to several brokers -----------------------------------------------------------------------------------
#
# For what a broker must ask the active controller. While that hangs (its process is stopped) a broker that turned to it
# before waits for CONTROLLER_HANGS seconds, and one that did not finds the new one. So the next one is asked beside
# those that let us wait.

#: Seconds that a broker waits for an active controller that hangs before it looks for the new one: Kafka's default of
#: controller.socket.timeout.ms. Until then it answers nothing that only the active controller knows.
CONTROLLER_HANGS = 30.0
#: How long a broker is waited for alone (seconds), and the same for a change, which takes the active controller longer
#: when it is big.
PATIENCE, CHANGE_PATIENCE = 2.0, 5.0
#: How much longer than CONTROLLER_HANGS all brokers are waited for: until then those have found the new one.
_AFTERWARDS = 5.0
#: Seconds between two questions when one had no answer.
_PAUSE = 0.1
#: Answers that say that a broker got none from the active controller (its time ended), or did not find it: Kafka's
#: errors REQUEST_TIMED_OUT; and NOT_LEADER_OR_FOLLOWER, BROKER_NOT_AVAILABLE and NOT_CONTROLLER.
_TIMED_OUT = 7
_NO_CONTROLLER = frozenset({6, _TIMED_OUT, 8, 41})


class Asking:
    """The brokers that are asked at the same time, and what came of it.

    C(exchange) sends the message to a broker and returns its answer; C(codes) takes the codes of Kafka's errors out of
    one. C(seconds) are those that a request may take.
    """

    def __init__(
        self, exchange: Callable[[int | None, float], Any], codes: Callable[[Any], Iterable[int]], seconds: float
    ) -> None:
        self._exchange = exchange
        self._codes = codes
        self._seconds = seconds
        self._until = time.monotonic() + seconds + (_AFTERWARDS if seconds >= CONTROLLER_HANGS else 0)
        self._answers: queue.SimpleQueue[tuple[int | None, Any]] = queue.SimpleQueue()
        #: Brokers that have not answered yet.
        self.waiting: set[int | None] = set()
        #: How many brokers may have carried the message out.
        self.asked = 0
        self._error: Exception | None = None
        self._doubt: Exception | None = None

    def first(self, brokers: Iterator[int | None], patience: float) -> tuple[int | None, Any]:
        """Ask these brokers, without an end, until one answers: who it was, and the answer.

        Raises the error of kafka-python by which one refused the message, or the last one when the time is over.
        """
        while True:
            self._begin(next(brokers))
            came = self._next(patience)
            if came is not None:
                node, answer = came
                if self._is_answer(answer):
                    return node, answer
            if time.monotonic() >= self._until:
                raise self._last()
            if came is not None:
                time.sleep(_PAUSE)

    def _left(self) -> float:
        return max(self._until - time.monotonic(), _PAUSE)

    def _begin(self, node: int | None) -> None:
        """Send the message to a broker, unless it is waited for already; in a thread that nothing waits for."""
        if node in self.waiting:
            return
        self.waiting.add(node)
        self.asked += 1
        seconds = self._left()

        def exchange() -> None:
            """The message and its answer, or what was raised."""
            try:
                self._answers.put((node, self._exchange(node, seconds)))
            except Exception as error:
                self._answers.put((node, error))

        threading.Thread(target=exchange, daemon=True).start()

    def _next(self, patience: float) -> tuple[int | None, Any] | None:
        """Return what comes first of those that are waited for, None where nothing comes in time."""
        try:
            node, answer = self._answers.get(timeout=min(patience, max(self._seconds / 3, _PAUSE), self._left()))
        except queue.Empty:
            return None
        self.waiting.discard(node)
        return node, answer

    def _is_answer(self, answer: Any) -> bool:
        """Return whether this answers the question; what says nothing of it is kept, and what refuses it is raised."""
        from kafka import errors

        if isinstance(answer, Exception):
            self._keep(self._passed_over(answer), unsent(answer))
            return False
        missed = [code for code in self._codes(answer) if code in _NO_CONTROLLER]
        if missed:
            code = _TIMED_OUT if _TIMED_OUT in missed else missed[0]
            self._keep(errors.for_code(code)(), code != _TIMED_OUT)
        return not missed

    def _keep(self, error: Exception, nothing_done: bool) -> None:
        """Keep why a broker had no answer. What one may have done is not undone by one that was never reached."""
        if nothing_done:
            self.asked -= 1
            self._error = error
        else:
            self._doubt = error

    def _passed_over(self, error: Exception) -> Exception:
        """Return an error that says nothing of the question; raise any other."""
        from kafka import errors

        passed_over: tuple[type[Exception], ...] = (
            errors.KafkaConnectionError,
            errors.KafkaTimeoutError,
            errors.NodeNotReadyError,
            errors.RequestTimedOutError,
            errors.UnknownBrokerIdError,  # It was there when this round began.
        )
        if isinstance(error, passed_over):
            return error
        raise error

    def _last(self) -> Exception:
        """The error when the time is over."""
        from kafka import errors

        late = errors.RequestTimedOutError(f"no answer of any broker within {self._seconds:g} s")
        if self._doubt is None and self._error is not None and not self.waiting:
            return self._error
        return self._doubt or late

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The two Kafka libraries, each opened at its first use because either costs a quarter of a second to import.

confluent-kafka creates, grows, deletes and lists topics. kafka-python does what librdkafka cannot: it asks for named
configuration keys only (1,000 topics in a fifth of the time), for the default broker entity, for fenced brokers
(KIP-1073), for the metadata quorum (KIP-595), for quotas, and it asks a given broker for its own view.
"""

from __future__ import annotations

import concurrent.futures
import functools
import logging
import time
import traceback
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import (
    SETUP_SECONDS,
    Connection,
    within,
)
from ansible_collections.streamops.kafka.plugins.module_utils._client.rights import denied
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    MissingLibraryError,
    RequestFailedError,
    StreamopsError,
    is_denial,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

#: How often a call that lets the library choose a broker may draw one.
DRAWS = 10
#: How long a broker that took a connection and did not answer is left alone (seconds).
_LEFT_ALONE = 10.0
#: Seconds between two draws when no broker may be drawn yet.
_PAUSE = 0.1


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
        address = f"{where.host}:{where.port}" if where else "?"
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


class Libraries:
    """Both libraries on one connection, what they raise turned into StreamopsErrors."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        #: The same with only those bootstrap servers that let us in, as far as they were tried.
        self._reached = connection
        self._confluent_client: Any = None
        self._python_client: Any = None
        self._events: list[str] = []
        self._hung: dict[int, str] = {}

    def _only(self, servers: Sequence[str]) -> None:
        """Have the libraries begin with these servers."""
        self._reached = replace(self.connection, bootstrap_servers=tuple(servers))

    def _python_config(self) -> dict[str, Any]:
        """What each client of kafka-python is made with."""
        return {**self._reached.kafka_python_config(), "kafka_client": partial(bounded_client, self._hung)}

    @property
    def _confluent(self) -> Any:
        if self._confluent_client is None:
            try:
                from confluent_kafka.admin import AdminClient
            except ImportError as error:
                raise _missing("confluent-kafka") from error
            config = dict(self._reached.confluent_config(), error_cb=lambda e: self._events.append(e.str()))
            try:
                # log_level 0: what goes wrong is reported by error_cb, and must not also be written to stderr.
                self._confluent_client = AdminClient(dict(config, log_level=0))
            except confluent_error() as error:
                raise StreamopsError(f"connection: {error.args[0].str()}. Nothing was changed.") from error
        return self._confluent_client

    @property
    def _python(self) -> Any:
        if self._python_client is None:
            try:
                from kafka import errors
                from kafka.admin import KafkaAdminClient
            except ImportError as error:
                raise _missing("kafka-python") from error
            logging.getLogger("kafka").addHandler(logging.NullHandler())
            try:
                self._python_client = KafkaAdminClient(**self._python_config())
            except (errors.KafkaError, OSError) as error:
                raise ClusterUnreachableError(
                    dict.fromkeys(self._reached.bootstrap_servers, f"{error}{self._who_hangs()}")
                ) from error
        return self._python_client

    def _reported(self, otherwise: str) -> dict[str, str]:
        """By bootstrap server the last thing that its connection reported."""
        said = dict.fromkeys(self._reached.bootstrap_servers, otherwise)
        for event in self._events:
            said.update({server: event for server in said if f"{server}/" in event})
        return said

    def _send(self, what: str, request: Any, node: int | None = None) -> Any:
        """Send a message of kafka-python to one broker (None = any) and return the answer."""
        if node is not None and self._python._manager.cluster.broker_metadata(node) is None:
            self._close_python()  # It came up after this client had learnt who is there.
        return self._call(what, lambda: self._exchange(request, node), anybody=node is None)

    def _send_to_controller(self, what: str, request: Any) -> Any:
        """Send a message to the broker that _controller names, which is drawn anew when it does not take it."""
        return self._call(what, lambda: self._exchange(request, self._controller()))

    def _exchange(self, request: Any, node: int | None) -> Any:
        manager = self._python._manager

        async def exchange() -> Any:
            """The message and its answer, on the loop of the library."""
            return await manager.send(request, node_id=node)

        return manager.run(exchange)

    def _controller(self) -> int | None:
        """The broker that must be sent what others do not forward in ZooKeeper mode; in KRaft it is any one."""
        try:
            found = int(self._call("describe cluster", self._python.describe_cluster)["controller_id"])
        except RequestFailedError as error:  # What was meant for the controller did not leave.
            raise RequestFailedError(**error.fields, unsent=True) from error
        return found if found >= 0 else None

    def _close_python(self) -> None:
        if self._python_client is not None:
            self._python_client.close()
            self._python_client = None

    def _call(self, what: str, function: Callable[[], Any], anybody: bool = True) -> Any:
        """What a function of kafka-python returns; C(what) names the request when it fails."""
        from kafka import errors

        try:
            return self._asked(function, anybody)
        except errors.KafkaError as error:
            self._failed(what, error)

    def _asked(self, function: Callable[[], Any], anybody: bool = True) -> Any:
        """What a function of kafka-python returns that chooses its broker: not one that nobody can talk to.

        C(anybody): any broker may answer, so one that cannot be talked to is passed over: it died a moment ago, it is
        frozen, or its certificate names somebody else. Such a broker is registered all the same, and the library stays
        with it as the controller, which on KRaft is any broker, drawn anew by every look. Only what was not sent is
        repeated.
        """
        from kafka import errors

        until = time.monotonic() + self.connection.request_timeout
        for _repeat in range(DRAWS - 1):
            try:
                return function()
            except errors.KafkaError as error:
                if not anybody or not unsent(error) or time.monotonic() > until:
                    raise
                self._python._controller_id = None
                if isinstance(error, errors.NodeNotReadyError):
                    time.sleep(_PAUSE)
        return function()

    def _failed(self, what: str, error: Exception) -> NoReturn:
        from kafka import errors

        code = str(getattr(error, "message", None) or type(error).__name__)
        never = unsent(error) or isinstance(error, (errors.IncompatibleBrokerVersion, errors.UnknownBrokerIdError))
        cluster = ",".join(self.connection.bootstrap_servers)
        why = self._why(what, code, f"{error}{self._who_hangs()}")
        raise RequestFailedError(what, f"of {cluster}", code, why, never) from error

    def _who_hangs(self) -> str:
        """Which brokers took a connection and did not answer, behind an error."""
        named = ", ".join(f"broker {node} at {address}" for node, address in self._hung.items())
        return f"; these took a connection and did not answer: {named}" if named else ""

    def _why(self, what: str, code: str, why: str, name: str = "") -> str:
        """Kafka's words for an error, or of a right that is missing ours, which name it."""
        return denied(self.connection, what, code, name) if is_denial(code) else why

    def _explain(self, what: str, result: Any, name: str = "") -> tuple[str, str]:
        """As C(explain), with the right that is missing."""
        code, why = explain(result)
        return code, self._why(what, code, why, name)

    def _outcome(self, what: str, result: Any, name: str = "") -> tuple[str, str] | None:
        """None for a part of an answer that is well, else (Kafka's error name, why)."""
        return self._explain(what, result, name) if result.error_code else None

    def _sound(self, answer: Any, what: str) -> Any:
        """The answer, or what Kafka says against it as a whole; C(what) is the request, two words or more."""
        if answer.error_code:
            verb, _space, name = what.partition(" ")
            raise RequestFailedError(verb, name, *self._explain(what, answer))
        return answer

    def _bulk(self, method: str, wanted: list[Any], **options: Any) -> dict[str, Any]:
        """One request of confluent-kafka about many topics; per name None or (Kafka's error name, why)."""
        if not wanted:
            return {}
        # operation_timeout 0 would let a KRaft controller drop the request while librdkafka reports success.
        timeout = self.connection.request_timeout
        futures = getattr(self._confluent, method)(
            wanted, operation_timeout=timeout, request_timeout=timeout + 5, **options
        )
        outcomes: dict[str, Any] = {}
        for name, future in futures.items():
            try:
                # librdkafka ends each request itself; the limit is there for the day it does not.
                error = future.exception(timeout + 15)
            except concurrent.futures.TimeoutError:
                outcomes[name] = ("_TIMED_OUT", f"no answer within {timeout + 15} s")
                continue
            outcomes[name] = None if error is None else self._refusal(method, name, error.args[0])
        return outcomes

    def _refusal(self, method: str, name: str, error: Any) -> tuple[str, str]:
        """An error of librdkafka as (name, why), with what its connections reported when it was the time that ended."""
        code, why = str(error.name()), str(error.str())
        if code.startswith("_"):
            self._confluent.poll(0)
            why = "; ".join(dict.fromkeys([why, *self._events[-3:]]))
        return code, self._why(method, code, why, name)


def confluent_error() -> Any:
    """The class of what confluent-kafka raises."""
    from confluent_kafka import KafkaException

    return KafkaException


def _missing(library: str) -> MissingLibraryError:
    return MissingLibraryError(library, "to talk to the Kafka cluster", traceback.format_exc())


def explain(result: Any) -> tuple[str, str]:
    """The name of Kafka's error in a part of an answer, and what it says."""
    from kafka.errors import for_code

    error = for_code(result.error_code)
    code = getattr(error, "message", None) or error.__name__
    said = getattr(result, "error_message", None)  # Not every answer has words for its error.
    return str(code), str(said or getattr(error, "description", "") or code)

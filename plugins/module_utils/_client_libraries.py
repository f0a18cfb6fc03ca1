# Private to this collection.
# SPDX-License-Identifier: GPL-3.0-or-later
"""The two Kafka libraries, each opened at its first use because either costs a quarter of a second to import.

confluent-kafka creates, grows, deletes and lists topics. kafka-python does what librdkafka cannot: it asks for named
configuration keys only (1,000 topics in a fifth of the time), for the default broker entity, for fenced brokers
(KIP-1073), for the metadata quorum (KIP-595), for quotas, and it asks a given broker for its own view.
"""

from __future__ import annotations

import logging
import re
import traceback
from typing import TYPE_CHECKING, Any, NoReturn

from ansible_collections.streamops.kafka.plugins.module_utils._connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._errors import (
    ClusterUnreachableError,
    MissingLibraryError,
    RequestFailedError,
    StreamopsError,
)

if TYPE_CHECKING:
    from collections.abc import Callable

#: How often a call that lets the library choose a broker may draw one.
HANDSHAKES = 10


class BootstrapCause(logging.Handler):
    """Keeps why kafka-python reached no bootstrap server: its exception says only that the time is over, its log why.

    Of a login that is refused it often sees no more than a closed socket, so a refusal once seen is kept.
    """

    _TOLD = re.compile(r"Bootstrap connection to \S+ failed: (.*) \(backoff [\d.]+ secs\)", re.DOTALL)
    _REFUSED = "AuthenticationFailed"

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what one attempt says of its end."""
        told = self._TOLD.fullmatch(record.getMessage())
        if told and (self._REFUSED in told[1] or self._REFUSED not in self.text):
            self.text = told[1]


class Libraries:
    """Both libraries on one connection, what they raise turned into StreamopsErrors."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._confluent_client: Any = None
        self._python_client: Any = None
        self._events: list[str] = []

    @property
    def _confluent(self) -> Any:
        if self._confluent_client is None:
            try:
                from confluent_kafka.admin import AdminClient
            except ImportError as error:
                raise _missing("confluent-kafka") from error
            config = dict(self.connection.confluent_config(), error_cb=lambda e: self._events.append(e.str()))
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
            cause, log = BootstrapCause(), logging.getLogger("kafka")
            log.addHandler(logging.NullHandler())
            log.addHandler(cause)
            try:
                self._python_client = KafkaAdminClient(**self.connection.kafka_python_config())
            except (errors.KafkaError, OSError) as error:
                # Which of the servers said so the library does not tell.
                why = f"of one of them: {cause.text}" if cause.text else str(error)
                raise ClusterUnreachableError(dict.fromkeys(self.connection.bootstrap_servers, why)) from error
            finally:
                log.removeHandler(cause)
        return self._python_client

    def _reported(self, otherwise: str) -> dict[str, str]:
        """By bootstrap server the last thing that its connection reported."""
        said = dict.fromkeys(self.connection.bootstrap_servers, otherwise)
        for event in self._events:
            said.update({server: event for server in said if f"{server}/" in event})
        return said

    def _send(self, what: str, request: Any, node: int | None = None) -> Any:
        """Send a message of kafka-python to one broker (None = any) and return the answer."""
        if node is not None and self._python._manager.cluster.broker_metadata(node) is None:
            self._close_python()  # It came up after this client had learnt who is there.
        manager = self._python._manager

        async def exchange() -> Any:
            """The message and its answer, on the loop of the library."""
            return await manager.send(request, node_id=node)

        return self._call(what, lambda: manager.run(exchange), anybody=node is None)

    def _controller(self) -> int | None:
        """The broker that must be sent what others do not forward in ZooKeeper mode; in KRaft it is any one."""
        found = int(self._call("describe cluster", self._python.describe_cluster)["controller_id"])
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

        C(anybody): any broker may answer, so one that refuses connections, since it died a moment ago, is passed over.

        A broker whose certificate names somebody else is registered and alive all the same, and the library stays with
        it: as the controller, which on KRaft is any broker, drawn anew by every look. Nothing was sent when the
        handshake failed, nor to a broker that the library avoids since then, so any call can be repeated.
        """
        from kafka import errors

        for _repeat in range(HANDSHAKES - 1):
            try:
                return function()
            except (errors.KafkaConnectionError, errors.NodeNotReadyError) as error:
                unsent = ("Handshake failed", *(("ECONNREFUSED",) if anybody else ()))
                if isinstance(error, errors.KafkaConnectionError) and not any(sign in str(error) for sign in unsent):
                    raise
                self._python._controller_id = None
        return function()

    def _failed(self, what: str, error: Exception) -> NoReturn:
        code = getattr(error, "message", None) or type(error).__name__
        cluster = ",".join(self.connection.bootstrap_servers)
        raise RequestFailedError(what, f"of {cluster}", str(code), str(error)) from error

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
            error = future.exception()
            outcomes[name] = None if error is None else (error.args[0].name(), error.args[0].str())
        return outcomes


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
    return str(code), str(result.error_message or getattr(error, "description", "") or code)


def outcome(result: Any) -> tuple[str, str] | None:
    """None for a part of an answer that is well, else (Kafka's error name, why)."""
    return explain(result) if result.error_code else None


def sound(answer: Any, what: str) -> Any:
    """The answer, or what Kafka says against it as a whole."""
    if answer.error_code:
        raise RequestFailedError("describe", what, *explain(answer))
    return answer

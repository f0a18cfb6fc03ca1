# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One session with a cluster: the connection, its client, time limits, and errors in our own terms.

The calls of each subject are in the api.py of its room and take the session. kafka-python asks and changes: it passes
over a broker that hangs, which librdkafka, once it has taken it for the controller, waits for; it asks for named
configuration keys only (1,000 topics in a fifth of the time), for the default broker entity, for fenced brokers
(KIP-1073), for the metadata quorum (KIP-595), for quotas, and it asks a given broker for its own view. confluent-kafka
writes records (its Producer, with the configuration that a session gives); nothing else uses it. Either costs a quarter
of a second to import, so it is imported at its first use.
"""

from __future__ import annotations

import logging
import re
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from .._core.addresses import host_port
from .._core.errors import (
    ClusterUnreachableError,
    MissingLibraryError,
    RequestFailedError,
    is_denial,
    warn,
)
from .bounded import CHANGE_PATIENCE, PATIENCE, Asking, Inside, bounded_client, unsent
from .connection import Connection, denied
from .login import TICKETS, TOKENS
from .reach import reach
from .tickets import mechanism
from .tokens import TokenError, tokens_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

#: How often a call that lets the library choose a broker may draw one.
DRAWS = 10
#: Seconds between two draws when no broker may be drawn yet.
_PAUSE = 0.1
#: The packages of the libraries, by the name under which they are imported.
_LIBRARIES = {"kafka": "kafka-python", "confluent_kafka": "confluent-kafka"}
#: How a broker quotes a request in an error: an object of its own process, which tells an operator nothing.
_REQUEST_OBJECT = re.compile(r"(Request )?Request\(processor=.*\)")


class Session:
    """A session with one cluster; a context manager that fails within seconds when the cluster cannot be reached.

    Everything raises a StreamopsError: C(ClusterUnreachableError), C(AccessRefusedError), C(RequestFailedError) or
    C(MissingLibraryError).
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        #: The same with only those bootstrap servers that let us in, as far as they were tried.
        self._reached = connection
        self._python_client: Any = None
        self._hung: dict[int, str] = {}
        #: Bootstrap servers that took a connection and did not answer when they were tried.
        self._silent: frozenset[str] = frozenset()
        #: The broker that had an answer of the active controller last.
        self._answered: int | None = None

    def __enter__(self) -> Session:
        self._reach()
        return self

    def __exit__(self, _kind: object = None, error: object = None, _trace: object = None) -> None:
        self._close_python()
        # An api.py imports the messages of a request before it sends it.
        if isinstance(error, ImportError) and error.name is not None and error.name.partition(".")[0] in _LIBRARIES:
            raise _missing(_LIBRARIES[error.name.partition(".")[0]]) from error

    def _reach(self) -> None:
        """Find out which bootstrap servers let us in now; a warning for each that takes a connection and hangs."""
        reached = reach(self.connection)
        for warning in reached.warnings:
            warn(warning)
        self._reached = replace(self.connection, bootstrap_servers=reached.servers)
        self._silent = reached.silent

    def confluent_config(self) -> dict[str, Any]:
        """Return the configuration of a producer of confluent-kafka."""
        return self._reached.confluent_config()

    def python_config(self) -> dict[str, Any]:
        """The keyword arguments of a client of kafka-python."""
        return {
            **self._reached.kafka_python_config(),
            "kafka_client": partial(bounded_client, self._hung, self._silent),
            **self._shown(),
        }

    def _shown(self) -> dict[str, Any]:
        """Return what gives kafka-python its tokens or tickets; nothing where nobody logs in with these."""
        login = self.connection.login
        if login is None or login.mechanism not in (TOKENS, TICKETS):
            return {}
        from kafka import errors

        if login.mechanism == TICKETS:
            from kafka.net.sasl import register_sasl_mechanism
            from kafka.net.sasl.abc import SaslMechanism

            ours = mechanism(SaslMechanism, errors.KafkaConnectionError)
            register_sasl_mechanism(TICKETS, ours, overwrite=True)
            # The only option of the library that takes any object: what it hands to the mechanism.
            return {"sasl_kerberos_name": login}
        from kafka.net.sasl.oauth import AbstractTokenProvider

        class Provider(AbstractTokenProvider):  # type: ignore[misc]  # The library ships no types.
            """The tokens of this login, which was tried before a client is made: mostly there is one."""

            def token(self) -> str:
                """Return a token; an error of a connection where there is none, after which the library tries again."""
                try:
                    return tokens_of(login).token()
                except TokenError as error:
                    raise errors.KafkaConnectionError(str(error)) from error

        return {"sasl_oauth_token_provider": Provider()}

    @property
    def python(self) -> Any:
        """The administrator's client of kafka-python."""
        if self._python_client is None:
            try:
                from kafka import errors
                from kafka.admin import KafkaAdminClient
            except ImportError as error:
                raise _missing("kafka-python") from error
            logging.getLogger("kafka").addHandler(logging.NullHandler())
            try:
                self._python_client = KafkaAdminClient(**self.python_config())
            except (errors.KafkaError, OSError) as error:
                raise ClusterUnreachableError(
                    dict.fromkeys(self._reached.bootstrap_servers, f"{error}{self._who_hangs()}")
                ) from error
        return self._python_client

    def _inside(self) -> Inside:
        return Inside(self.python)

    def send(self, what: str, request: Any, node: int | None = None) -> Any:
        """Send a message of kafka-python to one broker (None = any) and return the answer."""
        if node is not None and self._inside().broker(node) is None:
            self._close_python()  # It came up after this client had learnt who is there.
        return self.call(what, lambda: self._exchange(request, node), anybody=node is None)

    def send_to_each(self, request: Callable[[], Any], nodes: Sequence[int]) -> dict[int, Any]:
        """Send a message that changes nothing to each of these brokers at the same time; return the answers by broker.

        Who does not answer in C(request_timeout) seconds, or refuses, is left out. C(request) makes a message:
        kafka-python writes the version that a broker takes into it.
        """
        from kafka import errors

        inside = self._inside()
        if any(inside.broker(node) is None for node in nodes):
            self._close_python()  # One came up after this client had learnt who is there.
            self._inside()

        def answered(node: int) -> Any:
            """Return the answer of a broker, None without one."""
            try:
                return self._exchange(request(), node, self.connection.request_timeout)
            except errors.KafkaError:
                return None

        with ThreadPoolExecutor(max_workers=max(len(nodes), 1)) as pool:
            asked = {node: pool.submit(answered, node) for node in nodes}
        return {node: future.result() for node, future in asked.items() if future.result() is not None}

    def send_to_controller(self, what: str, request: Any, seconds: float | None = None) -> Any:
        """Send a message to the controller, which is looked up again when it does not take the message.

        C(seconds) is the time for an answer, where it is not C(request_timeout).
        """
        return self.call(what, lambda: self._exchange(request, self._controller(), seconds))

    def ask(self, what: str, request: Any, codes: Callable[[Any], Iterable[int]]) -> Any:
        """Send a message that changes nothing to one broker, and to others beside it until one answers; the answer.

        For what a broker must ask the active controller (bounded.py). C(codes) takes the codes of Kafka's errors out of
        an answer. What is sent next to any broker goes to the one that answered. Raises RequestFailedError when no
        broker had an answer in C(request_timeout) seconds, or in a little more than C(CONTROLLER_HANGS) where that is
        as long.
        """
        return self._ask(what, request, codes, PATIENCE)[0]

    def ask_twice(self, what: str, request: Any, codes: Callable[[Any], Iterable[int]]) -> tuple[Any, bool]:
        """Send a change that does no harm twice as C(ask) does; the answer, and whether it may be about the second one.

        Then the first one may have been carried out, by a broker that did not say so in time.
        """
        return self._ask(what, request, codes, CHANGE_PATIENCE)

    def _ask(self, what: str, request: Any, codes: Callable[[Any], Iterable[int]], patience: float) -> tuple[Any, bool]:
        from kafka import errors

        asking = Asking(lambda node, left: self._exchange(request, node, left), codes, self.connection.request_timeout)
        try:
            self._answered, answer = asking.first(self._around(), patience)
        except errors.KafkaError as error:
            self.failed(what, error)
        finally:
            self._drop(asking.waiting)
        return answer, asking.asked > 1

    def _drop(self, nodes: Collection[int | None]) -> None:
        """Close the connections to brokers that have not answered yet: what is sent next there would wait for that.

        One that is not ready yet is left to its end, which notes that its broker hangs (bounded.py).
        """
        if not nodes or self._python_client is None:
            return
        self._inside().close_ready(nodes)

    def _around(self) -> Iterator[int | None]:
        """Every broker again and again: who had the last answer, then the controller as far as it is known, and those
        that hang last."""
        while True:
            inside = self._inside()
            first = inside.controller()

            def rank(node: int, first: int | None = first) -> tuple[bool, bool, bool]:
                """Return how late a broker is asked."""
                return self._hangs(node), node != self._answered, node != first

            yield from sorted(inside.brokers(), key=rank) or (None,)

    def _hangs(self, node: int) -> bool:
        """Say whether a broker took a connection and did not answer, of this client or when the servers were tried."""
        where = self._inside().broker(node) if self._silent else None
        return node in self._hung or (where is not None and host_port(where.host, where.port) in self._silent)

    def _exchange(self, request: Any, node: int | None, seconds: float | None = None) -> Any:
        """Send a message to a broker (None = any); C(seconds) is its time, where it is not C(request_timeout)."""
        inside = self._inside()
        if node is None and inside.broker(self._answered) is not None:
            node = self._answered
        return inside.exchange(request, node, seconds)

    def _controller(self) -> int | None:
        """The broker that must be sent what others do not forward in ZooKeeper mode; in KRaft it is any one."""
        if self._answered is not None:
            return self._answered
        try:
            found = int(self.call("describe cluster", self.python.describe_cluster)["controller_id"])
        except RequestFailedError as error:  # What was meant for the controller did not leave.
            raise RequestFailedError(**error.fields, unsent=True) from error
        return found if found >= 0 and not self._hangs(found) else None

    def _close_python(self) -> None:
        if self._python_client is not None:
            self._python_client.close()
            self._python_client = None

    def call(self, what: str, function: Callable[[], Any], anybody: bool = True) -> Any:
        """Return what a function of kafka-python returns; C(what) names the request when it fails."""
        from kafka import errors

        try:
            return self.asked(function, anybody)
        except errors.KafkaError as error:
            self.failed(what, error)

    def asked(self, function: Callable[[], Any], anybody: bool = True) -> Any:
        """Return the result of a function of kafka-python that chooses its broker: not one that nobody can talk to.

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
                self._answered = None
                if not anybody or not unsent(error) or time.monotonic() > until:
                    raise
                self.python._controller_id = None
                if isinstance(error, errors.NodeNotReadyError):
                    time.sleep(_PAUSE)
        return function()

    def failed(self, what: str, error: Exception) -> NoReturn:
        """Raise RequestFailedError for an error of kafka-python; C(what) names the request."""
        from kafka import errors

        code = str(getattr(error, "message", None) or type(error).__name__)
        never = unsent(error) or isinstance(error, (errors.IncompatibleBrokerVersion, errors.UnknownBrokerIdError))
        cluster = ",".join(self.connection.bootstrap_servers)
        why = self.why(what, code, f"{error}{self._who_hangs()}")
        raise RequestFailedError(what, f"of {cluster}", code, why, never) from error

    def _who_hangs(self) -> str:
        """Return which brokers took a connection and did not answer, behind an error."""
        named = ", ".join(f"broker {node} at {address}" for node, address in self._hung.items())
        return f"; these took a connection and did not answer: {named}" if named else ""

    def explain(self, what: str, result: Any, name: str = "") -> tuple[str, str]:
        """Kafka's name of the error in a part of an answer, and why; C(what) is the request, C(name) its topic."""
        code, why = explain(result)
        return code, self.why(what, code, why, name)

    def why(self, what: str, code: str, why: str, name: str = "") -> str:
        """Kafka's words for an error. For a missing right it is our own sentence, which says who needs which right."""
        return denied(self.connection, what, code, name) if is_denial(code) else _REQUEST_OBJECT.sub("the request", why)

    def outcome(self, what: str, result: Any, name: str = "") -> tuple[str, str] | None:
        """None for a part of an answer that is well, else (Kafka's error name, why)."""
        return self.explain(what, result, name) if result.error_code else None

    def sound(self, answer: Any, what: str) -> Any:
        """The answer, or what Kafka says against it as a whole; C(what) is the request, two words or more."""
        if answer.error_code:
            verb, _space, name = what.partition(" ")
            raise RequestFailedError(verb, name, *self.explain(what, answer))
        return answer


def load_library() -> None:
    """Import kafka-python whole: for a service, before its threads open sessions. Raises MissingLibraryError.

    Its modules import each other in circles. Where two threads come upon such a circle from two sides, Python ends the
    import of one of them (_DeadlockError), and the session of that thread fails.
    """
    try:
        import kafka.admin  # noqa: F401
    except ImportError as error:
        raise _missing("kafka-python") from error


def _missing(library: str) -> MissingLibraryError:
    return MissingLibraryError(library, "to talk to the Kafka cluster", traceback.format_exc())


def explain(result: Any) -> tuple[str, str]:
    """The name of Kafka's error in a part of an answer, and what it says."""
    from kafka.errors import for_code

    error = for_code(result.error_code)
    code = getattr(error, "message", None) or error.__name__
    said = getattr(result, "error_message", None)  # Not every answer has words for its error.
    return str(code), str(said or getattr(error, "description", "") or code)

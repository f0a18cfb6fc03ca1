# SPDX-License-Identifier: GPL-3.0-or-later
"""How the client reads answers and says what went wrong; calls against brokers are in tests/integration."""

from __future__ import annotations

import contextlib
import functools
import os
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaConnectionError, NodeNotReadyError, RequestTimedOutError

from ansible_collections.streamops.kafka.plugins.module_utils._client.bounded import bounded_client, unsent
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import DRAWS, Session, explain
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import describe_quorum
from ansible_collections.streamops.kafka.plugins.module_utils._core.applied import Applied
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    ClusterUnreachableError,
    MissingLibraryError,
    RequestFailedError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import TopicSpec, create_topics
from tests.support.imports import ROOT, files, imports


def part(code: int, said: str | None = None) -> SimpleNamespace:
    """A part of an answer as the protocol gives it."""
    return SimpleNamespace(error_code=code, error_message=said)


@pytest.fixture
def session() -> Session:
    """The calls of somebody who is logged in."""
    return Session(
        Connection(("a:1",), security_protocol="SASL_SSL", sasl_mechanism="SCRAM-SHA-512", sasl_username="alice")
    )


def test_a_part_that_is_well_has_no_outcome(session: Session) -> None:
    assert session.outcome("alter quotas", part(0)) is None


def test_an_error_has_kafkas_name_and_the_brokers_words(session: Session) -> None:
    told = ("POLICY_VIOLATION", "min.insync.replicas is too low")
    assert session.outcome("alter configs", part(44, told[1])) == told


def test_an_object_of_the_brokers_process_is_not_quoted(session: Session) -> None:
    quoted = "Request Request(processor=1, connectionId=10.0.0.1:9092-10.0.0.2:4-0, session=Session(User:a,/10.0.0.2))"
    assert session.explain("alter configs", part(42, f"{quoted} is refused")) == (
        "INVALID_REQUEST",
        "the request is refused",
    )


def test_an_error_without_words_gets_those_of_the_library() -> None:
    code, why = explain(part(3))
    assert code == "UNKNOWN_TOPIC_OR_PARTITION"
    assert "does not" in why


def test_an_answer_refused_as_a_whole_is_an_error_with_its_subject(session: Session) -> None:
    assert session.sound(answer := part(0), "describe ACLs") is answer
    with pytest.raises(RequestFailedError, match=r"^describe ACLs: not now") as failed:
        session.sound(part(41, "not now"), "describe ACLs")
    assert failed.value.passing


@pytest.mark.parametrize(
    ("what", "code", "name", "needs"),
    [
        ("describe ACLs", 31, "", "the operation describe on the cluster"),
        ("alter SCRAM credentials", 31, "", "the operation alter on the cluster"),
        ("configs of", 29, "orders", "the operation describe_configs on the topic orders"),
        ("list offsets of group g", 30, "g", "the operation describe on the group g"),
    ],
)
def test_a_missing_right_is_named_with_who_needs_it_and_never_waited_for(
    session: Session, what: str, code: int, name: str, needs: str
) -> None:
    found, why = session.explain(what, part(code, "Request Request(processor=2) needs something"), name)
    assert "User:alice" in why
    assert needs in why
    assert not RequestFailedError(what, name, found, why).passing


class Opened(Session):
    """A session that needs no cluster."""

    def __enter__(self) -> Opened:
        return self


def test_a_library_that_is_missing_is_named_and_another_one_is_not_hidden() -> None:
    with pytest.raises(MissingLibraryError, match="kafka-python is needed"), Opened(Connection(("a:1",))):
        raise ModuleNotFoundError("No module named 'kafka'", name="kafka.protocol")
    with pytest.raises(ModuleNotFoundError, match="lz4"), Opened(Connection(("a:1",))):
        raise ModuleNotFoundError("No module named 'lz4'", name="lz4")


class Drawing(Session):
    """A connection whose calls end as told, one after the other; a first broker is what the library stays with."""

    def __init__(self, *outcomes: Any) -> None:
        super().__init__(Connection.from_params({"bootstrap_servers": ["kafka1:9092"]}))
        self.outcomes = list(outcomes)
        self._python_client = SimpleNamespace(_controller_id=1)

    def ask(self) -> Any:
        """The next outcome, raised or returned."""
        return self.asked(self._next)

    def _next(self) -> Any:
        outcome = self.outcomes.pop(0)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


def marked(text: str) -> KafkaConnectionError:
    """What a connection ends with that was not ready yet, as bounded_client marks it."""
    error = KafkaConnectionError(text)
    error.unsent = True
    return error


WRONG_NAME = marked("Handshake failed: IP address mismatch")


@pytest.mark.parametrize("refusal", [WRONG_NAME, NodeNotReadyError(1)])
def test_a_broker_with_a_wrong_certificate_does_not_keep_others_from_answering(refusal: Exception) -> None:
    for refusals in (1, DRAWS - 1):
        drawing = Drawing(*[refusal] * refusals, "answer")
        assert drawing.ask() == "answer"
        assert drawing.python._controller_id is None, "another one is drawn"


def test_a_call_that_may_have_arrived_is_not_repeated() -> None:
    with pytest.raises(KafkaConnectionError, match="disconnected"):
        Drawing(KafkaConnectionError("socket disconnected"), "answer").ask()


def test_the_draws_come_to_an_end() -> None:
    with pytest.raises(KafkaConnectionError, match="mismatch"):
        Drawing(*[WRONG_NAME] * DRAWS, "answer").ask()


def test_what_was_not_sent_to_the_one_broker_that_was_meant_is_not_repeated() -> None:
    drawing = Drawing(WRONG_NAME, "answer")
    with pytest.raises(KafkaConnectionError, match="mismatch"):
        drawing.asked(drawing._next, anybody=False)


# -- a broker that takes connections and never answers, as a process that is stopped ------------------------------


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a listener whose connections the kernel takes and nobody ever reads."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield f"127.0.0.1:{server.getsockname()[1]}"


@contextlib.contextmanager
def manager_of(hung: dict[int, str], **config: Any) -> Iterator[Any]:
    """The connections of a client whose loop runs, closed at the end: its coroutines are not left to the collector."""
    client = bounded_client(hung, **config)
    client._manager._net.start()
    try:
        yield client._manager
    finally:
        client.close()


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_broker_that_hangs_is_given_up_and_named(protocol: str, silent: str) -> None:
    # Without a limit of its own kafka-python waits for the handshake for ever: this test would not end.
    asking = Session(Connection((silent,), security_protocol=protocol, request_timeout=1))
    with contextlib.ExitStack() as ending:
        ending.push(asking)
        with pytest.raises(ClusterUnreachableError) as failed:
            asking.call("describe cluster", lambda: asking.python)
    assert f"these took a connection and did not answer: broker bootstrap-0 at {silent}" in failed.value.message


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_a_broker_that_hung_is_not_drawn_again_for_a_while(protocol: str, silent: str) -> None:
    hung: dict[int, str] = {}
    server = {"bootstrap_servers": [silent], "security_protocol": protocol, "request_timeout_ms": 300}
    with manager_of(hung, **server) as manager:
        with pytest.raises(KafkaConnectionError) as failed:
            manager.run(lambda: manager.get_connection("bootstrap-0").init_future)
        assert unsent(failed.value)
        assert hung == {"bootstrap-0": silent}
        assert manager.connection_delay("bootstrap-0") > 5


def test_a_request_that_never_left_says_so_whoever_it_was_meant_for() -> None:
    for error, never in ((marked("refused"), True), (KafkaConnectionError("socket disconnected"), False)):
        with pytest.raises(RequestFailedError) as failed:
            Drawing(*[error] * DRAWS).failed("alter quotas", error)
        assert failed.value.unsent is never


def test_what_was_meant_for_a_controller_that_nobody_names_was_not_sent() -> None:
    asking = Session(Connection(("a:1",)))

    def describe() -> None:
        raise RequestTimedOutError("no answer")

    asking._python_client = SimpleNamespace(describe_cluster=describe, _manager=None)
    with pytest.raises(RequestFailedError, match="describe cluster") as failed:
        asking.send_to_controller("alter SCRAM credentials", None)
    assert failed.value.unsent


def keeps_answers(connection: socket.socket, port: int) -> None:
    """A broker that says what it can do and who it is, and never answers CreateTopics."""
    with contextlib.suppress(OSError, struct.error):
        while True:
            (size,) = struct.unpack(">i", connection.recv(4))
            request = connection.recv(size)
            key, version = struct.unpack(">hh", request[:4])
            if key == 18:
                able = b"".join(struct.pack(">hhh", *one) for one in ((3, 0, 1), (18, 0, 0), (19, 0, 2)))
                body = struct.pack(">hi", 35 if version else 0, 3) + able
            elif key == 3:
                host = b"127.0.0.1"
                address = struct.pack(">h", len(host)) + host + struct.pack(">ih", port, -1)
                body = struct.pack(">ii", 1, 1) + address + struct.pack(">ii", 1, 0)
            else:
                continue
            connection.sendall(struct.pack(">i", len(body) + 4) + request[4:8] + body)


def answers(connection: socket.socket, port: int, holds: int, ports: list[int], held: threading.Event) -> None:
    """One of two brokers: it says who both are, and what became of CreateTopics, but for the one that holds it back."""
    with contextlib.suppress(OSError, struct.error):
        while True:
            (size,) = struct.unpack(">i", connection.recv(4))
            request = connection.recv(size)
            key, version = struct.unpack(">hh", request[:4])
            if key == 18:
                able = b"".join(struct.pack(">hhh", *one) for one in ((3, 0, 1), (18, 0, 0), (19, 0, 0)))
                body = struct.pack(">hi", 35 if version else 0, 3) + able
            elif key == 3:
                host = b"127.0.0.1"
                addresses = [struct.pack(">h", len(host)) + host + struct.pack(">ih", port, -1) for port in ports]
                body = struct.pack(">i", 2) + b"".join(struct.pack(">i", n) + a for n, a in enumerate(addresses, 1))
                body += struct.pack(">ii", 1, 0)
            elif port == ports[holds]:
                if connection.recv(1) == b"":
                    held.set()
                return
            else:
                body = struct.pack(">ih", 1, 6) + b"orders" + struct.pack(">h", 0)
            connection.sendall(struct.pack(">i", len(body) + 4) + request[4:8] + body)


@pytest.mark.parametrize("holds", [0, 1])
def test_a_broker_that_holds_a_question_back_does_not_keep_another_one_from_answering(holds: int) -> None:
    ports: list[int] = []
    closed = threading.Event()
    with contextlib.ExitStack() as opened:
        for _broker in (1, 2):
            talk = functools.partial(answers, holds=holds, ports=ports, held=closed)
            ports.append(opened.enter_context(serving(talk)))
        session = opened.enter_context(Session(Connection((f"127.0.0.1:{ports[1 - holds]}",), request_timeout=20)))
        # Twice: what is sent next does not wait behind what was held back, and goes to who answered.
        for _time in range(2):
            assert create_topics(session, [TopicSpec("orders", 1, 1, {})], validate_only=holds == 0) == {"orders": None}
            assert session._answered == 2 - holds
        # The controller, broker 1, is asked first: only where it holds the question back a connection is closed.
        assert closed.wait(10 if holds == 0 else 0) is (holds == 0)


def test_a_server_that_did_not_answer_is_not_drawn_while_there_is_another_one(silent: str) -> None:
    ports = [int(silent.rpartition(":")[2])]
    talk = functools.partial(answers, holds=0, ports=ports, held=threading.Event())
    with serving(talk) as port:
        ports.append(port)
        servers = (f"127.0.0.1:{port}", silent)
        with Session(Connection(servers, request_timeout=3)) as session:
            assert session._silent == {silent}
            drawn = session.python._manager.least_loaded_node
            assert {drawn() for _time in range(20)} == {2}
            assert next(session._around()) == 2, "broker 1 is the controller, and it hangs"


@contextlib.contextmanager
def serving(talk: Callable[[socket.socket, int], None]) -> Iterator[int]:
    """The port of a server of one talk."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def accept() -> None:
            with contextlib.suppress(OSError):
                while True:
                    threading.Thread(target=talk, args=(server.accept()[0], port), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield port


def test_a_topic_whose_creation_was_not_answered_is_in_doubt() -> None:
    with serving(keeps_answers) as port:
        calls = Session(Connection((f"127.0.0.1:{port}",), request_timeout=1))
        applied = Applied[str]("topic")
        with (
            pytest.raises(RequestFailedError) as failed,
            applied.truthful(lambda done: [Change(done[0], {}, {})], True),
        ):
            applied.ask(["orders"], lambda: create_topics(calls, [TopicSpec("orders", 1, 1, {})]))
    assert failed.value.done["changed"] is True
    assert "No clear answer came for orders, so these may be done or not." in failed.value.message


def test_a_broker_that_answers_again_is_not_blamed_any_more() -> None:
    frozen = threading.Event()

    def talk(connection: socket.socket, port: int) -> None:
        if frozen.is_set():
            keeps_answers(connection, port)
        else:
            frozen.wait(10)

    hung: dict[int, str] = {}
    with serving(talk) as port:
        server = {"bootstrap_servers": [f"127.0.0.1:{port}"], "request_timeout_ms": 400}
        with manager_of(hung, **server) as manager:
            with pytest.raises(KafkaConnectionError):
                manager.run(lambda: manager.get_connection("bootstrap-0").init_future)
            assert list(hung) == ["bootstrap-0"]
            frozen.set()
            manager.connection_delay = lambda _node: 0.0
            manager.run(lambda: manager.get_connection("bootstrap-0").init_future)
    assert hung == {}


def test_an_address_of_a_broker_that_does_not_answer_leaves_time_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.ExitStack() as opened:
        port = opened.enter_context(serving(keeps_answers))
        full = opened.enter_context(socket.socket())
        full.bind(("127.0.0.2", port))
        full.listen(0)
        for _one in range(8):
            waiting = opened.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.2", port))
        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, port)) for host in ("127.0.0.2", "127.0.0.1")]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_asked, **_more: found)
        server = {"bootstrap_servers": [f"kafka.example.com:{port}"], "request_timeout_ms": 2000}
        with manager_of({}, **server) as manager:
            manager.run(lambda: manager.get_connection("bootstrap-0").init_future)


def test_what_the_library_could_not_send_is_told_from_what_may_have_arrived() -> None:
    assert unsent(NodeNotReadyError(1))
    assert unsent(WRONG_NAME)
    assert not unsent(KafkaConnectionError("socket disconnected"))


# -- what only the active controller knows, asked of one broker after the other -----------------------------------


class Forwarding(Session):
    """A cluster of brokers 1 to 3, each of which answers with a code or raises."""

    def __init__(self, seconds: int = 1, **outcomes: Any) -> None:
        super().__init__(Connection(("a:1",), request_timeout=seconds))
        self.outcomes = {int(name[1:]): outcome for name, outcome in outcomes.items()}
        self.asked_of: list[int | None] = []
        brokers = [SimpleNamespace(node_id=number) for number in self.outcomes]
        known = {broker.node_id: broker for broker in brokers}
        cluster = SimpleNamespace(controller=brokers[0], brokers=lambda: brokers, broker_metadata=known.get)
        self._python_client = SimpleNamespace(_manager=SimpleNamespace(cluster=cluster))

    def _exchange(self, _request: Any, node: int | None, _seconds: float | None = None) -> Any:
        self.asked_of.append(node)
        outcome = self.outcomes[node or 0]
        if isinstance(outcome, Exception):
            raise outcome
        return SimpleNamespace(error_code=outcome, error_message=None, topics=[])

    def question(self) -> Any:
        """Ask for anything."""
        return self.ask("describe quorum", None, lambda answer: [answer.error_code])


@pytest.mark.parametrize(
    "silent_one", [7, 41, RequestTimedOutError("no answer"), marked("hangs"), NodeNotReadyError(1)]
)
def test_a_broker_without_an_answer_of_the_controller_is_passed_over(silent_one: Any) -> None:
    asking = Forwarding(b1=silent_one, b2=0, b3=0)
    assert asking.question().error_code == 0
    assert asking.asked_of == [1, 2]
    assert asking._controller() == 2, "a change goes to the broker that knows the controller"


def test_a_broker_that_hangs_is_asked_last() -> None:
    asking = Forwarding(b1=0, b2=7, b3=0)
    asking._hung[1] = "a:1"
    asking.question()
    assert asking.asked_of == [2, 3]


def test_a_broker_that_lets_us_wait_is_waited_for_beside_the_next_one() -> None:
    answered = threading.Event()

    class Waiting(Forwarding):
        """Broker 1 answers late, and the others only that they know no controller."""

        def _exchange(self, request: Any, node: int | None, seconds: float | None = None) -> Any:
            if node == 1:
                answered.wait(seconds)
            elif len(self.asked_of) > 3:
                answered.set()
            return super()._exchange(request, node, seconds)

        def _drop(self, nodes: Any) -> None:
            assert 1 not in nodes, "its answer has come"

    asking = Waiting(b1=0, b2=41, b3=41, seconds=9)
    assert asking.question().error_code == 0
    assert asking._answered == 1
    assert asking.asked_of.count(1) == 1, "who is waited for is not asked again"


def test_the_next_question_goes_to_who_answered_the_last_one() -> None:
    asking = Forwarding(b1=41, b2=41, b3=0)
    asking.question()
    asking.asked_of.clear()
    asking.question()
    assert asking.asked_of == [3]


def test_a_refusal_is_an_answer() -> None:
    asking = Forwarding(b1=31, b2=0)
    assert asking.question().error_code == 31


def test_without_any_answer_all_are_asked_until_the_time_is_over() -> None:
    asking = Forwarding(b1=7, b2=7, b3=7)
    with pytest.raises(RequestFailedError, match="REQUEST_TIMED_OUT") as failed:
        asking.question()
    assert {1, 2, 3} == set(asking.asked_of)
    assert failed.value.passing


def test_a_quorum_without_an_answer_is_unknown() -> None:
    found = describe_quorum(Forwarding(b1=7))
    assert found is not None
    assert "no broker got an answer from the active controller" in (found.error or "")


def test_a_service_has_loaded_all_of_the_library_that_its_threads_import_later() -> None:
    """Two threads that import parts of it at once end in a _DeadlockError of Python."""
    places = [*files("plugins/module_utils"), *files("page"), *files("canary")]
    later = sorted({one for path in places for one in imports(path) if one.partition(".")[0] == "kafka"})
    assert "kafka.protocol.metadata" in later
    asked = (
        "import sys; from ansible_collections.streamops.kafka.plugins.module_utils._client import session; "
        f"session.load_library(); print([one for one in {later} if one not in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, timeout=60, check=True,
                          env={**os.environ, "PYTHONPATH": str(ROOT / "collections")})  # fmt: skip
    assert done.stdout.strip() == "[]"

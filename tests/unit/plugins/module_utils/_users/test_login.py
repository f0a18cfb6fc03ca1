"""Trying a login: what a broker may answer, and that nothing takes longer than it may."""

from __future__ import annotations

import base64
import hashlib
import hmac
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._core.scram import salted_password
from ansible_collections.streamops.kafka.plugins.module_utils._users.login import Login, try_logins
from ansible_collections.streamops.kafka.plugins.module_utils._users.plan import ACCEPTED, REFUSED, UNTRIED, DesiredUser

ALICE = DesiredUser("alice", password="s3cret")
Talk = Callable[[socket.socket], None]


class Broker:
    """A server of one talk for each connection, on a port of its own; counts connections."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.connections = 0
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def address(self) -> str:
        """host:port."""
        return f"127.0.0.1:{self._socket.getsockname()[1]}"

    def _serve(self) -> None:
        while True:
            try:
                connection, _peer = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._talk(connection)
            except OSError:
                return  # The client went away.

    def close(self) -> None:
        """No more connections."""
        self._socket.close()


def read(connection: socket.socket) -> tuple[int, bytes]:
    """The API key and the body of a request."""
    (size,) = struct.unpack(">i", connection.recv(4))
    message = connection.recv(size)
    key, _version, _correlation, length = struct.unpack_from(">hhih", message)
    return key, message[10 + length :]


def reply(connection: socket.socket, body: bytes) -> None:
    """An answer to the request before."""
    connection.sendall(struct.pack(">ii", len(body) + 4, 1) + body)


def authenticated(code: int, message: bytes = b"") -> bytes:
    """The body of an answer to SaslAuthenticate."""
    return struct.pack(">hh", code, -1) + struct.pack(">i", len(message)) + message


def kafka(password: str, mechanisms: tuple[str, ...] = ("SCRAM-SHA-512",)) -> Talk:
    """What a broker does that knows one password of everybody."""

    def talk(connection: socket.socket) -> None:
        key, body = read(connection)
        assert key == 17
        if body[2:].decode() not in mechanisms:
            return reply(connection, struct.pack(">hi", 33, 0))
        reply(connection, struct.pack(">hi", 0, 0))
        bare = read(connection)[1][4 + 3 :]
        nonce = bare.split(b"r=")[1] + b"server"
        first = b"r=" + nonce + b",s=" + base64.b64encode(b"salt") + b",i=64"
        reply(connection, authenticated(0, first))
        without_proof, proof = read(connection)[1][4:].split(b",p=")
        signed = b",".join([bare, first, without_proof])
        salted = salted_password("SCRAM-SHA-512", password, b"salt", 64)
        client_key = hmac.digest(salted, b"Client Key", "sha512")
        signature = hmac.digest(hashlib.sha512(client_key).digest(), signed, "sha512")
        if bytes(a ^ b for a, b in zip(client_key, signature, strict=True)) != base64.b64decode(proof):
            return reply(connection, authenticated(58))
        server = hmac.digest(hmac.digest(salted, b"Server Key", "sha512"), signed, "sha512")
        return reply(connection, authenticated(0, b"v=" + base64.b64encode(server)))

    return talk


@pytest.fixture
def broker() -> Iterator[Callable[[Talk], Broker]]:
    """Starts brokers that end with the test."""
    started: list[Broker] = []

    def start(talk: Talk) -> Broker:
        started.append(Broker(talk))
        return started[-1]

    yield start
    for one in started:
        one.close()


def login(*servers: str, timeout: float = 10) -> Login | None:
    """How to log in at servers, without TLS."""
    return Login.of(Connection(servers, security_protocol="SASL_PLAINTEXT"), None, None, timeout)


@pytest.mark.parametrize(("known", "said"), [("s3cret", ACCEPTED), ("other", REFUSED)])
def test_a_login_says_whether_the_password_is_the_one_of_kafka(broker: Any, known: str, said: str) -> None:
    assert try_logins(login(broker(kafka(known)).address), [ALICE]) == ({ALICE.key: said}, {})


def test_a_server_that_does_not_answer_is_passed_over(broker: Any) -> None:
    said, why = try_logins(login("127.0.0.1:1", broker(kafka("s3cret")).address), [ALICE])
    assert (said, why) == ({ALICE.key: ACCEPTED}, {})


def closes(connection: socket.socket) -> None:
    """A server that hangs up."""
    read(connection)


def babbles(connection: socket.socket) -> None:
    """A server that speaks something else."""
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def waits(connection: socket.socket) -> None:
    """A server that never answers."""
    while connection.recv(100):
        pass


def refuses_otherwise(connection: socket.socket) -> None:
    """A broker in trouble: UNKNOWN_SERVER_ERROR."""
    read(connection)
    reply(connection, struct.pack(">hi", -1, 0))


def short(connection: socket.socket) -> None:
    """An answer that ends too early."""
    read(connection)
    reply(connection, b"")


UNTRIABLE = [
    (kafka("s3cret", ("PLAIN",)), "does not offer SCRAM-SHA-512"),
    (closes, "closed the connection"),
    (babbles, "does not speak Kafka's protocol"),
    (waits, "time"),
    (refuses_otherwise, "Kafka's error -1"),
    (short, "requires a buffer"),
]


@pytest.mark.parametrize(("talk", "reason"), UNTRIABLE, ids=[reason for _talk, reason in UNTRIABLE])
def test_what_is_no_answer_to_the_question_is_never_taken_for_a_refusal(broker: Any, talk: Talk, reason: str) -> None:
    said, why = try_logins(login(broker(talk).address, timeout=0.5), [ALICE])
    assert said == {ALICE.key: UNTRIED}
    assert reason in why["SCRAM-SHA-512"]
    assert "s3cret" not in why["SCRAM-SHA-512"]


def test_when_the_first_of_a_mechanism_cannot_be_tried_the_others_are_not(broker: Any) -> None:
    server = broker(closes)
    specs = [DesiredUser(f"user{number}", password="p") for number in range(50)]
    said, why = try_logins(login(server.address), specs)
    assert set(said.values()) == {UNTRIED}
    assert server.connections == 1
    assert list(why) == ["SCRAM-SHA-512"]


def test_one_mechanism_that_is_not_offered_does_not_keep_another_from_being_tried(broker: Any) -> None:
    other = DesiredUser("alice", "SCRAM-SHA-256", password="s3cret")
    said, why = try_logins(login(broker(kafka("s3cret")).address), [other, ALICE])
    assert said == {other.key: UNTRIED, ALICE.key: ACCEPTED}
    assert list(why) == ["SCRAM-SHA-256"]


def test_many_users_are_tried_each_with_its_own_password(broker: Any) -> None:
    specs = [DesiredUser(f"user{number}", password="s3cret" if number % 2 else "old") for number in range(40)]
    said, _why = try_logins(login(broker(kafka("s3cret")).address), specs)
    assert [said[spec.key] for spec in specs] == [REFUSED, ACCEPTED] * 20


@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL"])
def test_without_a_sasl_listener_nothing_is_tried_and_the_way_out_is_told(protocol: str) -> None:
    said, why = try_logins(Login.of(Connection(("h:1",), security_protocol=protocol), None, None, 1), [ALICE])
    assert said == {ALICE.key: UNTRIED}
    assert "login_security_protocol" in why["SCRAM-SHA-512"]


def test_a_listener_for_logins_may_be_another_than_that_of_the_connection() -> None:
    found = Login.of(Connection(("h:1",), security_protocol="SSL"), ["other:2"], "SASL_SSL", 1)
    assert found is not None
    assert (found.connection.bootstrap_servers, found.connection.security_protocol) == (("other:2",), "SASL_SSL")


def test_tls_files_that_cannot_be_read_are_an_error_that_names_the_option() -> None:
    where = Connection(("h:1",), security_protocol="SASL_SSL", ssl_ca_location="/no/such/file")
    with pytest.raises(StreamopsError, match="TLS files cannot be used"):
        try_logins(Login.of(where, None, None, 1), [ALICE])

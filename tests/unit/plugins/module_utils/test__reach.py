"""Which servers let us in: all are asked at once, each in bounded time; what is final is told from what passes."""

from __future__ import annotations

import socket
import ssl
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._errors import AccessRefusedError, ClusterUnreachableError
from ansible_collections.streamops.kafka.plugins.module_utils._reach import reach
from tests.support.certificates import Issued, issue

Talk = Callable[[socket.socket], None]
Serve = Callable[..., str]


def read(connection: socket.socket) -> bytes:
    """A request without its size."""
    (size,) = struct.unpack(">i", connection.recv(4))
    return connection.recv(size)


def reply(connection: socket.socket, body: bytes) -> None:
    """An answer."""
    connection.sendall(struct.pack(">ii", len(body) + 4, 1) + body)


def broker(connection: socket.socket) -> None:
    """Answers ApiVersions and then takes the password s3cret by PLAIN."""
    read(connection)
    reply(connection, struct.pack(">hi", 0, 0))
    if mechanism := connection.recv(4):
        (size,) = struct.unpack(">i", mechanism)
        wanted = connection.recv(size)[-5:]
        reply(connection, struct.pack(">hi", 0 if wanted == b"PLAIN" else 33, 0))
        known = read(connection).endswith(b"\0s3cret")
        reply(connection, struct.pack(">hhi", 0 if known else 58, -1, 0))


def silent(connection: socket.socket) -> None:
    """Takes the connection and never answers, as a process that is stopped."""
    while connection.recv(4096):
        pass


def babbles(connection: socket.socket) -> None:
    """Speaks something else."""
    read(connection)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Starts a server of one talk, with TLS where there is a context; its address."""
    open_sockets: list[socket.socket] = []

    def start(talk: Talk, context: ssl.SSLContext | None = None) -> str:
        listener = socket.create_server(("127.0.0.1", 0))
        open_sockets.append(listener)

        def answer(plain: socket.socket) -> None:
            try:
                with plain if context is None else context.wrap_socket(plain, server_side=True) as connection:
                    talk(connection)
            except OSError:
                return  # The client went away.

        def accept() -> None:
            while True:
                try:
                    connection, _peer = listener.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(connection,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        return f"127.0.0.1:{listener.getsockname()[1]}"

    yield start
    for listener in open_sockets:
        listener.close()


def plain(*servers: str) -> Connection:
    """Servers without TLS and login."""
    return Connection(servers)


def logged_in(*servers: str, password: str = "s3cret", mechanism: str = "PLAIN") -> Connection:
    """Servers that ask for a login."""
    return Connection(
        servers,
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism=mechanism,
        sasl_username="alice",
        sasl_password=password,
    )


def test_one_frozen_server_of_three_is_left_out_and_named(serve: Serve) -> None:
    frozen, first, second = serve(silent), serve(broker), serve(broker)
    reached = reach(plain(frozen, first, second), grace=0.3)
    assert reached.servers == (first, second)
    (warning,) = reached.warnings
    assert f"bootstrap server {frozen}: it took the connection and did not answer" in warning


def test_a_server_that_is_down_is_left_out_without_a_warning(serve: Serve) -> None:
    reached = reach(plain("127.0.0.1:1", alive := serve(broker)))
    assert (reached.servers, reached.warnings) == ((alive,), [])


def test_when_all_are_frozen_each_is_named_with_the_stage_and_that_may_pass(serve: Serve) -> None:
    servers = [serve(silent), serve(silent)]
    with pytest.raises(ClusterUnreachableError) as failed:
        reach(plain(*servers), seconds=0.3)
    assert list(failed.value.fields["attempts"]) == servers
    assert "did not answer in time (in the first request)" in failed.value.message


def test_a_tls_handshake_that_never_ends_is_bounded(serve: Serve) -> None:
    server = serve(silent)
    with pytest.raises(ClusterUnreachableError, match="in the TLS handshake"):
        reach(Connection((server,), security_protocol="SSL"), seconds=0.3)


def test_a_password_that_is_taken_lets_in_and_one_that_is_not_ends_it_at_once(serve: Serve) -> None:
    server = serve(broker)
    assert reach(logged_in(server)).servers == (server,)
    with pytest.raises(AccessRefusedError) as refused:
        reach(logged_in(server, "127.0.0.1:1", password="wrong-one"))
    assert "refuses the login of user alice by PLAIN" in refused.value.message
    assert "Correct sasl_username, sasl_password" in refused.value.message
    assert "wrong-one" not in str(refused.value.failure)


@pytest.mark.parametrize(
    ("talk", "connect", "said"),
    [
        (babbles, plain, "Set security_protocol"),
        (broker, lambda server: logged_in(server, mechanism="SCRAM-SHA-512"), "Set sasl_mechanism"),
        (broker, lambda server: Connection((server,), security_protocol="SSL"), "Set security_protocol"),
    ],
)
def test_what_no_repetition_mends_says_the_fix(
    serve: Serve, talk: Talk, connect: Callable[[str], Connection], said: str
) -> None:
    with pytest.raises(AccessRefusedError) as refused:
        reach(connect(serve(talk)))
    assert said in refused.value.message


@pytest.fixture
def authority(tmp_path: Path) -> tuple[Issued, str]:
    """A CA and its file."""
    ca = issue("CA", ca=True)
    return ca, str(ca.write(tmp_path, "ca")[0])


def shows(certificate: Issued, directory: Path, client_ca: str = "") -> ssl.SSLContext:
    """What a server shows, and whose certificates it asks clients for."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate.write(directory, "server"))
    if client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_ca)
    return context


def tls(*servers: str, ca: str) -> Connection:
    """Servers with TLS."""
    return Connection(servers, security_protocol="SSL", ssl_ca_location=ca)


def test_a_certificate_of_a_ca_that_is_not_trusted_is_final(
    serve: Serve, authority: tuple[Issued, str], tmp_path: Path
) -> None:
    ca, trusted = authority
    (tmp_path / "other").mkdir()
    other = str(issue("other CA", ca=True).write(tmp_path / "other", "ca")[0])
    server = serve(broker, shows(issue("b", ca, names=("127.0.0.1",)), tmp_path))
    assert reach(tls(server, ca=trusted)).servers == (server,)
    with pytest.raises(AccessRefusedError) as refused:
        reach(tls(server, ca=other))
    assert "its certificate is refused" in refused.value.message
    assert f"Set ssl_ca_location to the CA that signed the brokers' certificates (now {other})" in refused.value.message


def test_a_certificate_for_another_name_is_final_only_when_no_other_server_may_come(
    serve: Serve, authority: tuple[Issued, str], tmp_path: Path
) -> None:
    ca, trusted = authority
    server = serve(broker, shows(issue("b", ca, names=("10.0.0.1",)), tmp_path))
    with pytest.raises(AccessRefusedError, match="Name the server in bootstrap_servers as its certificate does"):
        reach(tls(server, ca=trusted))
    with pytest.raises(ClusterUnreachableError) as failed:
        reach(tls(server, "127.0.0.1:1", ca=trusted))
    assert failed.value.passing


def test_a_server_that_wants_a_certificate_of_ours_says_which_option_is_missing(
    serve: Serve, authority: tuple[Issued, str], tmp_path: Path
) -> None:
    ca, trusted = authority
    server = serve(broker, shows(issue("b", ca, names=("127.0.0.1",)), tmp_path, client_ca=trusted))
    with pytest.raises(AccessRefusedError, match="Set ssl_certificate_location and ssl_key_location"):
        reach(tls(server, ca=trusted))

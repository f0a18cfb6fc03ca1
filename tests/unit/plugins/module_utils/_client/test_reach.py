"""Which servers let us in: all are asked at once, each in bounded time; what is final is told from what passes."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509

from ansible_collections.streamops.kafka.plugins.module_utils._client import reach as _reach
from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.reach import reach, silent_servers
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    AccessRefusedError,
    ClusterUnreachableError,
    StreamopsError,
)
from tests.support.certificates import Issued, issue
from tests.support.cluster import free_port_base
from tests.support.talks import Serve, Talk, babbles, broker, lagging, read, reply, shows, silent
from tests.support.token_issuer import CLIENT, SECRET, TokenIssuer


def address(server: str) -> Any:
    """What a resolver answers."""
    host, _colon, port = server.rpartition(":")
    return (socket.AF_INET, socket.SOCK_STREAM, 6, "", (host, int(port)))


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


def test_those_that_do_not_answer_are_told_from_those_that_refuse_us(serve: Serve) -> None:
    frozen, refusing, alive = serve(silent), serve(broker), serve(broker)
    servers = [frozen, "127.0.0.1:1", refusing, alive]
    found = silent_servers(logged_in(*servers, password="wrong-one"), servers, seconds=1)
    assert set(found) == {frozen, "127.0.0.1:1"}, "who refuses a login is there"
    assert "took the connection and did not answer" in found[frozen]
    assert "Connection refused" in found["127.0.0.1:1"]
    # The first answer ends no wait: each of them is asked.
    assert set(silent_servers(plain(), [alive, frozen], seconds=1)) == {frozen}


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


def test_a_password_that_is_taken_lets_in_and_one_that_is_not_ends_it(serve: Serve) -> None:
    server = serve(broker)
    assert reach(logged_in(server)).servers == (server,)
    with pytest.raises(AccessRefusedError) as refused:
        reach(logged_in(server, password="wrong-one"), again=(0.01, 0.01))
    assert "refuses the login of user alice by PLAIN" in refused.value.message
    assert "Correct sasl_username, sasl_password" in refused.value.message
    assert "wrong-one" not in str(refused.value.failure)


def test_a_login_that_is_refused_once_is_tried_again_at_the_same_address(serve: Serve) -> None:
    # A load balancer, or a broker that learns of the user a moment later.
    connections: list[int] = []

    def talk(connection: socket.socket) -> None:
        connections.append(1)
        if len(connections) < 3:
            lagging(connection)
        else:
            broker(connection)

    server = serve(talk)
    assert reach(logged_in(server), again=(0.01, 0.01)).servers == (server,)


def test_a_refused_login_is_not_final_while_another_server_may_come_back(serve: Serve) -> None:
    with pytest.raises(ClusterUnreachableError) as failed:
        reach(logged_in(serve(lagging), "127.0.0.1:1"), again=(0.01,))
    assert failed.value.passing
    assert "it refuses the login of user alice by PLAIN" in failed.value.message


def test_only_who_refused_the_login_is_asked_again(serve: Serve) -> None:
    asked: list[int] = []

    def wrong(connection: socket.socket) -> None:
        asked.append(1)
        babbles(connection)

    with pytest.raises(AccessRefusedError):
        reach(logged_in(serve(lagging), serve(wrong)), again=(0.01, 0.01))
    assert len(asked) == 1


def test_a_listener_without_sasl_is_a_wrong_protocol(serve: Serve) -> None:
    def plain_listener(connection: socket.socket) -> None:
        read(connection)
        reply(connection, struct.pack(">hi", 0, 0))
        read(connection)
        reply(connection, struct.pack(">hi", 34, 0))

    with pytest.raises(AccessRefusedError, match="Set security_protocol and the port"):
        reach(logged_in(serve(plain_listener)))


def test_an_address_of_a_name_that_does_not_answer_leaves_time_for_the_next(
    serve: Serve, black_hole: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive = serve(broker)
    names = {"kafka.example.com": (alive, black_hole), "both": (black_hole, alive)}
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *_rest, **_more: [address(one) for one in names[host]])
    for name in names:
        assert reach(plain(f"{name}:9092"), seconds=2).servers == (f"{name}:9092",)


def test_nobody_who_connects_without_tls_hears_of_a_handshake(black_hole: str) -> None:
    with pytest.raises(ClusterUnreachableError, match="connection timed out"):
        reach(plain(black_hole), seconds=0.3)


def test_a_server_that_is_slow_is_let_in_by_a_longer_request_timeout(serve: Serve) -> None:
    def slow(connection: socket.socket) -> None:
        time.sleep(0.8)
        broker(connection)

    server = serve(slow)
    with pytest.raises(ClusterUnreachableError):
        reach(Connection((server,)), seconds=0.4)
    assert reach(Connection((server,), request_timeout=300), seconds=0.4).servers == (server,)


def test_a_name_is_resolved_in_a_time_of_its_own(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    alive = serve(broker)

    def resolver(*_asked: object, **_more: object) -> list[Any]:
        time.sleep(0.6)
        return [address(alive)]

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    assert reach(plain("slow:9092"), seconds=0.3).servers == ("slow:9092",)
    monkeypatch.setattr(_reach, "RESOLVE_SECONDS", 0.1)
    with pytest.raises(ClusterUnreachableError, match="resolving the name"):
        reach(plain("slow:9092"), seconds=0.3)


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


ONLY_CLIENT = (x509.ExtendedKeyUsage([x509.ExtendedKeyUsageOID.CLIENT_AUTH]),)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"days": -1}, "Renew the certificate"),
        ({"begins": 2}, "Correct the clock"),
        ({"extensions": ONLY_CLIENT}, "extended key usage has serverAuth"),
    ],
)
def test_a_certificate_that_is_refused_names_its_own_fix(
    serve: Serve, authority: tuple[Issued, str], tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    ca, trusted = authority
    server = serve(broker, shows(issue("b", ca, names=("127.0.0.1",), **wrong), tmp_path))
    with pytest.raises(AccessRefusedError, match=said) as refused:
        reach(tls(server, ca=trusted))
    assert "ssl_ca_location" not in refused.value.message


@pytest.mark.parametrize(("password", "said"), [(None, "is not set"), ("other", "is not the password of it")])
def test_an_encrypted_key_without_its_password_is_named_and_nobody_is_asked_at_a_terminal(
    tmp_path: Path, password: str | None, said: str
) -> None:
    ours = issue("me")
    certificate, key = ours.write(tmp_path, "me")
    key.write_bytes(ours.key_pem(b"s3cret"))
    ours_with = {"ssl_certificate_location": str(certificate), "ssl_key_location": str(key)}
    with pytest.raises(StreamopsError, match=f"the key {key} is encrypted, and ssl_key_password {said}"):
        reach(Connection(("127.0.0.1:1",), "SSL", ssl_key_password=password, **ours_with))
    with pytest.raises(ClusterUnreachableError):
        reach(Connection(("127.0.0.1:1",), "SSL", ssl_key_password="s3cret", **ours_with))


def test_a_server_that_wants_a_certificate_of_ours_says_which_option_is_missing(
    serve: Serve, authority: tuple[Issued, str], tmp_path: Path
) -> None:
    ca, trusted = authority
    server = serve(broker, shows(issue("b", ca, names=("127.0.0.1",)), tmp_path, client_ca=trusted))
    with pytest.raises(AccessRefusedError, match="Set ssl_certificate_location and ssl_key_location"):
        reach(tls(server, ca=trusted))


def takes_token(wanted: str, why: bytes = b'{"status":"invalid_token"}') -> Talk:
    """A broker that takes one token, and says in JSON what it has against others."""

    def talk(connection: socket.socket) -> None:
        read(connection)
        reply(connection, struct.pack(">hi", 0, 0))
        reply(connection, struct.pack(">hi", 0 if read(connection).endswith(b"OAUTHBEARER") else 33, 0))
        if read(connection).endswith(f"n,,\1auth=Bearer {wanted}\1\1".encode()):
            reply(connection, struct.pack(">hhi", 0, -1, 0))
            return
        reply(connection, struct.pack(">hhi", 0, -1, len(why)) + why)
        assert read(connection).endswith(b"\1")
        reply(connection, struct.pack(">hhi", 58, -1, 0))

    return talk


def with_token(server: str, directory: Path, issuer: TokenIssuer, secret: str = SECRET) -> Connection:
    """A server that asks for a token."""
    return Connection(
        (server,),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_username=CLIENT,
        sasl_password=secret,
        sasl_oauthbearer_endpoint_url=f"{issuer.url}/token",
        sasl_oauthbearer_ca_location=str(directory / "issuer-ca.pem"),
    )


def test_a_token_lets_in_and_one_that_is_refused_ends_it(serve: Serve, tmp_path: Path) -> None:
    with TokenIssuer(tmp_path, free_port_base()) as issuer:
        given = issuer.token()
        issuer.token = lambda *_key, **_claims: given  # type: ignore[method-assign]
        right, other = serve(takes_token(given)), serve(takes_token("another"))
        assert reach(with_token(right, tmp_path, issuer)).servers == (right,)
        with pytest.raises(AccessRefusedError, match="it refuses the token of the client orders") as refused:
            reach(with_token(other, tmp_path, issuer), again=(0.01, 0.01))
        assert "kafka_oauth of the brokers" in refused.value.message
        assert given not in str(refused.value.failure)
        assert issuer.asked.count("/token") == 1, "one token for all connections"
        with pytest.raises(AccessRefusedError, match="401: invalid_client"):
            reach(with_token(right, tmp_path, issuer, "wrong-one"))


def test_an_issuer_that_is_down_may_come_back(serve: Serve, tmp_path: Path) -> None:
    with TokenIssuer(tmp_path, free_port_base()) as issuer:
        issuer.is_down = True
        asking = with_token(serve(takes_token("any")), tmp_path, issuer)
        with pytest.raises(ClusterUnreachableError, match="503: temporarily_unavailable") as failed:
            reach(asking)
        assert not silent_servers(asking, asking.bootstrap_servers), "the broker answered"
    assert failed.value.passing


def test_an_issuer_that_hangs_is_not_taken_for_a_broker_that_does(serve: Serve) -> None:
    server, issuer = serve(takes_token("any")), serve(silent)
    hanging = Connection(
        (server,),
        security_protocol="SASL_PLAINTEXT",
        sasl_mechanism="OAUTHBEARER",
        sasl_username="orders of no answer",
        sasl_password=SECRET,
        sasl_oauthbearer_endpoint_url=f"https://{issuer}/token",
        request_timeout=1,
    )
    with pytest.raises(
        ClusterUnreachableError, match=r"no token for the login within \d s: the issuer does not answer"
    ):
        reach(hanging)
    assert not silent_servers(hanging, [server])

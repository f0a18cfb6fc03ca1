"""Whether listeners answer where they say they are: each stage with a peer that really stops there."""

from __future__ import annotations

import socket
import struct
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.listener_options import CHECK_SPEC
from ansible_collections.streamops.kafka.plugins.module_utils._client.listener_targets import targets
from ansible_collections.streamops.kafka.plugins.module_utils._client.listeners import check_listeners, who_answers
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError
from tests.support.certificates import Issued, issue
from tests.support.talks import Serve, Talk, babbles, broker, node, read, reply, shows, silent


def entry(address: str, protocol: str = "PLAINTEXT", connections: int = 1) -> dict[str, Any]:
    """One listener as the module takes it."""
    host, _colon, port = address.rpartition(":")
    return {
        "node": "kafka1",
        "name": "BROKER",
        "host": host,
        "port": int(port),
        "protocol": protocol,
        "connections": connections,
    }


def check(
    *listeners: dict[str, Any], seconds: float = 1.0, **access: Any
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """What the module finds."""
    params = {**dict.fromkeys(CHECK_SPEC), **access, "listeners": list(listeners)}
    return check_listeners(targets(params), seconds, access.get("ssl_check_hostname", True))


def unreached(*listeners: dict[str, Any], seconds: float = 1.0, **access: Any) -> tuple[str, str]:
    """Stage and reason of the only listener, which does not answer."""
    answered, (one,) = check(*listeners, seconds=seconds, **access)
    assert not answered
    assert (one["node"], one["listener"]) == ("kafka1", "BROKER")
    return one["stage"], one["why"]


def test_a_listener_that_answers_says_how_many_connections_it_held(serve: Serve) -> None:
    address = serve(broker)
    answered, silent_ones = check(entry(address, connections=4))
    assert not silent_ones
    told = {"node": "kafka1", "listener": "BROKER", "address": address, "connections": 4, "unidentified": ""}
    assert answered == [told]


@pytest.mark.parametrize(
    ("issuer", "words"), [(silent, "no token for the login at"), (None, "no token for the client orders: the issuer")]
)
def test_an_issuer_that_gives_no_token_says_nothing_against_a_broker(
    serve: Serve, issuer: Talk | None, words: str
) -> None:
    at, address = serve(issuer) if issuer else "127.0.0.1:1", serve(broker)
    login = {
        "sasl_mechanism": "OAUTHBEARER",
        "sasl_username": "orders",
        "sasl_password": "secret",
        "sasl_oauthbearer_endpoint_url": f"https://{at}/token",
    }
    stage, why = unreached(entry(address, "SASL_PLAINTEXT"), **login)
    assert stage == "login"
    assert why.startswith(words)
    asking = Connection((address,), security_protocol="SASL_PLAINTEXT", **login)
    assert not who_answers(asking, {1: address}, "abc", 1.0).silent


def test_all_connections_are_open_at_once(serve: Serve) -> None:
    together = threading.Barrier(5)

    def meets(connection: socket.socket) -> None:
        together.wait(5)
        broker(connection)

    answered, silent_ones = check(entry(serve(meets), connections=5), seconds=5)
    assert [len(answered), silent_ones] == [1, []]


def only(limit: int) -> Talk:
    """A broker whose max.connections are so many: those above wait until others end."""
    free = threading.Semaphore(limit)

    def talk(connection: socket.socket) -> None:
        with free:
            broker(connection)

    return talk


def test_a_limit_of_connections_that_is_too_small_for_them_shows(serve: Serve) -> None:
    address = serve(only(2))
    stage, why = unreached(entry(address, connections=5))
    assert stage == "answer"
    assert why == f"connected to {address}, but no answer to ApiVersions within 1 s: 2 of 5 connections answered"
    assert check(entry(serve(only(2)), connections=2))[1] == []


def test_a_listener_that_has_answered_waits_for_no_other(serve: Serve) -> None:
    gone: list[float] = []

    def noted(connection: socket.socket) -> None:
        broker(connection)
        gone.append(time.monotonic())

    began = time.monotonic()
    answered, silent_ones = check(entry(serve(noted)), entry(serve(silent)), seconds=1.5)
    assert [len(answered), len(silent_ones)] == [1, 1]
    assert gone[0] - began < 1
    assert time.monotonic() - began < 3


def test_a_process_that_takes_connections_and_never_answers(serve: Serve) -> None:
    address = serve(silent)
    assert unreached(entry(address)) == ("answer", f"connected to {address}, but no answer to ApiVersions within 1 s")
    stage, why = unreached(entry(address, "SSL"))
    assert (stage, why) == ("tls", f"connected to {address}, but the TLS handshake did not end within 1 s")


def test_a_server_that_ends_the_connection(serve: Serve) -> None:
    address = serve(lambda connection: connection.close())
    said = f"connected to {address}, but it ended the connection without an answer to ApiVersions"
    assert unreached(entry(address)) == ("answer", said)


def test_a_closed_port_and_an_address_where_nobody_listens() -> None:
    assert unreached(entry("127.0.0.1:1")) == ("connect", "connection refused at 127.0.0.1:1")
    assert unreached(entry("127.0.0.9:1")) == ("connect", "connection refused at 127.0.0.9:1")


def test_an_address_that_drops_what_it_gets(black_hole: str) -> None:
    said = f"no connection to {black_hole} within 1 s: no server at this address, or a firewall drops packets"
    assert unreached(entry(black_hole)) == ("connect", said)


def test_who_answers_tells_silence_from_what_says_nothing_of_a_broker(serve: Serve, black_hole: str) -> None:
    frozen, closes = serve(silent), serve(lambda connection: connection.close())
    servers = {
        1: serve(node(1, "ours")),
        2: frozen,
        3: closes,
        4: "127.0.0.1:1",
        5: black_hole,
        6: "no-such-host.invalid:9092",
    }
    began = time.monotonic()
    found = who_answers(Connection(("kafka:9092",)), servers, "ours", seconds=1.0)
    assert time.monotonic() - began < 3
    assert found.elsewhere == {}
    assert found.silent == {
        2: f"connected to {frozen}, but no answer to ApiVersions within 1 s",
        3: f"connected to {closes}, but it ended the connection without an answer to ApiVersions",
        4: "connection refused at 127.0.0.1:1",
        5: f"no connection to {black_hole} within 1 s: no server at this address, or a firewall drops packets",
    }


def test_a_broker_whose_tls_does_not_end_is_silent_and_one_that_speaks_none_answers(serve: Serve) -> None:
    frozen, plain = serve(silent), serve(babbles)
    found = who_answers(Connection(("kafka:9092",), "SSL"), {1: frozen, 2: plain}, "", seconds=1.0)
    assert found.silent == {1: f"connected to {frozen}, but the TLS handshake did not end within 1 s"}


def test_a_name_without_an_address() -> None:
    stage, why = unreached(entry("no-such-host.invalid:9092"), seconds=10)
    assert stage == "resolve"
    assert why.startswith("no address of the name in no-such-host.invalid:9092: ")


def test_a_name_server_that_hangs_is_within_the_time_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def resolver(*_asked: object, **_more: object) -> list[Any]:
        time.sleep(30)
        return []

    monkeypatch.setattr(socket, "getaddrinfo", resolver)
    began = time.monotonic()
    stage, why = unreached(entry("slow:9092"), seconds=0.5)
    assert time.monotonic() - began < 2
    assert (stage, why.rpartition(": ")[2]) == ("resolve", "look at the name servers of this machine")


def test_something_else_than_kafka(serve: Serve) -> None:
    assert unreached(entry(serve(babbles))) == ("answer", "the server does not speak Kafka's protocol")


# -- TLS ---------------------------------------------------------------------------------------------------------


def test_a_certificate_must_name_the_advertised_host(
    serve: Serve, authority: tuple[Issued, str], tmp_path: Path
) -> None:
    ca, trusted = authority
    right = serve(broker, shows(issue("b", ca, names=("127.0.0.1",)), tmp_path))
    assert check(entry(right, "SSL", 2), ssl_ca_location=trusted)[1] == []
    wrong = serve(broker, shows(issue("b", ca, names=("10.0.0.1",)), tmp_path))
    stage, why = unreached(entry(wrong, "SSL"), ssl_ca_location=trusted)
    assert stage == "tls"
    assert "its certificate is refused: IP address mismatch" in why
    assert check(entry(wrong, "SSL"), ssl_ca_location=trusted, ssl_check_hostname=False)[1] == []


def test_a_listener_that_asks_for_certificates_gets_ours(
    serve: Serve, authority: tuple[Issued, str], tmp_path: Path
) -> None:
    ca, trusted = authority
    address = serve(broker, shows(issue("b", ca, names=("127.0.0.1",)), tmp_path, client_ca=trusted))
    stage, why = unreached(entry(address, "SSL"), ssl_ca_location=trusted)
    assert stage == "tls"
    assert "it refuses our certificate" in why
    ours = issue("kafka2", ca)
    # A node has both in one file, the key first.
    store = tmp_path / "keystore.pem"
    store.touch(mode=0o600)
    store.write_bytes(ours.key_pem() + ours.pem())
    files = {"ssl_certificate_location": str(store), "ssl_key_location": str(store)}
    assert check(entry(address, "SSL"), ssl_ca_location=trusted, **files)[1] == []


def test_a_listener_without_tls_where_some_is_expected(serve: Serve) -> None:
    stage, why = unreached(entry(serve(babbles), "SSL"))
    assert (stage, why.partition(":")[0]) == ("tls", "it does not speak TLS")


def test_files_that_cannot_be_used_say_nothing_of_the_listener(tmp_path: Path) -> None:
    with pytest.raises(StreamopsError, match="the TLS files cannot be used"):
        check(entry("127.0.0.1:1", "SSL"), ssl_ca_location=str(tmp_path / "missing.pem"))


# -- logins ------------------------------------------------------------------------------------------------------

ALICE = {"sasl_mechanism": "PLAIN", "sasl_username": "alice"}


def test_a_listener_with_sasl_is_asked_before_the_login(serve: Serve) -> None:
    assert check(entry(serve(broker), "SASL_PLAINTEXT"))[1] == []


def test_a_login_that_is_taken_and_one_that_is_refused(serve: Serve) -> None:
    address = serve(broker)
    assert check(entry(address, "SASL_PLAINTEXT", 3), **ALICE, sasl_password="s3cret")[1] == []
    stage, why = unreached(entry(address, "SASL_PLAINTEXT"), **ALICE, sasl_password="wrong-one")
    assert stage == "login"
    assert why.startswith("it refuses the login of user alice by PLAIN")
    assert "wrong-one" not in why


def test_one_login_serves_only_listeners_that_log_in(serve: Serve) -> None:
    listeners = (entry(serve(broker), "SASL_PLAINTEXT"), entry(serve(broker)))
    answered, silent_ones = check(*listeners, **ALICE, sasl_password="s3cret")
    assert [len(answered), silent_ones] == [2, []]


# -- who answers -------------------------------------------------------------------------------------------------


def of(node_id: int, listener: dict[str, Any], cluster_id: str = "ours", role: str = "broker") -> dict[str, Any]:
    """A listener at which this node must answer."""
    return {**listener, "node_id": node_id, "cluster_id": cluster_id, "role": role}


def in_turn(*talks: Talk) -> Talk:
    """A load balancer: each connection gets to the next of them."""
    order = iter(talks * 10)

    def talk(connection: socket.socket) -> None:
        next(order)(connection)

    return talk


@pytest.mark.parametrize("connections", [1, 2, 4])
def test_a_node_that_says_that_it_is_the_right_one(serve: Serve, connections: int) -> None:
    answered, strangers = check(of(1, entry(serve(node(1, "ours")), connections=connections)))
    assert strangers == []
    assert [(one["connections"], one["unidentified"]) for one in answered] == [(connections, "")]
    controller = entry(serve(node(1, "ours", is_controller=True)))
    assert check(of(1, controller, role="controller"))[1] == []


def test_another_broker_at_the_address_is_named(serve: Serve) -> None:
    address = serve(node(2, "ours"))
    assert unreached(of(1, entry(address))) == ("identity", "broker 2 answers there, not broker 1")
    assert check(entry(address))[1] == [], "without an id any broker may answer"


def test_a_broker_of_another_cluster_is_named_with_both(serve: Serve) -> None:
    why = "broker 1 of another cluster (theirs, not ours) answers there, not broker 1"
    assert unreached(of(1, entry(serve(node(1, "theirs"))))) == ("identity", why)
    # Its cluster is known to everybody, its id is not.
    hidden = "another broker of another cluster (theirs, not ours) answers there, not broker 1"
    assert unreached(of(1, entry(serve(node(1, "theirs", refuses=31))))) == ("identity", hidden)
    assert check(of(1, entry(serve(node(1, "theirs"))), cluster_id=""))[1] == [], "an id that nobody knows"


def test_a_controller_is_asked_for_the_endpoints_of_controllers(serve: Serve) -> None:
    address = serve(node(3, "theirs", is_controller=True))
    why = "controller 3 of another cluster (theirs, not ours) answers there, not controller 1"
    assert unreached(of(1, entry(address), role="controller")) == ("identity", why)


def test_a_load_balancer_leads_to_the_right_node_at_times(serve: Serve) -> None:
    brokers = [node(number, "ours") for number in (1, 2, 3)]
    stage, why = unreached(of(1, entry(serve(in_turn(*brokers)))))
    assert (stage, why.partition(":")[0]) == ("identity", "broker 2 answers there, not broker 1")
    assert why.endswith("1 of 2 connections reached the right one, as through a load balancer")
    assert unreached(of(1, entry(serve(in_turn(*brokers)), connections=3)))[0] == "identity"


def unidentified(listener: dict[str, Any], **access: Any) -> str:
    """Why it is not known who answers at the only listener."""
    (answered,), strangers = check(listener, **access)
    assert strangers == []
    return str(answered["unidentified"])


def test_who_may_not_ask_is_told_so_and_the_listener_is_not_blamed(serve: Serve) -> None:
    why = "who asks lacks the right DescribeConfigs on the cluster"
    assert unidentified(of(1, entry(serve(node(1, "ours", refuses=31))))) == why
    why = "the request DescribeConfigs ended with Kafka's error 35"
    assert unidentified(of(1, entry(serve(node(1, "ours", refuses=35))))) == why
    why = "the listener wants a login, and who asks has none"
    assert unidentified(of(1, entry(serve(broker), "SASL_PLAINTEXT"))) == why


def test_a_node_that_ends_the_connection_at_that_question_answers_all_the_same(serve: Serve) -> None:
    def old(connection: socket.socket) -> None:
        read(connection)
        reply(connection, struct.pack(">hi", 0, 0))
        read(connection)

    assert unidentified(of(1, entry(serve(old)))) == "it did not say who it is: the server closed the connection"

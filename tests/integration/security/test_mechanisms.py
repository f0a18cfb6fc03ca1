"""SCRAM and tokens at one listener of a real broker, with the properties and the logs that the roles write."""

from __future__ import annotations

import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

from ansible_collections.streamops.kafka.plugins.module_utils._client.login import TOKEN_ADDRESSES
from ansible_collections.streamops.kafka.plugins.module_utils._node.info import _logins as logins
from ansible_collections.streamops.kafka.plugins.plugin_utils.node.texts import text
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.process import LOGGING_OPTIONS
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import (
    scram_credential,
    security_properties,
)
from tests.support.cluster import free_port_base, until
from tests.support.inventory_data import view
from tests.support.lone_broker import LoneBroker, as_written
from tests.support.token_issuer import LIFETIME, TokenIssuer

pytestmark = pytest.mark.full
SCRAM, TOKENS = "SCRAM-SHA-512", "OAUTHBEARER"
USER, PASSWORD = "orders", "a password of orders"


@dataclass
class Place:
    """A broker at whose listener clients choose a mechanism, and the log of what they chose."""

    issuer: TokenIssuer
    broker: LoneBroker
    log: Path

    def lets_in(self, mechanism: str, password: str = PASSWORD) -> bool:
        """Tell whether a client with this mechanism is let in."""
        token = self.issuer.token()
        own = (
            {"oauth_cb": lambda _config: (token, time.time() + LIFETIME)}
            if mechanism == TOKENS
            else {"sasl.username": USER, "sasl.password": password}
        )
        client = AdminClient(
            {
                "bootstrap.servers": self.broker.bootstrap_servers[0],
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": mechanism,
                "log_level": 0,
                **own,
            }
        )
        # Older librdkafka calls the callback in a poll alone.
        client.poll(1)
        try:
            return bool(client.list_topics(timeout=8).brokers)
        except KafkaException:
            return False

    def asks_for(self, mechanism: str) -> None:
        """Name a mechanism to the broker, as a client that logs in does (SaslHandshakeRequest, version 1)."""
        name = mechanism.encode()
        request = struct.pack(">hhih", 17, 1, 1, -1) + struct.pack(">h", len(name)) + name
        host, port = self.broker.bootstrap_servers[0].rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=8) as connection:
            connection.sendall(struct.pack(">i", len(request)) + request)
            assert connection.recv(4), "an answer"

    def counted(self) -> dict[tuple[str, str], int]:
        """Return how many logins the log has, by listener and mechanism."""
        return {(entry["listener"], entry["mechanism"]): entry["count"] for entry in logins(str(self.log), None) or ()}


@pytest.fixture(scope="module", params=["4.3.1", "3.9.2"])
def place(
    request: pytest.FixtureRequest,
    kafka_release: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    version, directory, port = request.param, tmp_path_factory.mktemp("mechanisms"), free_port_base()
    listeners = [
        {"name": "CLIENT", "port": port, "protocol": "SASL_PLAINTEXT", "purpose": "clients"},
        {"name": "CONTROLLER", "port": port + 1, "purpose": "controllers"},
        {"name": "BROKER", "port": port + 2, "purpose": "brokers"},
    ]
    with TokenIssuer(directory, port + 8) as issuer:
        oauth = {
            "issuer": issuer.url,
            "jwks_url": f"{issuer.url}/keys",
            "audience": ["kafka"],
            "ca_file": str(issuer.ca_file),
        }
        variables = {
            "kafka_node_id": 1,
            "kafka_version": version,
            "kafka_listeners": listeners,
            "kafka_sasl_mechanisms": [SCRAM, TOKENS],
            "kafka_oauth": oauth,
            "kafka_log_dirs": [str(directory / "data")],
            "kafka_log_dir": str(directory / "log"),
        }
        model = view({"a": variables}, brokers=["a"], controllers=["a"])
        logging = model["process"]["logging_file"]
        (directory / logging).write_text(text(f"{logging}.j2", model, "managed"))
        os.makedirs(model["paths"]["log"])
        rendered = security_properties(
            model["node"],
            {
                "mechanisms": [SCRAM, TOKENS],
                "oauth": oauth,
                "version": version,
                "plain_users": [],
                "authorizer": False,
            },
        )
        broker = LoneBroker(
            kafka_release(version),
            directory / "broker",
            port,
            options=f"{TOKEN_ADDRESSES}{issuer.url}/keys {LOGGING_OPTIONS[logging]}{directory / logging}",
            **as_written(rendered),
            **{
                "listeners": ",".join(f"{opened['name']}://127.0.0.1:{opened['port']}" for opened in listeners),
                "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT",
                "inter.broker.listener.name": "BROKER",
            },
        )
        credential = scram_credential(SCRAM, USER, PASSWORD, os.urandom(16))
        broker.format("AAAAAAAAAAAAAAAAAAAAAQ", f"--add-scram={credential}")
        broker.start()
        try:
            yield Place(issuer, broker, Path(model["paths"]["logins"]))
        finally:
            broker.kill()


def test_a_client_of_each_mechanism_is_let_in_and_counted(place: Place) -> None:
    assert place.lets_in(SCRAM)
    until(lambda: ("CLIENT", SCRAM) in place.counted(), "the login by SCRAM in the log")
    assert ("CLIENT", TOKENS) not in place.counted()
    assert place.lets_in(TOKENS)
    until(lambda: ("CLIENT", TOKENS) in place.counted(), "the login by a token in the log")


def test_a_wrong_password_is_counted_and_a_mechanism_that_is_not_offered_is_not(place: Place) -> None:
    before = place.counted().get(("CLIENT", SCRAM), 0)
    assert not place.lets_in(SCRAM, "another one")
    until(lambda: place.counted()[("CLIENT", SCRAM)] > before, "the attempt in the log")
    assert not place.lets_in("SCRAM-SHA-256")
    assert not place.lets_in("PLAIN")
    # Kafka writes a name that it does not offer as the client sent it.
    place.asks_for("x\n[2026-09-21 14:13:20,123] kafka-network-thread-1-CLIENT-SASL_SSL-1 Using SASL mechanism 'PLAIN'")
    until(lambda: place.lets_in(SCRAM), "a login behind it")
    assert {mechanism for _listener, mechanism in place.counted()} <= {SCRAM, TOKENS}


def test_the_log_has_nothing_but_mechanisms_and_no_other_log_has_more_lines(place: Place) -> None:
    assert place.lets_in(SCRAM)
    until(lambda: bool(place.counted()), "a login in the log")
    lines = place.log.read_text().splitlines()
    assert [line for line in lines if "Using SASL mechanism '" not in line] == []
    assert USER not in place.log.read_text()
    server = (place.log.parent / "server.log").read_text()
    assert "INFO" in server
    assert " DEBUG " not in server

"""Tokens of an issuer with a CA of its own at a real broker, with the properties that the roles write."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.login import TOKEN_ADDRESSES, SaslLogin
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.oauth import TokenIssuer as Said
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import client_properties, token_properties
from tests.support.cluster import free_port_base, until
from tests.support.lone_broker import LoneBroker, as_written
from tests.support.modules import run_module
from tests.support.token_issuer import CLIENT, LIFETIME, SECRET, Key, TokenIssuer

pytestmark = pytest.mark.full
PREFIX = "listener.name.client"
#: Seconds that clocks may differ here, so that a token can be waited for that has ended.
SKEW = 2


@dataclass
class Place:
    """A broker that takes the tokens of an issuer."""

    issuer: TokenIssuer
    broker: LoneBroker

    def client(self, **more: object) -> AdminClient:
        """Return a client that logs in with tokens."""
        return AdminClient(
            {
                "bootstrap.servers": self.broker.bootstrap_servers[0],
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "OAUTHBEARER",
                "log_level": 0,
                **more,
            }
        )

    def takes(self, token: str) -> bool:
        """Tell whether a client with this token is let in."""
        client = self.client(oauth_cb=lambda _config: (token, time.time() + LIFETIME))
        # Older librdkafka calls the callback in a poll alone.
        client.poll(1)
        try:
            return bool(client.list_topics(timeout=8).brokers)
        except KafkaException:
            return False


@pytest.fixture(scope="module", params=["4.3.1", "3.9.2"])
def place(
    request: pytest.FixtureRequest,
    kafka_release: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Place]:
    version, directory, port = request.param, tmp_path_factory.mktemp("oauth"), free_port_base()
    with TokenIssuer(directory, port + 8) as issuer:
        said = Said(issuer.url, f"{issuer.url}/keys", ("kafka", "other"), "sub", str(issuer.ca_file), SKEW)
        broker = LoneBroker(
            kafka_release(version),
            directory / "broker",
            port,
            options=f"{TOKEN_ADDRESSES}{said.jwks_url}",
            **own_properties(said, version, port),
        )
        broker.format("AAAAAAAAAAAAAAAAAAAAAQ")
        broker.start()
        try:
            yield Place(issuer, broker)
        finally:
            broker.kill()


def own_properties(said: Said, version: str, port: int) -> dict[str, str]:
    """Return the properties of the broker as they stand in its file."""
    mechanisms = {f"{PREFIX}.sasl.enabled.mechanisms": ["OAUTHBEARER"]}
    return {
        **as_written({**mechanisms, **token_properties(PREFIX, said, version)}),
        "listeners": f"CLIENT://127.0.0.1:{port},CONTROLLER://127.0.0.1:{port + 1},BROKER://127.0.0.1:{port + 2}",
        "listener.security.protocol.map": "CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT",
        "inter.broker.listener.name": "BROKER",
    }


def test_a_client_gets_in_with_a_token(place: Place) -> None:
    assert place.takes(place.issuer.token())
    assert place.takes(place.issuer.token(aud=["web", "other"])), "one of several audiences is enough"
    assert "/keys" in place.issuer.asked


def test_a_client_fetches_its_own_token(place: Place) -> None:
    client = place.client(
        **{
            "sasl.oauthbearer.method": "oidc",
            "sasl.oauthbearer.client.id": CLIENT,
            "sasl.oauthbearer.client.secret": SECRET,
            "sasl.oauthbearer.token.endpoint.url": f"{place.issuer.url}/token",
            "https.ca.location": str(place.issuer.ca_file),
        }
    )
    assert client.list_topics(timeout=10).brokers
    assert "/token" in place.issuer.asked


def as_module(place: Place, secret: str = SECRET) -> dict[str, object]:
    """Return the options of a module that logs in with tokens."""
    url, ca_file = f"{place.issuer.url}/token", str(place.issuer.ca_file)
    login = SaslLogin("OAUTHBEARER", CLIENT, secret, url, "kafka", ca_file)
    where = {"bootstrap_servers": place.broker.bootstrap_servers, "security_protocol": "SASL_PLAINTEXT"}
    return {**where, **login.options()}


def test_modules_log_in_with_tokens(place: Place) -> None:
    asked = place.issuer.asked.count("/token")
    info = run_module("streamops.kafka.cluster_info", as_module(place))
    assert [node["id"] for node in info["nodes"]] == [1]
    assert place.issuer.asked.count("/token") == asked + 1, "one token for all connections of a module"
    wanted = {**as_module(place), "topics": [{"name": "of-modules", "partitions": 1, "replication_factor": 1}]}
    assert run_module("streamops.kafka.topics", wanted)["changed"]
    assert not run_module("streamops.kafka.topics", wanted)["changed"]


def test_a_module_with_a_wrong_secret_says_what_the_issuer_says(place: Place) -> None:
    refused = run_module("streamops.kafka.cluster_info", as_module(place, "wrong-one"))
    assert refused["failed"]
    assert "401: invalid_client" in refused["msg"]
    assert "wrong-one" not in str(refused)


def test_a_java_client_logs_in_with_tokens(place: Place, tmp_path: Path) -> None:
    options = as_module(place)
    topic = {"topics": [{"name": "of-java", "partitions": 1, "replication_factor": 1}]}
    assert run_module("streamops.kafka.topics", {**options, **topic})["changed"]
    file = tmp_path / "client.properties"
    file.write_text(to_text(client_properties(options)))
    tool = [str(place.broker.release / "bin" / "kafka-console-producer.sh"), "--topic", "of-java"]
    tool += ["--bootstrap-server", place.broker.bootstrap_servers[0], "--producer.config", str(file)]

    def said(urls: str) -> str:
        """Write a record with a JVM that may ask these addresses; return what it complains of."""
        environment = {**os.environ, "KAFKA_OPTS": f"{TOKEN_ADDRESSES}{urls}"}
        done = subprocess.run(
            tool, input="one\n", capture_output=True, text=True, timeout=120, env=environment, check=False
        )
        return f"{done.stdout}{done.stderr}" if done.returncode or "ERROR" in done.stdout + done.stderr else ""

    assert "allowed.urls" in said("https://other.example.com/token")
    assert said(f"{place.issuer.url}/token") == ""
    settings = Connection.from_params(options).confluent_config()
    reader = Consumer({**settings, "group.id": "readers-of-java", "log_level": 0})
    try:
        assert reader.get_watermark_offsets(TopicPartition("of-java", 0), timeout=20) == (0, 1)
    finally:
        reader.close()


def hour(hours: float) -> int:
    """Return a time in seconds since 1970, by hours from now."""
    return int(time.time() + hours * 3600)


BAD: dict[str, Callable[[TokenIssuer], str]] = {
    "ended": lambda issuer: issuer.token(iat=hour(-2), exp=hour(-1)),
    "not valid yet": lambda issuer: issuer.token(nbf=hour(1)),
    "another audience": lambda issuer: issuer.token(aud="web"),
    "no audience": lambda issuer: issuer.token(aud=None),
    "another issuer": lambda issuer: issuer.token(iss="https://other.example.com"),
    "no issuer": lambda issuer: issuer.token(iss=None),
    "no end": lambda issuer: issuer.token(exp=None),
    "no principal": lambda issuer: issuer.token(sub=None),
    "an unknown key": lambda issuer: issuer.token(Key("unknown")),
    "another key of a known name": lambda issuer: issuer.token(Key(issuer.keys[-1].name)),
    "no signature": lambda issuer: issuer.unsigned(),
    "100 kB": lambda issuer: issuer.token(more="x" * 100_000),
}


@pytest.mark.parametrize("what", BAD)
def test_a_token_is_refused(place: Place, what: str) -> None:
    assert not place.takes(BAD[what](place.issuer)), what
    assert place.broker.alive
    assert place.takes(place.issuer.token()), "the next good one is taken"


def test_a_connection_ends_with_its_token(place: Place) -> None:
    token = place.issuer.token(exp=int(time.time()) + 6)
    client = place.client(oauth_cb=lambda _config: (token, time.time() + LIFETIME))
    client.poll(1)
    assert client.list_topics(timeout=8).brokers
    # After its end and the skew of clocks the connection is closed, and the token opens no other one.
    time.sleep(8 + 2 * SKEW)
    with pytest.raises(KafkaException):
        client.list_topics(timeout=5)


def test_a_new_key_is_taken_at_once(place: Place) -> None:
    old = place.issuer.token()
    place.issuer.rotate("second")
    # Kafka asks again for a key that it does not know, in the background.
    until(lambda: place.takes(place.issuer.token()), "tokens of the new key to be taken")
    assert place.takes(old), "the old key is still shown"


def test_a_broker_that_starts_while_its_issuer_is_down_ends(place: Place) -> None:
    place.issuer.is_down = True
    assert place.takes(place.issuer.token()), "one that runs keeps the keys"
    place.broker.terminate()
    try:
        with pytest.raises(AssertionError):
            place.broker.start()
    finally:
        place.issuer.is_down = False
        place.broker.kill()
    place.broker.start()
    assert place.takes(place.issuer.token())

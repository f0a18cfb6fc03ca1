"""Tokens of a real Keycloak: a broker with the properties that roles write takes them; modules and Java get them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.login import TOKEN_ADDRESSES
from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.oauth import TokenIssuer
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.security import client_properties
from tests.support.cluster import free_port_base
from tests.support.keycloak import AUDIENCE, CLIENT, PRINCIPAL, PRINCIPAL_CLAIM, SECRET, Keycloak
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.token_broker import as_module, token_broker

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def keycloak(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keycloak]:
    made = Keycloak(tmp_path_factory.mktemp("keycloak"))
    try:
        made.start()
        yield made
    finally:
        made.stop()


def said(keycloak: Keycloak, claim: str = PRINCIPAL_CLAIM, audience: str = AUDIENCE) -> TokenIssuer:
    """Return what an inventory says of it."""
    return TokenIssuer.of(
        {
            "issuer": keycloak.issuer,
            "jwks_url": keycloak.jwks_url,
            "endpoint_url": keycloak.endpoint_url,
            "audience": audience,
            "principal_claim": claim,
            "ca_file": str(keycloak.ca_file),
        }
    )


@pytest.fixture(params=["4.3.1", "3.9.2"])
def broker(
    request: pytest.FixtureRequest, keycloak: Keycloak, kafka_release: Callable[[str], Path], tmp_path: Path
) -> Iterator[LoneBroker]:
    version = request.param
    place, taken = tmp_path / "broker", said(keycloak)
    with token_broker(kafka_release(version), version, place, free_port_base(), taken, PRINCIPAL) as made:
        yield made


def options(broker: LoneBroker, keycloak: Keycloak, secret: str = SECRET) -> dict[str, object]:
    """Return the options of a module that logs in with a token of Keycloak."""
    return as_module(broker, said(keycloak).login("OAUTHBEARER", CLIENT, secret))


def test_modules_and_java_log_in_with_tokens_of_keycloak(
    broker: LoneBroker, keycloak: Keycloak, tmp_path: Path
) -> None:
    wanted = {**options(broker, keycloak), "topics": [{"name": "orders", "partitions": 1, "replication_factor": 1}]}
    made = run_module("streamops.kafka.topics", wanted)
    assert made.get("changed"), made
    file = tmp_path / "client.properties"
    file.write_text(to_text(client_properties(options(broker, keycloak))))
    tool = [str(broker.release / "bin" / "kafka-console-producer.sh"), "--topic", "orders"]
    tool += ["--bootstrap-server", broker.bootstrap_servers[0], "--producer.config", str(file)]
    environment = {**os.environ, "KAFKA_OPTS": f"{TOKEN_ADDRESSES}{keycloak.endpoint_url}"}
    done = subprocess.run(tool, input="one\n", capture_output=True, text=True, timeout=120, env=environment, check=True)
    assert "ERROR" not in done.stdout + done.stderr
    refused = run_module("streamops.kafka.cluster_info", options(broker, keycloak, "wrong-one"))
    assert refused["failed"]
    assert "401" in refused["msg"]
    assert "wrong-one" not in str(refused)


def test_a_token_for_another_audience_is_refused(
    keycloak: Keycloak, kafka_release: Callable[[str], Path], tmp_path: Path
) -> None:
    other = said(keycloak, audience="payments")
    with token_broker(kafka_release("4.3.1"), "4.3.1", tmp_path / "broker", free_port_base(), other) as broker:
        refused = run_module("streamops.kafka.cluster_info", options(broker, keycloak))
        assert refused["failed"], "the tokens of this client have the audience kafka alone"
        assert PRINCIPAL not in str(refused)

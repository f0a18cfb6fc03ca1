"""The settings of the service: what is wrong is named, whatever it is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from page.config import config_of

KAFKA = {"bootstrap_servers": ["kafka1:9092"]}


def test_defaults_listen_on_loopback() -> None:
    found = config_of(json.dumps({"kafka": KAFKA}))
    assert (found.host, found.port, found.interval, found.connection.request_timeout) == ("127.0.0.1", 9406, 30, 10)
    assert config_of(json.dumps({"kafka": KAFKA, "host": "::1"})).host == "::1"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ([], "kafka"),
        ({}, "kafka"),
        ({"kafka": {}}, "bootstrap_servers"),
        ({"kafka": {"bootstrap_servers": "kafka1:9092"}}, "bootstrap_servers"),
        ({"kafka": {"bootstrap_servers": ["kafka1"]}}, "bootstrap_servers"),
        ({"kafka": {**KAFKA, "pasword": "x"}}, "kafka.pasword"),
        ({"kafka": {**KAFKA, "security_protocol": "TLS"}}, "security_protocol"),
        ({"kafka": {**KAFKA, "sasl_password": 7}}, "sasl_password"),
        ({"kafka": {**KAFKA, "request_timeout": 0}}, "request_timeout"),
        ({"kafka": KAFKA, "port": "9406"}, "port"),
        ({"kafka": KAFKA, "interval": True}, "interval"),
        ({"kafka": KAFKA, "intervall": 5}, "intervall"),
        ({"kafka": KAFKA, "host": "0.0.0.0"}, "host"),
        ({"kafka": KAFKA, "host": "kafka1"}, "host"),
        ({"kafka": KAFKA, "host": None}, "host"),
    ],
)
def test_what_is_wrong_is_named(given: Any, named: str) -> None:
    with pytest.raises(RefusedError, match=named):
        config_of(json.dumps(given))


def test_what_is_no_json_is_said() -> None:
    with pytest.raises(RefusedError, match="no JSON"):
        config_of("kafka:")

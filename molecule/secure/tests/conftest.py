"""What the tests of the secured cluster share: its CA, and a user of Kafka on another machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import certificates
from tests.support.machines import Attempted, Machine


@pytest.fixture(scope="session")
def ca_directory(machines: dict[str, Machine]) -> Path:
    """Where prepare.yml put the CA and the certificates of the nodes."""
    return Path(machines["broker1"].variables["kafka_tls_ca_file"]).parent


@pytest.fixture(scope="session")
def ca(ca_directory: Path) -> certificates.Issued:
    """The CA that all nodes trust."""
    return certificates.read(ca_directory, "ca")


@pytest.fixture(scope="session")
def attempt(machines: dict[str, Machine], attempted: Attempted, ca: certificates.Issued) -> Callable[..., str]:
    """How an attempt ends that a user of Kafka makes on the client's machine: attempt(what, login...)."""
    brokers = [machine for machine in machines.values() if machine.is_broker]
    servers = [f"{broker.address}:{broker.ports['clients']}" for broker in brokers]

    def tried(what: str, **login: str) -> str:
        question = {"do": what, "servers": servers, "ca": ca.pem().decode(), "login": login}
        return attempted(machines["client"], {**question, "topic": "orders", "group": "billing"})

    return tried

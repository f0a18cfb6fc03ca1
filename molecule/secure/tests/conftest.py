"""What the tests of the secured cluster share: its CA, and a user of Kafka on another machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import kafka
import pytest

from tests.support import certificates
from tests.support.machines import PROGRAMS, Machine, docker

LIBRARIES = "/opt/client"


@pytest.fixture(scope="session")
def ca_directory(nodes: list[Machine]) -> Path:
    """Where prepare.yml put the CA and the certificates of the nodes."""
    return Path(nodes[0].variables["kafka_tls_ca_file"]).parent


@pytest.fixture(scope="session")
def ca(ca_directory: Path) -> certificates.Issued:
    """The CA that all nodes trust."""
    return certificates.read(ca_directory, "ca")


@pytest.fixture(scope="session")
def attempt(machines: dict[str, Machine], nodes: list[Machine], ca: certificates.Issued) -> Callable[..., str]:
    """How an attempt ends that a user of Kafka makes on the client's machine: attempt(what, login...)."""
    client = machines["client"]
    client.run("mkdir", "-p", LIBRARIES)
    docker("cp", "--quiet", str(Path(kafka.__file__).parent), f"{client.name}:{LIBRARIES}/")
    source = (PROGRAMS / "attempt.py").read_text()
    servers = [f"{node.address}:{node.ports['clients']}" for node in nodes if node.is_broker]

    def tried(what: str, **login: str) -> str:
        question = {"do": what, "servers": servers, "ca": ca.pem().decode(), "login": login}
        question |= {"topic": "orders", "group": "billing"}
        given = json.dumps(question)
        return client.run("env", f"PYTHONPATH={LIBRARIES}", "python3", "-c", source, given=given)

    return tried

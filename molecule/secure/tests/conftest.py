"""What the tests of the secured cluster share: its CA, and programs that run on other machines."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kafka
import pytest

from tests.support import certificates
from tests.support.machines import Ask, Machine, docker

HERE = Path(__file__).parent
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
def ask() -> Ask:
    """ask(machine, program, question): what a program of this folder answers there; None is the control node."""

    def asked(machine: Machine | None, program: str, question: Any) -> str:
        source, given = (HERE / program).read_text(), json.dumps(question)
        if machine is not None:
            return machine.run("python3", "-c", source, given=given)
        command = [sys.executable, "-c", source]
        return subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=True).stdout

    return asked


@pytest.fixture(scope="session")
def attempt(machines: dict[str, Machine], nodes: list[Machine], ca: certificates.Issued) -> Callable[..., str]:
    """How an attempt ends that a user of Kafka makes on the client's machine: attempt(what, login...)."""
    client = machines["client"]
    client.run("mkdir", "-p", LIBRARIES)
    docker("cp", "--quiet", str(Path(kafka.__file__).parent), f"{client.name}:{LIBRARIES}/")
    source = (HERE / "attempt.py").read_text()
    servers = [f"{node.address}:{node.ports['clients']}" for node in nodes if node.is_broker]

    def tried(what: str, **login: str) -> str:
        question = {"do": what, "servers": servers, "ca": ca.pem().decode(), "login": login}
        question |= {"topic": "orders", "group": "billing"}
        given = json.dumps(question)
        return client.run("env", f"PYTHONPATH={LIBRARIES}", "python3", "-c", source, given=given)

    return tried

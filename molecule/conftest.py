"""The machines of a scenario, for tests that look at them from the control node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._connection import Connection
from tests.support.machines import PROGRAMS, Ask, Machine

VARIABLE = "STREAMOPS_MACHINES"


def read_machines() -> list[Machine]:
    """The machines that molecule's verify step wrote down."""
    path = os.environ.get(VARIABLE)
    if not path:
        raise pytest.UsageError(f"{VARIABLE} names no file: run these tests by `molecule verify -s SCENARIO`")
    return [Machine(name=name, **facts) for name, facts in json.loads(Path(path).read_text()).items()]


def pytest_generate_tests(metafunc: Any) -> None:
    """A test that takes `node` runs once for each machine that is a Kafka node."""
    if "node" in metafunc.fixturenames:
        nodes = [machine for machine in read_machines() if machine.is_node]
        metafunc.parametrize("node", nodes, ids=lambda machine: machine.name)


NOTES = pytest.StashKey[list[str]]()


@pytest.fixture
def note(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Keeps a measured figure for the end of the output."""
    return request.config.stash.setdefault(NOTES, []).append


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Shows the figures that tests noted."""
    for line in config.stash.get(NOTES, []):
        terminalreporter.write_line(line)


@pytest.fixture(scope="session")
def machines() -> dict[str, Machine]:
    """All machines of the scenario by name."""
    return {machine.name: machine for machine in read_machines()}


@pytest.fixture(scope="session")
def nodes(machines: dict[str, Machine]) -> list[Machine]:
    """Those that are Kafka nodes."""
    return [machine for machine in machines.values() if machine.is_node]


@pytest.fixture(scope="session")
def ask() -> Ask:
    """ask(machine, program, question): what a program of shared/programs answers there; None is the control node."""

    def asked(machine: Machine | None, program: str, question: Any) -> str:
        source, given = (PROGRAMS / program).read_text(), json.dumps(question)
        if machine is not None:
            return machine.run("python3", "-c", source, given=given)
        command = [sys.executable, "-c", source]
        return subprocess.run(command, input=given, capture_output=True, text=True, timeout=60, check=True).stdout

    return asked


@pytest.fixture(scope="session")
def administrator(nodes: list[Machine]) -> dict[str, Any]:
    """How the cluster's administrator connects, in the words of the modules."""
    brokers = [machine for machine in nodes if machine.is_broker]
    connection = {"bootstrap_servers": [f"{machine.address}:{machine.ports['clients']}" for machine in brokers]}
    password = brokers[0].get("kafka_admin_password", "")
    if not password:
        return connection
    login = {"security_protocol": "SASL_SSL", "sasl_mechanism": "SCRAM-SHA-512", "sasl_password": password}
    names = {"sasl_username": brokers[0].variables["kafka_admin_user"]}
    return {**connection, **login, **names, "ssl_ca_location": brokers[0].variables["kafka_tls_ca_file"]}


@pytest.fixture(scope="session")
def settings(administrator: dict[str, Any]) -> dict[str, Any]:
    """The same in the words of librdkafka, without the addresses."""
    found = Connection.from_params(administrator).confluent_config()
    del found["bootstrap.servers"]
    return found


@pytest.fixture(scope="session")
def ensemble(nodes: list[Machine]) -> dict[str, Any]:
    """How the ensemble of ZooKeeper is asked, in the words of zookeeper_info."""
    servers = [machine for machine in nodes if machine.is_server]
    places = [{"id": one.node_id, "host": one.address, "port": one.ports["zookeeper_clients"]} for one in servers]
    known = servers[0].variables
    login = {"sasl_username": known["zookeeper_user"], "sasl_password": known["zookeeper_password"]}
    return {"servers": places, **login, "ssl_ca_location": known["kafka_tls_ca_file"]}

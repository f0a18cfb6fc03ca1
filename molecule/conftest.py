"""The machines of a scenario, for tests that look at them from the control node."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kafka
import pytest

from tests.support.machines import PROGRAMS, Ask, Attempted, Machine, administrator_of, client_settings, docker

VARIABLE = "STREAMOPS_MACHINES"
# Where a client's machine gets kafka-python.
LIBRARIES = "/opt/client"


def read_machines() -> list[Machine]:
    """The machines that molecule's verify step wrote down."""
    path = os.environ.get(VARIABLE)
    if not path:
        raise pytest.UsageError(f"{VARIABLE} names no file: run these tests by `molecule verify -s SCENARIO`")
    return [Machine(name=name, **facts) for name, facts in json.loads(Path(path).read_text()).items()]


def pytest_generate_tests(metafunc: Any) -> None:
    """A test that takes `node` runs once for each node of Kafka or ZooKeeper, one that takes `process` for each mirror
    too, and what asks for a cluster, by the fixture `cluster_name` or one made of it, once for each cluster."""
    asked = {"node": lambda one: one.is_node, "process": lambda one: one.is_process}
    for name in [name for name in asked if name in metafunc.fixturenames]:
        found = [machine for machine in read_machines() if asked[name](machine)]
        if "cluster_name" not in metafunc.fixturenames:
            metafunc.parametrize(name, found, ids=lambda machine: machine.name)
        else:
            pairs = [(machine, machine.cluster) for machine in found]
            metafunc.parametrize((name, "cluster_name"), pairs, ids=[machine.name for machine in found])
            return
    if "cluster_name" in metafunc.fixturenames:
        metafunc.parametrize("cluster_name", dict.fromkeys(one.cluster for one in read_machines() if one.is_node))


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


@pytest.fixture
def nodes(machines: dict[str, Machine], cluster_name: str) -> list[Machine]:
    """Those that are nodes of the cluster."""
    return [machine for machine in machines.values() if machine.is_node and machine.cluster == cluster_name]


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
def attempted() -> Attempted:
    """attempted(machine, question): how an attempt of programs/attempt.py ends that a user of Kafka makes there."""
    source, prepared = (PROGRAMS / "attempt.py").read_text(), set()

    def tried(machine: Machine, question: dict[str, Any]) -> str:
        if machine.name not in prepared:
            machine.run("mkdir", "-p", LIBRARIES)
            docker("cp", "--quiet", str(Path(kafka.__file__).parent), f"{machine.name}:{LIBRARIES}/")
            prepared.add(machine.name)
        command = ["env", f"PYTHONPATH={LIBRARIES}", "python3", "-c", source]
        return machine.run(*command, given=json.dumps(question))

    return tried


@pytest.fixture
def administrator(nodes: list[Machine]) -> dict[str, Any]:
    """How the cluster's administrator connects, in the words of the modules."""
    return administrator_of(nodes)


@pytest.fixture
def settings(nodes: list[Machine]) -> dict[str, Any]:
    """The same in the words of librdkafka, without the addresses."""
    return client_settings(administrator_of(nodes, writes=True))


@pytest.fixture
def ensemble(nodes: list[Machine]) -> dict[str, Any]:
    """How the ensemble of ZooKeeper is asked, in the words of zookeeper_info."""
    servers = [machine for machine in nodes if machine.is_server]
    places = [{"id": one.node_id, "host": one.address, "port": one.ports["zookeeper_clients"]} for one in servers]
    known = servers[0].variables
    login = {"sasl_username": known["zookeeper_user"], "sasl_password": known["zookeeper_password"]}
    return {"servers": places, **login, "ssl_ca_location": known["kafka_tls_ca_file"]}

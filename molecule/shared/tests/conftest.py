"""The machines of a scenario, for tests that look at them from the control node."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.machines import Machine

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
def nodes() -> list[Machine]:
    """All Kafka nodes of the scenario."""
    return [machine for machine in read_machines() if machine.is_node]


@pytest.fixture(scope="session")
def bootstrap_servers(nodes: list[Machine]) -> list[str]:
    """host:port of every broker for clients."""
    return [f"{machine.address}:9092" for machine in nodes if machine.is_broker]

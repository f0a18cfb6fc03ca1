"""Real clusters for the tests of this room: one for each mode, installed by the product's own site.yml."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base, ports_given_back
from tests.support.growing import FOURTH, three_nodes, with_brokers
from tests.support.parts import NOTED, note_minutes
from tests.support.releases import unpacked
from tests.support.schedule import Together, is_plain, longest_first, together
from tests.support.secured import METRICS_LOGIN, PASSWORD, secured_cluster
from tests.support.zookeeper import ZookeeperCluster, shipped

INVENTORIES = ROOT / "inventories"
AnyCluster = TypeVar("AnyCluster", bound=Cluster)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Together:
    """What `pytest -n` runs where."""
    return Together(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Several processes begin with what takes longest; one keeps the order of the files."""
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: longest_first(item.nodeid, is_plain(config)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Iterator[None]:
    """The cluster that a test itself makes ends with it; what fixtures made before keeps its ports."""
    with ports_given_back():
        return (yield)


@pytest.fixture(scope="session")
def engine() -> None:
    """An engine that answers; without one these tests are skipped, but never in continuous integration."""
    if shutil.which("docker") and subprocess.run(["docker", "info"], capture_output=True, check=False).returncode == 0:
        return
    if os.environ.get("CI"):
        pytest.fail("no Docker engine answers: tools/docker_engine.sh start")
    pytest.skip("no Docker engine answers: tools/docker_engine.sh start")


#: The clusters of this process that several files share, by the names of their fixtures.
_RUNNING: dict[str, Cluster] = {}


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """A shared cluster ends with the last test that uses it: its nodes would take processor time from all others.

    Only where several processes run, each of which gets the files of a shared cluster together, see `Together`.
    """
    yield
    name = together(item.nodeid.partition("::")[0])
    if hasattr(item.config, "workerinput") and nextitem and together(nextitem.nodeid.partition("::")[0]) != name:
        _end(name)


def _shared(name: str, cluster: AnyCluster) -> Iterator[AnyCluster]:
    _RUNNING[name] = cluster
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        _end(name)


def _end(name: str) -> None:
    if cluster := _RUNNING.pop(name, None):
        cluster.destroy()


def _installed(cluster: AnyCluster) -> Iterator[AnyCluster]:
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


@pytest.fixture(scope="session")
def combined(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes kafka1 to kafka3; tests leave all of them running and in sync."""
    cluster = Cluster(INVENTORIES / "local", tmp_path_factory.mktemp("combined"), free_port_base())
    yield from _shared("combined", cluster)


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes whose inventory brokers join and leave; not those of `combined`."""
    yield from _installed(three_nodes(tmp_path_factory.mktemp("three")))


@pytest.fixture(scope="module")
def four(three: Cluster) -> Iterator[Cluster]:
    """The cluster `three` with kafka4 in its inventory."""
    yield from with_brokers(three, FOURTH)


@pytest.fixture(scope="module")
def isolated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three controllers and three brokers; tests leave all of them running and in sync."""
    directory = tmp_path_factory.mktemp("isolated")
    yield from _installed(Cluster(INVENTORIES / "local_isolated", directory, free_port_base()))


@pytest.fixture(scope="session")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Three combined nodes; clients log in, nodes show certificates, nothing is allowed that no ACL allows."""
    more = {
        "kafka_sasl_mechanisms": ["SCRAM-SHA-512", "SCRAM-SHA-256"],
        "kafka_metrics_enabled": True,
        "kafka_metrics_user": METRICS_LOGIN[0],
        "kafka_metrics_password": METRICS_LOGIN[1],
    }
    yield from _shared("secured", secured_cluster(tmp_path_factory.mktemp("secured"), PASSWORD, **more))


@pytest.fixture(scope="session")
def zookeeper(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ZookeeperCluster]:
    """Three servers of ZooKeeper and brokers 11, 12, 13; tests leave all of them running and in sync."""
    variables = {"kafka_metrics_enabled": True}
    directory = tmp_path_factory.mktemp("zookeeper")
    yield from _shared("zookeeper", ZookeeperCluster(shipped(), directory, free_port_base(), variables))


@pytest.fixture(scope="session")
def kafka_release(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the directory of an unpacked release of a version, made by the product's own module."""

    @cache
    def release(version: str) -> Path:
        return unpacked(version, tmp_path_factory.mktemp("releases"))

    return release


def pytest_sessionstart(session: pytest.Session) -> None:
    """Forgets the minutes of an earlier run, and notes those of this one."""
    if not os.environ.get("PYTEST_XDIST_WORKER") and not session.config.option.collectonly:
        notes = Notes(is_plain(session.config))
        NOTED[notes.plain].unlink(missing_ok=True)
        session.config.pluginmanager.register(notes)


class Notes:
    """Notes how long each step of a test took."""

    def __init__(self, plain: bool) -> None:
        """Long and plain forms are noted apart."""
        self.plain = plain

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Notes one step."""
        note_minutes(report.nodeid, report.duration, self.plain)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Shows a failure when it happens: pytest shows none before the end."""
    if report.failed and not os.environ.get("PYTEST_XDIST_WORKER"):
        print(
            f"\nFAILED so far: {report.nodeid} ({report.when})\n{report.longreprtext[-3000:]}",
            file=sys.__stderr__,
            flush=True,
        )

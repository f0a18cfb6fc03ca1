"""Machines reached by SSH, and jobs of the execution environment, for the tests of this room."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.awx_job import SITE, Jobs
from tests.support.cluster import NODE_OPTIONS, ROOT
from tests.support.ssh_machines import Machines, ssh_machines

NODES = ("kafka1", "kafka2", "kafka3")
#: The same three combined nodes as in the smallest real cluster; nothing of it but numbers and booleans is special.
VARIABLES = {
    "kafka_cluster_name": "orders",
    "kafka_mode": "kraft_combined",
    "kafka_profile": "development",
    "kafka_heap_size": "512m",
    "kafka_jvm_options": NODE_OPTIONS,
    "kafka_topics": [{"name": "orders", "partitions": 6, "replication_factor": 3}],
}


@pytest.fixture(scope="session")
def collection(engine: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The collection of this checkout as it is installed; the image that it goes into is there then."""
    directory = tmp_path_factory.mktemp("collection")
    for words in (["need"], ["collection", str(directory)]):
        subprocess.run([sys.executable, str(ROOT / "tools" / "ee_image"), *words], check=True)
    return directory


@pytest.fixture(scope="session")
def machines(collection: Path) -> Iterator[Machines]:
    """Three machines for nodes."""
    with ssh_machines(*NODES) as machines:
        yield machines


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project that AWX has fetched: the shipped one without a collection, which the environment holds."""
    project = Path(shutil.copytree(ROOT / "awx" / "project", tmp_path_factory.mktemp("awx") / "project"))
    shutil.copy(Path(__file__).parent / "tasks" / "hold_lock.yml", project)
    for path in (project, *project.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return project


@pytest.fixture(scope="session")
def jobs(machines: Machines, project: Path, collection: Path) -> Jobs:
    """Job templates for three nodes that the first job has installed; tests leave all of them in sync."""
    hosts = {name: {"kafka_node_id": number} for number, name in enumerate(NODES, 1)}
    groups = {"kraft_controllers": hosts, "kafka_brokers": hosts}
    jobs = Jobs(machines, groups, dict(VARIABLES), project, collection)
    jobs.run("site", **SITE).ok()
    return jobs

# SPDX-License-Identifier: GPL-3.0-or-later
"""The collection as users get it: built, installed, and run by its full name from an empty folder."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import BIN, ROOT, Cluster, Run, environment, free_port_base, parse_recap
from tests.support.runs import heard


@pytest.fixture(scope="module")
def collections(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of collections with the built one in it; those it depends on come with the package ansible."""
    folder = tmp_path_factory.mktemp("installed")
    galaxy = [str(BIN / "ansible-galaxy"), "collection"]
    build = [*galaxy, "build", "--output-path", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    (archive,) = folder.glob("*.tar.gz")
    install = [*galaxy, "install", "--no-deps", "-p", str(folder), str(archive)]
    subprocess.run(install, check=True, capture_output=True, timeout=120, cwd=folder)
    return folder


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Cluster]:
    """A user's own inventory of three nodes, far from the repository."""
    inventory = tmp_path / "inventory"
    shutil.copytree(ROOT / "inventories" / "local", inventory)
    cluster = Cluster(inventory, tmp_path / "cluster", free_port_base())
    yield cluster
    cluster.destroy()


def run(cluster: Cluster, collections: Path, playbook: str, *arguments: str, **variables: Any) -> Run:
    """A playbook of the installed collection, by its full name, from an empty folder and without a configuration."""
    empty = cluster.directory.parent / "empty"
    empty.mkdir(exist_ok=True)
    settings = {name: value for name, value in environment().items() if name not in ("ANSIBLE_CONFIG", "PYTHONPATH")}
    done = heard(
        cluster.command(f"streamops.kafka.{playbook}", *arguments, **variables),
        cwd=empty,
        env={**settings, "ANSIBLE_COLLECTIONS_PATH": str(collections)},
    )
    assert os.listdir(empty) == [], "a run leaves nothing in the folder it is called from"
    return Run(done.returncode, done.stdout, parse_recap(done.stdout))


def test_a_dry_run_of_the_installed_collection_foresees_a_new_cluster(own: Cluster, collections: Path) -> None:
    foreseen = run(own, collections, "site", "--check", "--diff").ok()
    assert set(foreseen.recap) >= set(own.nodes)
    assert foreseen.changed > 0
    assert "+node.id=1" in foreseen.output
    assert [path.name for path in own.directory.iterdir()] == ["extra-vars.yml"], "a dry run writes nothing"
    assert not any(own.alive(node) for node in own.nodes)


@pytest.mark.full
def test_the_installed_collection_installs_and_proves_a_cluster(own: Cluster, collections: Path) -> None:
    proven = {"spark_validation_enabled": True, "spark_validation_records": 2000}
    run(own, collections, "site", **proven).ok()
    assert all(own.alive(node) for node in own.nodes)
    assert list((own.directory / "reports").rglob("report.html"))
    started = own.pids()
    assert run(own, collections, "site").ok().changed == 0
    assert own.pids() == started
    run(own, collections, "stop").ok()
    assert not any(own.alive(node) for node in own.nodes)

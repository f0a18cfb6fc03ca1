# SPDX-License-Identifier: GPL-3.0-or-later
"""A node whose host was renamed in the inventory: refused, and taken over with its data once its files are moved."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables


def inventory(folder: Path, host: str) -> Path:
    """One combined node with id 1."""
    groups = {name: {host: {"kafka_node_id": 1}} for name in ("kraft_controllers", "kafka_brokers")}
    return hosts_file(folder, groups, {**local_variables(), "kafka_topics": []})


@pytest.fixture
def names(tmp_path: Path) -> Iterator[tuple[Cluster, Cluster]]:
    """One cluster by two inventories: its node, installed as broker4 and stopped, and the same node as brk4."""
    root, port = tmp_path / "cluster", free_port_base()
    old, new = (Cluster(inventory(tmp_path / host, host), root, port) for host in ("broker4", "brk4"))
    try:
        old.playbook().ok()
        old.playbook("playbooks/stop.yml").ok()
        yield old, new
    finally:
        # Each knows the process of its own name only.
        old.destroy()
        new.destroy()


def files(root: Path) -> dict[str, int]:
    """All files but the variables of the run, with the time of their last change."""
    found = [path for path in root.rglob("*") if path.is_file() and path.name != "extra-vars.yml"]
    return {str(path): path.stat().st_mtime_ns for path in found}


def cluster_id(root: Path, host: str) -> str:
    lines = (root / "data" / host / "meta.properties").read_text().splitlines()
    return next(line for line in lines if line.startswith("cluster.id="))


@pytest.mark.full
def test_a_renamed_node_is_refused_and_starts_with_its_data_once_its_files_are_moved(
    names: tuple[Cluster, Cluster],
) -> None:
    _old, new = names
    root = new.directory
    before, identity = files(root), cluster_id(root, "broker4")

    run = new.playbook()
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert run.changed == 0, run.output[-4000:]
    assert "a node with the same id of cluster local was installed on the machine as broker4" in said
    for place in ("config/broker4/has-data", "config/supervisor/conf.d/kafka-broker4.conf", "data/broker4"):
        assert str(root / place) in said
    assert files(root) == before

    # As docs/format-guard.md says, but for the program.
    for kind in ("data", "config", "log"):
        (root / kind / "broker4").rename(root / kind / "brk4")
    service = root / "config" / "supervisor" / "conf.d" / "kafka-broker4.conf"
    run = new.playbook()
    assert run.rc != 0
    assert run.changed == 0
    assert "the service of this node under its old name broker4" in " ".join(run.output.split())

    service.unlink()
    new.playbook().ok()
    assert new.alive("brk4")
    assert cluster_id(root, "brk4") == identity
    assert not (root / "data" / "broker4").exists()
    assert new.playbook().ok().changed == 0

# SPDX-License-Identifier: GPL-3.0-or-later
"""`--check` of every playbook that users may call: it leaves a fresh host and a running cluster as they are."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import ROOT, Cluster, Run, free_port_base
from tests.support.playbooks import PUBLIC, example

pytestmark = pytest.mark.full

#: awx.yml works on AWX, and on no host of a cluster.
STARTED = [name for name in PUBLIC if name != "awx"]
#: What is there, where the example at the head of a playbook names what is not.
GIVEN: dict[str, dict[str, Any]] = {
    "change_replication_factor": {"kafka_replication_factor": {"__consumer_offsets": 2}},
    "dump": {"kafka_dump_what": "metadata"},
    "groups": {"kafka_consumer_group": "none-of-that-name"},
    "grow_topic": {"kafka_grow_topic": "__consumer_offsets", "kafka_grow_partitions": 60},
}
#: docs/README.md names them: they can be tried before there is anything.
ON_A_FRESH_HOST = {"site", "rolling_restart", "mirrors", "stop", "stop_node", "validate", "page", "monitoring"}
#: mirror_tune has no mirror to tune in the inventory of this test, and adopt says that nothing runs there.
ON_A_FRESH_HOST |= {"monitoring_files", "mirror_tune", "adopt"}
#: These need the hosts and metrics that the inventory beside adds.
WATCHING = {"page", "monitoring", "monitoring_files"}
#: What these say of three combined nodes, all alive and without ZooKeeper. That which follows a failed step of a
#: workflow fails in check mode too, so that the workflow does.
REFUSED = {
    "drain_and_remove_broker": "every broker here is a voter",
    "look_after_failure": "This step changed nothing, and fails so that the workflow does.",
    "replace_node": "A node that lives needs no replacement",
    "zookeeper_members": "zookeeper",
}


def checked(cluster: Cluster, playbook: str) -> Run:
    """A run with --check --diff."""
    if playbook in WATCHING:
        watching = str(ROOT / "inventories" / "watching")
        return cluster.playbook(f"playbooks/{playbook}.yml", "--check", "--diff", "-i", watching)
    given = {**example(playbook), **GIVEN.get(playbook, {})}
    return cluster.playbook(f"playbooks/{playbook}.yml", "--check", "--diff", **given)


@pytest.mark.parametrize("playbook", STARTED)
def test_on_a_fresh_host(playbook: str, tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    run = checked(cluster, playbook)
    assert (run.rc == 0) == (playbook in ON_A_FRESH_HOST), run.output[-3000:]
    assert [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]


@pytest.mark.parametrize("playbook", STARTED)
def test_on_a_running_cluster(playbook: str, combined: Cluster) -> None:
    pids, files = combined.pids(), state(combined)
    run = checked(combined, playbook)
    assert (run.rc == 0) == (playbook not in REFUSED), run.output[-3000:]
    assert REFUSED.get(playbook, "") in " ".join(run.output.split())
    assert (combined.pids(), state(combined)) == (pids, files)


def state(cluster: Cluster) -> dict[str, str]:
    """Every file of configuration and of start records with its digest."""
    folders = [cluster.directory / name for name in ("config", "run")]
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}

# SPDX-License-Identifier: GPL-3.0-or-later
"""`--check` of every playbook that users may call: it leaves a fresh host and a running cluster as they are."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import ROOT, Cluster, Run, free_port_base

pytestmark = pytest.mark.full

#: awx.yml works on AWX, and on no host of a cluster.
PUBLIC = sorted({path.stem for path in (ROOT / "playbooks").glob("[!_]*.yml")} - {"awx"})
GIVEN: dict[str, dict[str, Any]] = {
    "change_replication_factor": {"kafka_replication_factor": {"__consumer_offsets": 2}},
    "drain_and_remove_broker": {"kafka_remove_broker": "kafka3"},
    "dump": {"kafka_dump_node": "kafka3", "kafka_dump_what": "metadata"},
    "groups": {"kafka_consumer_group": "none-of-that-name"},
    "grow_topic": {"kafka_grow_topic": "__consumer_offsets", "kafka_grow_partitions": 60},
    "replace_node": {"kafka_replace_node": "kafka3"},
    "stop_node": {"kafka_stop_node": "kafka3"},
}
#: docs/README.md names them: they can be tried before there is anything.
ON_A_FRESH_HOST = {"site", "rolling_restart", "mirrors", "stop", "stop_node", "validate", "page", "monitoring"}
ON_A_FRESH_HOST |= {"monitoring_files"}
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
    more = ["-i", str(ROOT / "inventories" / "watching")] if playbook in WATCHING else []
    return cluster.playbook(f"playbooks/{playbook}.yml", "--check", "--diff", *more, **GIVEN.get(playbook, {}))


@pytest.mark.parametrize("playbook", PUBLIC)
def test_on_a_fresh_host(playbook: str, tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    run = checked(cluster, playbook)
    assert (run.rc == 0) == (playbook in ON_A_FRESH_HOST), run.output[-3000:]
    assert [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]


@pytest.mark.parametrize("playbook", PUBLIC)
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

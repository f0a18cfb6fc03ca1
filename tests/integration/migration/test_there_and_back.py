# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster on ZooKeeper goes to brokers of KRaft and back to where it began, under one load."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.migration import FLAG, OLD, PATIENT, STEPS, TOPIC, Way, phase_behind
from tests.support.modules import run_module
from tests.support.traffic import producing
from tests.support.zookeeper import ZookeeperCluster, inventory


@pytest.mark.full
def test_a_cluster_goes_there_and_back_under_load_and_no_record_is_lost(
    zookeeper: ZookeeperCluster, tmp_path: Path
) -> None:
    way = Way(inventory(tmp_path / "inventory"), zookeeper.directory, zookeeper.port_base)
    way.add_controllers()
    way.write_first_records()
    before = {node: way.started(node) for node in way.cluster.brokers}
    with producing(way.cluster.bootstrap_servers, TOPIC, rate=100, settings=PATIENT) as ledger:
        ledger.reaches(100)
        for phase in STEPS:
            assert phase_behind(way.next()) == phase
        assert not any(FLAG in way.started(node) for node in way.cluster.brokers)
        for phase in ("copied", "not_begun"):
            assert phase_behind(way.back()) == phase
        ledger.reaches(len(ledger.acknowledged) + 100)
    way.keeps(ledger, TOPIC)
    assert {node: way.started(node) for node in way.cluster.brokers} == before
    assert not any(way.cluster.alive(node) for node in way.cluster.controllers)
    told = way.cluster.ensemble(chroot="/local_zookeeper")["znodes"]
    assert (told["/controller"]["brokerid"] in (11, 12, 13), told["/migration"]) == (True, None)

    servers = {"bootstrap_servers": way.cluster.bootstrap_servers}
    gone = [{"name": topic, "state": "absent"} for topic in (TOPIC, OLD)]
    assert not run_module("streamops.kafka.topics", {**servers, "topics": gone, "allow_delete": True})["failed"]
    counts = run_module("streamops.kafka.cluster_info", servers)["counts"]
    assert (counts["under_replicated"], counts["offline"]) == (0, 0)

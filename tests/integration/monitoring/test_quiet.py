# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that is well wakes nobody: not under load, not while its nodes restart, not while its partitions move."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.monitoring.test_alerts import scrapes
from tests.support.cluster import Cluster
from tests.support.modules import run_module
from tests.support.prometheus import Prometheus, prometheus
from tests.support.secured import PASSWORD, admin_connection, client
from tests.support.traffic import producing

pytestmark = pytest.mark.full
#: So many partitions that each restart takes more replicas out of the ISR than KafkaIsrFlapping allows.
TOPIC = {"name": "quiet", "partitions": 60, "replication_factor": 3}
#: Longer than the `for` of the alerts that a restart could raise.
LATER = 420


@pytest.fixture
def watched(secured: Cluster, tmp_path: Path) -> Iterator[Prometheus]:
    """The alerts with their own times, on a cluster whose topic leads from each broker."""
    options = admin_connection(secured, PASSWORD)
    assert not run_module("streamops.kafka.topics", {**options, "topics": [TOPIC]})["failed"]
    with prometheus(tmp_path / "prometheus", scrapes(secured), {}, every=15, is_hastened=False) as made:
        yield made
    gone = [{"name": TOPIC["name"], "state": "absent"}]
    run_module("streamops.kafka.topics", {**options, "topics": gone, "confirm_deletion": [TOPIC["name"]]})


def test_a_roll_and_a_move_under_load_fire_nothing(secured: Cluster, watched: Prometheus) -> None:
    with producing(secured.bootstrap_servers, TOPIC["name"], settings=client(secured)) as ledger:
        secured.playbook("playbooks/rolling_restart.yml").ok()
        for replicas in (2, 3):
            factor = {TOPIC["name"]: replicas}
            secured.playbook("playbooks/change_replication_factor.yml", kafka_replication_factor=factor).ok()
        time.sleep(LATER)
    assert watched.fired() == {}
    assert not ledger.failed

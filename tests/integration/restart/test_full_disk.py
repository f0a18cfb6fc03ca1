# SPDX-License-Identifier: GPL-3.0-or-later
"""The disk of one broker is full: what the cluster does, and the steps of docs/at-night.md one by one."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base, until
from tests.support.modules import run_module
from tests.support.power import Disk, disk
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

FILLED = "kafka3"


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Disk]:
    """A disk for the data of kafka3, smaller than what the others have."""
    try:
        with disk(tmp_path / "c" / "data" / FILLED, 1600) as made:
            yield made
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"this machine lets no test mount a file system: {error}")


@pytest.fixture
def filling(tmp_path: Path, small: Disk) -> Iterator[Cluster]:
    """Three combined nodes, one of them with that disk."""
    assert small.place.is_mount()
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def test_a_full_disk_is_left_by_the_steps_for_the_night(filling: Cluster, small: Disk) -> None:
    servers = {"bootstrap_servers": filling.bootstrap_servers}
    topic = {"name": "filler", "partitions": 3, "replication_factor": 3, "config": {"segment.bytes": "16777216"}}
    assert not run_module("streamops.kafka.topics", {**servers, "topics": [topic]})["failed"]
    # What others wrote before: the broker has room for some of it, and then for nothing.
    ballast = small.place / "ballast"
    with producing(filling.bootstrap_servers, "filler", 200) as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "acknowledged records", 120)
        with contextlib.suppress(OSError), ballast.open("wb") as file:  # ENOSPC
            file.write(b"x" * shutil.disk_usage(small.place).free)
        until(lambda: not filling.alive(FILLED), "the broker to stop", 300)
        before = len(ledger.acknowledged)
        until(lambda: len(ledger.acknowledged) > before + 500, "records acknowledged without it", 120)
        looked = filling.playbook("playbooks/status.yml", status_strict=True)
        assert looked.rc != 0, looked.output[-3000:]
        assert "DEGRADED" in looked.output
        # 1. What fills the disk is made shorter, by the brokers that live.
        shorter = {**topic, "config": {**topic["config"], "retention.bytes": "33554432"}}
        assert not run_module("streamops.kafka.topics", {**servers, "topics": [shorter]})["failed"]
        # 2. Room again, as much as site.yml asks for, without a file of Kafka touched. 3. Start.
        ballast.unlink()
        filling.playbook("playbooks/site.yml").ok()
        settled = {**servers, "scope": "cluster", "timeout": 300}
        assert not run_module("streamops.kafka.isr_wait", settled)["failed"]
    assert not ledger.lost(read_all(filling.bootstrap_servers, "filler", 300))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that fail a node in its turn: what a roll leaves on them, and what the operator is told."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base
from tests.support.power import Disk, disk

pytestmark = pytest.mark.full

#: Kafka takes this when it reads its properties, and finds out at its start that there is no such class.
LATE = {"metric.reporters": "no.such.Reporter"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Disk]:
    """A disk for the start files of kafka1."""
    try:
        with disk(tmp_path_factory.mktemp("machines") / "c" / "config" / "kafka1", 8) as made:
            yield made
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"this machine lets no test mount a file system: {error}")


@pytest.fixture(scope="module")
def cluster(small: Disk) -> Iterator[Cluster]:
    """Three combined nodes, one of them with that disk."""
    cluster = Cluster(ROOT / "inventories" / "local", small.place.parents[1], free_port_base())
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def fill(place: Path) -> Path:
    """Fill the disk of a directory to its last block, with the file that is returned."""
    ballast = place / "ballast"
    with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:  # ENOSPC
        while file.write(b"x" * 1024):
            pass
    return ballast


def start_files(cluster: Cluster, node: str) -> str:
    """All that a node would start with now."""
    current = cluster.directory / "config" / node / "current"
    return "".join(path.read_text() for path in sorted(current.iterdir()))


def test_a_disk_without_room_for_new_start_files_stops_no_node(cluster: Cluster, small: Disk) -> None:
    before, files = cluster.pids(), {node: start_files(cluster, node) for node in cluster.nodes}
    ballast = fill(small.place)
    run = cluster.playbook(kafka_broker_config={"queued.max.requests": 401})
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert f"{small.place}: No space left on device" in said
    assert "What the node starts with is still one whole set. fix:" in said
    assert cluster.pids() == before
    assert {node: start_files(cluster, node) for node in cluster.nodes} == files
    ballast.unlink()
    cluster.playbook(kafka_broker_config={"queued.max.requests": 401}).ok()
    assert cluster.playbook(kafka_broker_config={"queued.max.requests": 401}).ok().changed == 0


def test_a_node_goes_back_also_where_its_disk_has_filled_since_the_staging(cluster: Cluster, small: Disk) -> None:
    stable = {"queued.max.requests": 401}
    cluster.playbook(kafka_broker_config=stable).ok()
    run = cluster.begin("site.yml", kafka_broker_config=stable | LATE, kafka_start_timeout=60)
    assert run.stdout is not None
    seen, ballast = [], None
    for line in run.stdout:
        seen.append(line)
        if ballast is None and "Roll | Acquire the lock" in line:
            ballast = fill(small.place)
    assert run.wait(60) != 0
    said = " ".join("".join(seen).split())
    assert "kafka1 did not come back with its new start files. It runs with those from before again" in said
    assert cluster.alive("kafka1")
    assert all("no.such" not in start_files(cluster, node) for node in cluster.nodes)
    assert ballast is not None
    ballast.unlink()
    before = cluster.pids()
    cluster.playbook(kafka_broker_config=stable).ok()
    assert cluster.pids() == before, "what was never in use needs no restart"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Moves to a broker whose disk is small, on a file system of its own; needs root, for the mount."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import Cluster, until
from tests.support.modules import run_module
from tests.support.moves import Background, move, record, replicas, throttles, topic_of

pytestmark = pytest.mark.full
DISK = 150 << 20


@pytest.fixture(scope="module")
def disk(three: Cluster) -> Iterator[Path]:
    """The file system that kafka4 has for itself."""
    place = three.directory / "data" / "kafka4"
    place.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", str(place)], check=True)
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


@pytest.fixture(scope="module")
def small(disk: Path, four: Cluster) -> Cluster:
    """The cluster with kafka4 on that disk."""
    four.playbook(preflight_min_free_mib=10).ok()
    return four


def to_four(topic: str, *partitions: int) -> dict[str, Any]:
    """The wish for these partitions on kafka4 alone."""
    listed = [{"topic": topic, "partition": number, "replicas": [4]} for number in partitions]
    return {"assignment": {"version": 1, "partitions": listed}, "concurrency": 1}


def test_a_small_disk_takes_what_it_has_room_for_and_is_asked_again_before_each_batch(
    small: Cluster, disk: Path
) -> None:
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": small.bootstrap_servers, "sizes": True})
    assert next(node["disk_total_bytes"] for node in info["nodes"] if node["id"] == 4) == DISK
    with topic_of(small, "big", {number: [1] for number in range(4)}, 40) as topic:
        before = throttles(small, topic)
        refused = move(small, **to_four(topic, 0, 1, 2, 3))
        assert "broker 4: would hold" in refused["msg"]
        assert f"its limit is {DISK - DISK * 15 // 100}" in refused["msg"]
        assert (record(small), throttles(small, topic)) == (None, before)
        run = Background(small, **to_four(topic, 0, 1), throttle=4_000_000)
        try:
            run.until(lambda: "slowest" in run.output(), "a line of progress")
            other = disk / "somebody-elses"
            other.write_bytes(bytes(60_000_000))
            run.until(lambda: "1 must wait" in run.output(), "the second batch to wait for room")
            assert sorted(replicas(small, topic).values()).count([4]) == 1
            other.unlink()
            until(lambda: record(small) is None, "the run to end", timeout=120)
        finally:
            run.kill()
        assert replicas(small, topic) == {0: [4], 1: [4], 2: [1], 3: [1]}
        assert throttles(small, topic) == before
        back = {"topic": topic, "partition": 0, "replicas": [1]}, {"topic": topic, "partition": 1, "replicas": [1]}
        moved = move(small, assignment={"version": 1, "partitions": list(back)}, throttle=0)
        assert not moved["failed"], moved

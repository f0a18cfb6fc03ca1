# SPDX-License-Identifier: GPL-3.0-or-later
"""Machines that fail a node in its turn: what a roll leaves on them, and what the operator is told."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base, local_variables, read_until
from tests.support.power import Disk, disk

pytestmark = pytest.mark.full

#: Kafka takes this when it reads its properties, and finds out at its start that there is no such class.
LATE = {"metric.reporters": "no.such.Reporter"}
FIRST = "inventory_hostname == 'kafka1'"
T = TypeVar("T")


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


def test_a_disk_without_room_for_new_start_files_stops_no_node(cluster: Cluster, small: Disk) -> None:
    before, files = cluster.pids(), {node: cluster.start_files(node) for node in cluster.nodes}
    ballast = fill(small.place)
    run = cluster.playbook(kafka_broker_config={"queued.max.requests": 401})
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert f"{small.place}: No space left on device" in said
    assert "What the node starts with is still one whole set. fix:" in said
    assert cluster.pids() == before
    assert {node: cluster.start_files(node) for node in cluster.nodes} == files
    ballast.unlink()
    cluster.playbook(kafka_broker_config={"queued.max.requests": 401}).ok()
    assert cluster.playbook(kafka_broker_config={"queued.max.requests": 401}).ok().changed == 0


def test_a_node_goes_back_also_where_its_disk_has_filled_since_the_staging(cluster: Cluster, small: Disk) -> None:
    stable = {"queued.max.requests": 401}
    cluster.playbook(kafka_broker_config=stable).ok()
    said, _ = rolled(
        cluster, lambda: fill(small.place), kafka_broker_config=f"{{{{ {stable | LATE} if {FIRST} else {stable} }}}}"
    )
    assert "kafka1 did not come back with its new start files. It runs with those from before again" in said
    assert all("no.such" not in cluster.start_files(node) for node in cluster.nodes)
    (small.place / "ballast").unlink()
    before = cluster.pids()
    cluster.playbook(kafka_broker_config=stable).ok()
    assert cluster.pids() == before, "what was never in use needs no restart"


def test_a_port_that_another_program_has_taken_since_the_checks_is_given_up_again(cluster: Cluster) -> None:
    """The node serves on its former port, for which it is waited."""
    stable: dict[str, Any] = {"kafka_broker_config": {"queued.max.requests": 401}}
    cluster.playbook(**stable).ok()
    taken = cluster.port("kafka1", 5)
    moved = f"{{{{ node_port | int + (5 if {FIRST} else 0) }}}}"
    given = local_variables()["kafka_listeners"]
    listeners = [{**one, "port": moved} if one["name"] == "CLIENT" else one for one in given]
    said, holder = rolled(
        cluster, lambda: socket.create_server(("127.0.0.1", taken)), kafka_listeners=listeners, **stable
    )
    with holder:
        assert "kafka1 did not come back with its new start files. It runs with those from before again" in said
        assert f"port {taken} is held by process {os.getpid()} (" in said
        assert cluster.listens("kafka1")
    before = cluster.pids()
    cluster.playbook(**stable).ok()
    assert cluster.pids() == before
    assert cluster.playbook(**stable).ok().changed == 0


def test_a_jar_that_a_release_lacks_is_there_again_before_a_node_restarts(cluster: Cluster) -> None:
    """One that only a start needs: the storage tool, which judges the properties, does without."""
    wanted: dict[str, Any] = {"kafka_broker_config": {"queued.max.requests": 402}}
    (jar,) = (cluster.directory / "install" / "releases").glob("*/libs/pcollections*.jar")
    jar.unlink()
    run = cluster.playbook(**wanted).ok()
    assert run.output.count("Roll | Record the restart") == len(cluster.nodes)
    assert jar.exists()
    assert cluster.playbook(**wanted).ok().changed == 0


def rolled(cluster: Cluster, act: Callable[[], T], **variables: Any) -> tuple[str, T]:
    """Run site.yml, which must fail, and act once the first node has its turn; what was said since, and of the act."""
    run = cluster.begin("site.yml", kafka_start_timeout=60, **variables)
    read_until(run, "Roll | Acquire the lock")
    acted = act()
    said, _ = run.communicate(timeout=900)
    assert run.returncode != 0
    return " ".join(said.split()), acted

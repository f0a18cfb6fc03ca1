# SPDX-License-Identifier: GPL-3.0-or-later
"""Power is cut below the page cache: what one machine loses, what all lose, and what flush.messages keeps."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, Cluster, free_port_base, until
from tests.support.modules import run_module
from tests.support.power import Disk, disk
from tests.support.traffic import Ledger, producing, read_all

pytestmark = pytest.mark.full


@pytest.fixture
def disks(tmp_path: Path) -> Iterator[dict[str, Disk]]:
    """A disk for each of three nodes, mounted where its data will be."""
    with contextlib.ExitStack() as stack:
        try:
            found = {n: stack.enter_context(disk(tmp_path / "c" / "data" / n)) for n in ("kafka1", "kafka2", "kafka3")}
        except (OSError, subprocess.CalledProcessError) as error:
            pytest.skip(f"this machine lets no test mount a file system: {error}")
        yield found


@pytest.fixture
def powered(tmp_path: Path, disks: dict[str, Disk]) -> Iterator[Cluster]:
    """Three combined nodes on these disks."""
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def cut(cluster: Cluster, disks: dict[str, Disk], nodes: Iterable[str]) -> None:
    """Take the power from these nodes and their disks at once, and give it back to the disks."""
    pids = {node: cluster.pid(node) for node in nodes}
    for node in pids:
        disks[node].cut()
    cluster.kill_supervisord()
    for node, pid in pids.items():
        # A broker that cannot write ends by itself.
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        until(lambda node=node: not cluster.alive(node), f"{node} to be gone", 120)
    for node in pids:
        disks[node].unmount()
        disks[node].mount()


@contextlib.contextmanager
def writing(cluster: Cluster, disks: dict[str, Disk], **topics: dict[str, str]) -> Iterator[dict[str, Ledger]]:
    """Write to new topics with these settings, from a moment at which all of before is on the disks."""
    rows = [
        {"name": name, "partitions": 3, "replication_factor": 3, "config": config} for name, config in topics.items()
    ]
    made = run_module("streamops.kafka.topics", {"bootstrap_servers": cluster.bootstrap_servers, "topics": rows})
    assert not made["failed"], made
    for one in disks.values():
        one.sync()
    patience = {"delivery.timeout.ms": 3000, "request.timeout.ms": 2000}
    with contextlib.ExitStack() as stack:
        ledgers = {
            name: stack.enter_context(producing(cluster.bootstrap_servers, name, 500, patience)) for name in topics
        }
        until(lambda: all(len(one.acknowledged) > 500 for one in ledgers.values()), "acknowledged records", 120)
        yield ledgers


def lost(cluster: Cluster, ledgers: dict[str, Ledger]) -> dict[str, int]:
    """How many acknowledged records of each topic cannot be read any more, once all machines are back."""
    cluster.playbook().ok()
    whole = {"bootstrap_servers": cluster.bootstrap_servers, "scope": "cluster", "timeout": 300}
    assert not run_module("streamops.kafka.isr_wait", whole)["failed"]
    return {name: len(one.lost(read_all(cluster.bootstrap_servers, name, 300))) for name, one in ledgers.items()}


def test_one_machine_without_power_loses_nothing_and_all_at_once_what_was_not_flushed(
    powered: Cluster, disks: dict[str, Disk]
) -> None:
    with writing(powered, disks, one={}) as ledgers:
        cut(powered, disks, ["kafka2"])
    assert lost(powered, ledgers) == {"one": 0}
    with writing(powered, disks, plain={}, flushed={"flush.messages": "1"}) as ledgers:
        cut(powered, disks, ["kafka1", "kafka2", "kafka3"])
    found = lost(powered, ledgers)
    assert found["flushed"] == 0
    assert found["plain"] > 0, "all at once lose what the kernel had not written"

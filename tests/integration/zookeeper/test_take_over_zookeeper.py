# SPDX-License-Identifier: GPL-3.0-or-later
"""An ensemble and its brokers that others started are taken over server by server, and given back, under load."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import Run, free_port_base, said
from tests.support.others import BACK, TAKE, OthersWithEnsemble, all_run, no_manager, phases
from tests.support.traffic import producing, read_all
from tests.support.zookeeper import shipped

TOPIC = "orders"
STOPPED = re.compile(r"Old service \| Stop the node, and keep.*?(zookeeper\d|broker\d+)", re.S)


@pytest.fixture
def others(tmp_path: Path) -> Iterator[OthersWithEnsemble]:
    """A running cluster of ZooKeeper mode of others."""
    cluster = OthersWithEnsemble(shipped(), tmp_path / "c", free_port_base())
    cluster.playbook().ok()
    try:
        cluster.become()
        yield cluster
    finally:
        cluster.destroy()


def in_order(run: Run) -> list[str]:
    """Return the nodes in the order in which their old services stopped them."""
    return list(dict.fromkeys(STOPPED.findall(run.output)))


def rights(cluster: OthersWithEnsemble) -> dict[str, tuple[int, int, int]]:
    """Return mode, owner and group of the directories and the identity of each server."""
    data = [cluster.data(server) for server in cluster.servers]
    logs = [path.with_name(f"{path.name}-txlog") for path in data]
    known = {str(path): os.stat(path) for path in (*data, *logs, *(path / "myid" for path in data))}
    return {path: (seen.st_mode, seen.st_uid, seen.st_gid) for path, seen in known.items()}


@pytest.mark.full
def test_an_ensemble_and_its_brokers_are_taken_over_and_given_back_without_a_loss(others: OthersWithEnsemble) -> None:
    no_manager(others)
    for server in others.servers:
        # Others have modes of their own.
        others.data(server).chmod(0o755)
    kept, owned, leader = others.kept(), rights(others), others.leader()
    assert "mntr is not executed" in others.word("zookeeper1", "mntr")
    refused = others.playbook()
    assert refused.rc != 0
    assert "a node that others installed is taken over by adopt.yml" in said(refused)
    other = others.adopt(*TAKE, zookeeper_chroot="/another")
    assert other.rc != 0
    assert "its path in ZooKeeper by the inventory: /another; what runs: /local_zookeeper" in said(other)
    foreseen = others.adopt("--check", "--diff", *TAKE).ok()
    assert "it is run by a process without a service" in said(foreseen)
    assert phases(others) == []
    assert all_run(others, "old"), others.runners()

    with producing(others.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        taken = others.adopt(*TAKE).ok()
        assert all_run(others, "ours"), others.runners()
        assert phases(others) == ["taken"] * 6
        order = in_order(taken)
        assert sorted(order) == sorted(others.nodes)
        assert [node for node in order if others.is_server(node)][-1] == leader
        assert "zookeeper1, zookeeper2, zookeeper3: taken over from a process without a service" in said(taken)
        assert rights(others) == owned
        pids = others.pids()
        assert others.playbook().ok().changed == 0
        assert others.adopt(*TAKE).ok().changed == 0
        assert others.pids() == pids
        ledger.reaches(len(ledger.acknowledged) + 500)
        others.adopt(*BACK).ok()
        assert all_run(others, "old"), others.runners()
        assert phases(others) == ["returned"] * 6
        assert others.ensemble()["healthy"]
        ledger.reaches(len(ledger.acknowledged) + 500)
    assert not ledger.failed
    assert not ledger.lost(read_all(others.bootstrap_servers, TOPIC))
    assert (others.kept(), rights(others)) == (kept, owned)
    # Nothing of ours starts beside what was given back.
    again = others.playbook()
    assert again.rc != 0
    assert "the node was given back" in said(again)
    assert all_run(others, "old"), others.runners()


@pytest.mark.full
def test_a_server_that_does_not_come_back_goes_to_its_old_service(others: OthersWithEnsemble) -> None:
    no_manager(others)
    # Java starts with it, and ZooKeeper ends with it.
    late = {"zookeeper_ensemble_config": {"serverCnxnFactory": "no.such.Factory"}}
    with producing(others.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        failed = others.adopt(*TAKE, kafka_start_timeout=60, **late)
        assert failed.rc != 0
        assert "was not taken over: a process without a service" in said(failed)
        assert all_run(others, "old"), others.runners()
        assert others.ensemble()["healthy"]
    assert not ledger.lost(read_all(others.bootstrap_servers, TOPIC))

# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster that others started is taken over node by node, and given back: three brokers, started as by nohup."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import ROOT, free_port_base, kill, read_until, said
from tests.support.modules import run_module
from tests.support.others import BACK, FINISH, TAKE, Others, all_run, no_manager, phases
from tests.support.traffic import producing, read_all

TOPIC = "orders"
#: Kafka takes this when it reads its properties, and finds out at its start that there is no such class.
LATE = {"metric.reporters": "no.such.Reporter"}


@pytest.fixture
def others(tmp_path: Path) -> Iterator[Others]:
    """A running cluster of others."""
    cluster = Others(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    cluster.playbook().ok()
    try:
        cluster.become()
        yield cluster
    finally:
        cluster.destroy()


@pytest.mark.full
def test_a_cluster_of_others_is_taken_over_and_given_back_without_a_loss(others: Others) -> None:
    no_manager(others)
    kept, before = others.kept(), {node: others.old_pid(node) for node in others.nodes}
    refused = others.playbook()
    assert refused.rc != 0
    assert "a node that others installed is taken over by adopt.yml" in said(refused)
    foreseen = others.adopt("--check", "--diff", *TAKE).ok()
    assert "it is run by a process without a service" in said(foreseen)
    assert phases(others) == []
    other = others.adopt(*TAKE, kafka_cluster_id="AAAAAAAAAAAAAAAAAAAAAA")
    assert other.rc != 0
    assert "its cluster id by the inventory: AAAAAAAAAAAAAAAAAAAAAA" in said(other)
    assert {node: others.old_pid(node) for node in others.nodes} == before

    with producing(others.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        taken = others.adopt(*TAKE).ok()
        assert all_run(others, "ours"), others.runners()
        assert phases(others) == ["taken"] * 3
        assert "taken over from a process without a service" in said(taken)
        assert said(taken).count(" properties identical") == len(others.nodes)
        pids = others.pids()
        assert others.playbook().ok().changed == 0
        assert others.adopt(*TAKE).ok().changed == 0
        assert others.pids() == pids
        ledger.reaches(len(ledger.acknowledged) + 500)
        others.adopt(*BACK).ok()
        assert all_run(others, "old"), others.runners()
        assert phases(others) == ["returned"] * 3
        ledger.reaches(len(ledger.acknowledged) + 500)
    assert not ledger.failed
    assert not ledger.lost(read_all(others.bootstrap_servers, TOPIC))
    assert others.kept() == kept
    # Nothing of ours starts beside what was given back.
    again = others.playbook()
    assert again.rc != 0
    assert "the node was given back" in said(again)
    assert all_run(others, "old"), others.runners()


@pytest.mark.full
def test_a_broker_that_would_run_with_another_property_than_before_goes_back_to_its_old_service(tmp_path: Path) -> None:
    others = Others(ROOT / "inventories" / "local", tmp_path / "c", free_port_base())
    # The file of others says what the inventory says, so that no plan names it; what is set live wins over both.
    others.playbook(kafka_broker_config={"num.io.threads": 8}).ok()
    try:
        others.become()
        no_manager(others)
        first = others.nodes[0]
        live = {"bootstrap_servers": others.bootstrap_servers, "brokers": {"1": {"num.io.threads": 16}}}
        assert run_module("streamops.kafka.broker_configs", live)["changed"]
        refused = others.adopt(*TAKE, kafka_broker_config={"num.io.threads": 8})
        assert refused.rc != 0
        assert "num.io.threads: 16 -> 8" in said(refused)
        assert f"{first} was not taken over: a process without a service" in said(refused)
        assert others.runners()[first] == "old"
        # What the plan names may differ.
        taken = others.adopt(*TAKE, kafka_broker_config={"num.io.threads": 12}).ok()
        assert "1 differ as planned (num.io.threads)" in said(taken)
        assert all_run(others, "ours"), others.runners()
    finally:
        others.destroy()


@pytest.mark.full
def test_a_node_that_does_not_come_back_goes_to_its_old_service_and_a_cut_run_goes_on(others: Others) -> None:
    no_manager(others)
    with producing(others.bootstrap_servers, TOPIC, rate=200) as ledger:
        ledger.reaches(500)
        failed = others.adopt(*TAKE, kafka_broker_config=LATE, kafka_start_timeout=60)
        assert failed.rc != 0
        assert "was not taken over: a process without a service" in said(failed)
        assert all_run(others, "old"), others.runners()

        run = others.begin("playbooks/adopt.yml", *TAKE)
        # Printed once the old process has ended.
        read_until(run, "Old service | Stop the node, and keep its old service from starting it")
        kill(run)
        assert "old" in others.runners().values()
        others.adopt(*TAKE).ok()
        assert all_run(others, "ours"), others.runners()

        unconfirmed = others.adopt(*FINISH)
        assert unconfirmed.rc != 0
        assert phases(others) == ["taken"] * 3
        others.adopt(*FINISH, kafka_adopt_confirmed="finish").ok()
        assert phases(others) == []
        refused = others.adopt(*BACK)
        assert refused.rc != 0
        assert "cannot be given back" in said(refused)
        assert all_run(others, "ours"), others.runners()
        others.playbook("playbooks/rolling_restart.yml").ok()
    assert not ledger.lost(read_all(others.bootstrap_servers, TOPIC))

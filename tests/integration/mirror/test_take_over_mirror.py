# SPDX-License-Identifier: GPL-3.0-or-later
"""A mirror that others started, between clusters of ours, is taken over, goes on where it was, and is given back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster import said, until
from tests.support.mirrored import small_mirror
from tests.support.modules import run_module
from tests.support.others import BACK, TAKE, OthersMirror, all_run, no_manager, phases
from tests.support.traffic import producing, read_all


@pytest.fixture
def others(tmp_path: Path) -> Iterator[OthersMirror]:
    """Two running clusters of one node each, and a mirror of others between them."""
    shipped = small_mirror(tmp_path / "c")
    variables = {"spark_validation_enabled": False}
    cluster = OthersMirror(shipped.inventory, shipped.directory, shipped.port_base, variables)
    try:
        cluster.playbook().ok()
        cluster.become()
        yield cluster
    finally:
        cluster.destroy()


def topics(cluster: OthersMirror) -> set[str]:
    """Return the names of the topics at both ends, internal ones too."""
    servers = [cluster.servers(name) for name in ("dc_a", "dc_b")]
    asked = [run_module("streamops.kafka.cluster_info", {"bootstrap_servers": server}) for server in servers]
    return {f"{end}:{topic['name']}" for end, told in enumerate(asked) for topic in told["topics"]}


@pytest.mark.full
def test_a_mirror_of_others_is_taken_over_goes_on_and_is_given_back(others: OthersMirror) -> None:
    no_manager(others)
    kept, nodes = others.kept(), {node: others.pid(node) for node in ("a1", "b1")}
    with producing(others.servers("dc_a"), "orders", rate=200) as ledger:
        until(lambda: "1:dc_a.orders" in topics(others), "the topic in the target", 180)
        before = topics(others)
        other = others.adopt(*TAKE, mirror_maker_config={"replication.policy.separator": "_"})
        assert other.rc != 0
        assert "its dc_a->dc_b.replication.policy.separator by the inventory: _; what runs: ." in said(other)
        assert all_run(others, "old"), others.runners()

        taken = others.adopt(*TAKE).ok()
        assert all_run(others, "ours"), others.runners()
        assert phases(others) == ["taken"]
        assert "taken over from a process without a service" in said(taken)
        pids = others.pids()
        assert others.playbook().ok().changed == 0
        assert others.adopt(*TAKE).ok().changed == 0
        assert others.pids() == pids

        given_back = others.adopt(*BACK).ok()
        assert "a1 stays as it is" in said(given_back)
        assert all_run(others, "old"), others.runners()
        assert phases(others) == ["returned"]
    assert {node: others.pid(node) for node in nodes} == nodes
    until(lambda: not ledger.lost(read_all(others.servers("dc_b"), "dc_a.orders")), "its records", 180)
    assert topics(others) == before
    assert others.kept() == kept

# SPDX-License-Identifier: GPL-3.0-or-later
"""The same inventory in another order, as AWX gives it: nothing changes, nothing restarts, and approvals hold."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import parse
from tests.support.cluster import Cluster
from tests.support.shuffled import second_run, with_reversed_hosts
from tests.support.stats import show_stats, stats_of

SET = "controller.quorum.bootstrap.servers"


@pytest.fixture
def reversed_(combined: Cluster, tmp_path: Path) -> Cluster:
    """The running cluster by an inventory whose hosts come in the reverse order."""
    return with_reversed_hosts(combined, tmp_path)


def test_a_second_run_changes_and_restarts_nothing(combined: Cluster, tmp_path: Path) -> None:
    assert "Topics       2 (orders, payments)" in second_run(combined, tmp_path).output


@pytest.mark.full
def test_another_order_of_hosts_changes_nothing_and_a_plan_is_approved_by_its_digest(
    combined: Cluster, reversed_: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_stats(monkeypatch)
    pids, files = combined.pids(), {node: combined.start_files(node) for node in combined.nodes}
    other = {"kafka_broker_config": {"queued.max.requests": 501}}
    planned = stats_of(combined.playbook("playbooks/site.yml", "--check", **other).ok().output)
    assert planned["streamops_plan_digest"].startswith("3-changes-")
    for node in combined.nodes:
        assert f"{node} would restart (property queued.max.requests: (not set) -> 501)" in planned["streamops_plan"]
    approved = {name: planned[name] for name in ("streamops_plan", "streamops_plan_digest")}
    run = combined.playbook("playbooks/site.yml", **approved, kafka_broker_config={"queued.max.requests": 502})
    said = " ".join(run.output.split())
    assert run.rc != 0
    assert "- only approved: kafka1 would restart (property queued.max.requests: (not set) -> 501)" in said
    assert "- only now: kafka1 would restart (property queued.max.requests: (not set) -> 502)" in said
    assert (combined.pids(), {node: combined.start_files(node) for node in combined.nodes}) == (pids, files)
    # What is there already is carried out with any approval, and in any order of hosts.
    assert list(reversed_.identities) == list(reversed(combined.nodes))
    done = reversed_.playbook("playbooks/site.yml", **approved).ok()
    assert done.changed == 0, done.output[-6000:]
    assert stats_of(done.output)["streamops_plan_digest"] == ""
    assert "restart" not in " ".join(line for line in done.output.splitlines() if " would " in line)
    assert (combined.pids(), {node: combined.start_files(node) for node in combined.nodes}) == (pids, files)


def turn(cluster: Cluster, node: str) -> None:
    """Leave a node as a version of this collection did that wrote the set in the reverse order."""
    config = cluster.directory / "config" / node
    has = parse((config / "server.properties").read_text())[SET]
    old, new = (f"{SET}={value}\n" for value in (has, ",".join(reversed(has.split(",")))))
    assert old != new
    for path in (config / "current" / "server.properties", cluster.record(node) / "server.properties"):
        path.write_text(path.read_text().replace(old, new))
    manifest = config / "current" / "MANIFEST.sha256"
    digest = hashlib.sha256((config / "server.properties").read_bytes()).hexdigest()
    manifest.write_text(re.sub(r"\w+(?=  server\.properties$)", digest, manifest.read_text(), flags=re.M))


@pytest.mark.full
def test_a_node_that_has_a_set_in_another_order_keeps_its_files_and_runs_on(combined: Cluster) -> None:
    pids = combined.pids()
    turn(combined, "kafka1")
    try:
        files = {node: combined.start_files(node) for node in combined.nodes}
        run = combined.playbook().ok()
        assert run.changed == 0, run.output[-6000:]
        assert (combined.pids(), {node: combined.start_files(node) for node in combined.nodes}) == (pids, files)
    finally:
        turn(combined, "kafka1")


@pytest.mark.full
def test_a_plan_that_was_made_in_one_order_is_carried_out_in_another(
    combined: Cluster, reversed_: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_stats(monkeypatch)

    def change(cluster: Cluster, copies: int, **more: Any) -> str:
        """Change the copies of a topic, or plan that; returns the digest that the run hands on."""
        done = cluster.playbook(
            "playbooks/change_replication_factor.yml", kafka_replication_factor={"payments": copies}, **more
        ).ok()
        return str(stats_of(done.output)["kafka_plan_digest"])

    digest = change(combined, 2, plan_only=True)
    assert digest[:2] not in ("", "0-")
    assert change(reversed_, 2, plan_only=True) == digest
    assert change(reversed_, 2, kafka_plan_digest=digest) == ""
    change(combined, 3)

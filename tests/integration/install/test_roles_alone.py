# SPDX-License-Identifier: GPL-3.0-or-later
"""The roles in plays of users' own, without a playbook of this collection: the same guards, or a clear refusal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from tests.support.cluster import ROOT, Cluster, Run, free_port_base


def play(cluster: Cluster, folder: Path, hosts: str, role: str, *arguments: str, **keywords: Any) -> Run:
    """A run of one play with one role, and with other keywords where they are given."""
    playbook = folder / "play.yml"
    one = {"hosts": hosts, "gather_facts": False, **keywords, "roles": [f"streamops.kafka.{role}"]}
    playbook.write_text(yaml.safe_dump([one]))
    return cluster.playbook(str(playbook), *arguments)


def said(run: Run) -> str:
    """What a run printed, with its line breaks taken out."""
    return " ".join(run.output.split())


def test_a_role_alone_finds_a_running_cluster_as_wanted_after_all_guards(combined: Cluster, tmp_path: Path) -> None:
    before = combined.pids()
    run = play(combined, tmp_path, "kafka_brokers", "kafka_broker").ok()
    assert run.changed == 0, run.output
    assert combined.pids() == before
    for guard in ("Apply all rules to all clusters", "Apply all rules to all nodes", "Restart lock", "Format plan"):
        assert guard in run.output
    assert play(combined, tmp_path, "kafka_brokers", "kafka_resources").ok().changed == 0


def test_a_role_alone_refuses_what_site_yml_refuses(combined: Cluster, tmp_path: Path) -> None:
    before = combined.pids()
    run = play(combined, tmp_path, "kafka_brokers", "kafka_broker", "-e", "kafka_cluster_id=MkU3OEVBNTcwNTJENDM2Qk")
    assert run.rc != 0
    assert run.changed == 0
    assert "MkU3OEVBNTcwNTJENDM2Qk" in run.output
    assert combined.pids() == before


def test_a_play_with_a_part_of_a_cluster_is_refused(combined: Cluster, tmp_path: Path) -> None:
    for role in ("kafka_broker", "kafka_resources", "spark_validation"):
        run = play(combined, tmp_path, "kafka1", role)
        assert run.rc != 0
        assert run.changed == 0
        assert "the play leaves out kafka2, kafka3 of cluster local" in said(run)
    turns = play(combined, tmp_path, "kafka_brokers", "kafka_broker", serial=1)
    assert "serial takes the hosts of the play in turns and leaves out kafka2, kafka3" in said(turns)
    free = play(combined, tmp_path, "kafka_brokers", "kafka_broker", strategy="free")
    assert free.rc != 0
    assert "strategy free is refused" in said(free)


def test_brokers_without_their_controllers_are_refused(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local_isolated", tmp_path / "run", free_port_base())
    run = play(cluster, tmp_path, "kafka_brokers", "kafka_broker")
    assert run.rc != 0
    assert run.changed == 0
    assert "the play leaves out controller1, controller2, controller3 of cluster" in said(run)
    assert "name all groups of the cluster in hosts of the play" in said(run)

# SPDX-License-Identifier: GPL-3.0-or-later
"""One run at a time changes a cluster: every playbook that changes something is refused beside another run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.run_names import place, started
from tests.support.cluster import ROOT, Cluster, environment, free_port_base
from tests.support.forms import short

OWNER = "anna@north (process 7)"
#: Playbooks that change a cluster, with what they need to begin.
CHANGING: list[tuple[str, dict[str, Any]]] = [
    ("stop", {}),
    ("rebalance", {}),
    ("grow_topic", {"kafka_grow_topic": "orders", "kafka_grow_partitions": 96}),
    ("resources", {}),
]
ALSO_CHANGING: list[tuple[str, dict[str, Any]]] = [
    ("change_replication_factor", {"kafka_replication_factor": {"orders": 2}}),
    ("drain_and_remove_broker", {"kafka_remove_broker": "kafka3"}),
    ("replace_node", {"kafka_replace_node": "kafka3"}),
    ("groups", {"kafka_consumer_group": "none-of-that-name", "kafka_consumer_group_to": "earliest"}),
    ("stop_node", {"kafka_stop_node": "kafka3"}),
    ("rolling_restart", {}),
    ("add_brokers", {}),
    ("site", {}),
]


def lock_of(cluster: Cluster) -> Path:
    """The file of the lock, on the one machine that all nodes share."""
    return cluster.directory / "config" / "local.lock"


@pytest.fixture
def held(combined: Cluster) -> Iterator[Path]:
    """The lock while a run of this machine has it that lives as long as this test."""
    lock = lock_of(combined)
    run = f"{place()} {os.getpid()} {started(os.getpid())}"
    lock.write_text(json.dumps({"run": run, "owner": OWNER, "purpose": "drain_and_remove_broker.yml", "seconds": 5000}))
    yield lock
    lock.write_text("")


@pytest.mark.parametrize(
    ("playbook", "variables"),
    short([*CHANGING, *ALSO_CHANGING], CHANGING[2]),
)
def test_a_run_beside_another_is_refused_before_it_changes_anything(
    combined: Cluster, held: Path, playbook: str, variables: dict[str, Any]
) -> None:
    before, text = combined.pids(), held.read_text()
    refused = combined.playbook(f"playbooks/{playbook}.yml", **variables)
    said = " ".join(refused.output.split())
    assert refused.rc != 0
    assert refused.changed == 0
    assert f"cluster local: another run is changing it (drain_and_remove_broker.yml), {OWNER}, since" in said
    assert f"kafka_ended_run '{OWNER}'" in said
    assert combined.pids() == before
    assert held.read_text() == text, "the lock of another run stays as it is"


@pytest.mark.parametrize(
    ("playbook", "variables"),
    # The first needs no machine, and so goes on without a lock that cannot be had.
    short([*CHANGING, *ALSO_CHANGING], CHANGING[3], ALSO_CHANGING[-1]),
)
def test_a_step_of_a_workflow_that_nobody_approved_is_refused_before_it_changes_anything(
    combined: Cluster, playbook: str, variables: dict[str, Any]
) -> None:
    before = combined.pids()
    refused = combined.playbook(
        f"playbooks/{playbook}.yml" if playbook != "site" else "site.yml",
        awx_workflow_job_name="Kafka site, approved",
        **variables,
    )
    assert refused.rc != 0
    assert refused.changed == 0
    assert "no step before it handed on a plan" in " ".join(refused.output.split())
    assert combined.pids() == before
    assert lock_of(combined).read_text() == ""


def test_a_plan_is_the_first_step_of_its_workflow_and_what_stands_behind_it_may_change(combined: Cluster) -> None:
    step = {"awx_workflow_job_name": "Kafka users and ACLs, approved"}
    planned = combined.playbook("playbooks/resources.yml", "--check", **step).ok()
    assert "streamops_plan_digest=0-changes-" in planned.output
    digest = planned.output.partition("streamops_plan_digest=")[2][: len("0-changes-") + 64]
    assert combined.playbook("playbooks/resources.yml", streamops_plan_digest=digest, **step).ok().changed == 0


@pytest.mark.full
def test_who_only_looks_is_warned_or_not_even_asked_and_takes_nothing(combined: Cluster, held: Path) -> None:
    text = held.read_text()
    looked = combined.playbook("playbooks/stop.yml", "--check").ok()
    assert f"another run is changing it (drain_and_remove_broker.yml), {OWNER}" in " ".join(looked.output.split())
    planned = combined.playbook("playbooks/rebalance.yml", plan_only=True).ok()
    assert "another run" not in planned.output
    assert combined.playbook("playbooks/status.yml").ok().changed == 0
    assert combined.playbook("playbooks/groups.yml").ok().changed == 0
    assert held.read_text() == text


def test_the_lock_of_a_dead_run_is_taken_over_and_a_run_that_fails_gives_its_own_back(combined: Cluster) -> None:
    lock = lock_of(combined)
    with subprocess.Popen(["true"]) as dead:
        run = f"{place()} {dead.pid} {started(dead.pid) or '1'}"
    lock.write_text(json.dumps({"run": run, "owner": OWNER, "purpose": "site.yml", "seconds": 5000}))
    # Refused by the planner, long after the lock was taken.
    failed = combined.playbook("playbooks/grow_topic.yml", kafka_grow_topic="no-such-topic", kafka_grow_partitions=9)
    assert failed.rc != 0
    assert "no-such-topic" in failed.output
    assert f"the lock of {OWNER}" in " ".join(failed.output.split())
    assert lock.read_text() == ""


@pytest.mark.parametrize("is_dead", [True, False])
def test_who_only_looks_is_not_warned_of_a_run_that_died(tmp_path: Path, is_dead: bool) -> None:
    lock = tmp_path / "orders.lock"
    with subprocess.Popen(["sleep", "0" if is_dead else "60"]) as other:
        run = f"{place()} {other.pid} {started(other.pid)}"
        if is_dead:
            other.wait()
        text = json.dumps({"run": run, "owner": OWNER, "purpose": "upgrade.yml", "seconds": 5000})
        lock.write_text(text)
        options = json.dumps({"cluster": "orders", "path": str(lock), "max_age": 5000})
        looked = subprocess.run(
            [
                *(str(Path(sys.executable).with_name("ansible")), "localhost", "-i", "localhost,", "-c", "local"),
                *("-m", "streamops.kafka.run_lock", "-a", options, "--check"),
                *("-e", f"ansible_python_interpreter={sys.executable}"),
            ],
            cwd=ROOT,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        other.terminate()
    assert looked.returncode == 0, looked.stdout
    assert ("another run is changing it" in " ".join(looked.stdout.split())) is not is_dead
    assert lock.read_text() == text, "a look takes nothing"


@pytest.mark.full
def test_moves_take_the_lock_of_their_run_anew_by_the_connection_of_the_host(combined: Cluster, tmp_path: Path) -> None:
    lock, play = tmp_path / "orders.lock", tmp_path / "play.yml"
    # At once: a sixth of no seconds.
    kept = {"cluster": "orders", "path": str(lock), "max_age": 0}
    move = {"name": "Move", "streamops.kafka.reassignment": {"state": "applied", "fix_racks": True}}
    of_role = {
        "_common_lock_of_run": kept,
        "_kafka_connection": {"bootstrap_servers": combined.bootstrap_servers},
        "ansible_python_interpreter": sys.executable,
    }
    play.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "vars": of_role, "tasks": [move]}]))
    done = subprocess.run(
        [str(combined.programs / "ansible-playbook"), str(play), "-i", "localhost,", "-c", "local"],
        cwd=ROOT,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "could not be taken anew" not in done.stdout
    assert json.loads(lock.read_text())["purpose"] == "play.yml"


@pytest.mark.full
def test_of_two_first_installations_at_once_one_is_refused_and_the_cluster_has_one_id(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "pytest-both", free_port_base())
    try:
        runs = [cluster.begin() for _ in range(2)]
        outputs = [run.communicate(timeout=900)[0] for run in runs]
        codes = sorted(bool(run.returncode) for run in runs)
        assert codes == [False, True], outputs[0][-3000:] + outputs[1][-3000:]
        refused = next(text for run, text in zip(runs, outputs, strict=True) if run.returncode)
        assert "another run is changing it (site.yml)" in " ".join(refused.split())
        assert cluster.playbook().ok().changed == 0
    finally:
        cluster.destroy()


@pytest.mark.full
def test_a_run_takes_its_locks_of_all_clusters_anew_and_ends_where_it_has_lost_one(tmp_path: Path) -> None:
    locks = [tmp_path / name for name in ("north.lock", "south.lock")]
    play = tmp_path / "play.yml"
    of_role = {
        "_common_locks_of_run": [{"host": "localhost", "path": str(lock)} for lock in locks],
        "_common_lock_seconds": 7000,
        "kafka_ended_run": "",
        "ansible_python_interpreter": sys.executable,
    }
    tasks = [{"name": "Anew", "ansible.builtin.include_tasks": str(ROOT / "roles/_common/tasks/lock/refresh_all.yml")}]
    play.write_text(yaml.safe_dump([{"hosts": "localhost", "gather_facts": False, "vars": of_role, "tasks": tasks}]))

    def anew() -> subprocess.CompletedProcess[str]:
        """The tasks run once."""
        command = [sys.executable, "-m", "ansible", "playbook", str(play), "-i", "localhost,", "-c", "local"]
        return subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=300, check=False)

    done = anew()
    assert done.returncode == 0, done.stdout
    assert [json.loads(lock.read_text())["seconds"] for lock in locks] == [7000, 7000]
    run = f"{place()} {os.getpid()} {started(os.getpid())}"
    text = json.dumps({"run": run, "owner": OWNER, "purpose": "site.yml", "seconds": 5000})
    for lock in locks:
        lock.write_text("")
    locks[1].write_text(text)
    lost = anew()
    assert lost.returncode != 0
    assert f"cluster south: another run is changing it (site.yml), {OWNER}" in " ".join(lost.stdout.split())
    assert locks[1].read_text() == text

# SPDX-License-Identifier: GPL-3.0-or-later
"""Booleans and numbers as text, as a survey, an INI inventory and -e key=value give them, in real runs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.specs import role_options
from tests.support.cluster import ROOT, Cluster, Run, free_port_base
from tests.support.playbooks import PUBLIC, example, follows, takes_lock

#: What is not the same for all hosts, or has no default: the tests below say it themselves.
OWN = (
    *("kafka_node_id", "zookeeper_id", "kafka_grow_partitions", "kafka_replaced_id"),
    *("plan_only", "status_strict"),
)
TYPED = {name: option for name, option in role_options().items() if option["type"] in ("bool", "int", "float")}
#: Playbooks that show a plan with plan_only, and carry it out without.
WITH_PLAN = [name for name in PUBLIC if follows(name) and takes_lock(name)]
#: What makes some of them carry something out.
CARRIED_OUT = {
    "groups": {"kafka_consumer_group": "billing", "kafka_consumer_group_to": "latest"},
    "replace_node": {"kafka_replaced_id": "7"},
}
#: Playbooks that have no plan, or not always; awx.yml asks AWX, and shows what it would do in check mode.
WITHOUT_PLAN = [name for name in PUBLIC if follows(name) is not True and name != "awx"]


def as_text(value: Any) -> str:
    """A value as somebody writes it after -e key=."""
    return {True: "yes", False: "off"}[value] if isinstance(value, bool) else str(value)


def with_text_in_the_inventory(cluster: Cluster, folder: Path) -> Cluster:
    """The same cluster by an inventory whose ids, ports and numbers of topics are text."""
    inventory = folder / "inventory"
    shutil.copytree(cluster.inventory, inventory)
    hosts = yaml.safe_load((inventory / "hosts.yml").read_text())
    variables = yaml.safe_load((inventory / "group_vars" / "all.yml").read_text())
    for one in hosts["kafka_brokers"]["hosts"].values():
        one["kafka_node_id"] = str(one["kafka_node_id"])
    for listener in variables["kafka_listeners"]:
        listener["port"] = listener["port"].replace("{{ ", "{{ (").replace(" }}", ") ~ '' }}")
    for topic in variables["kafka_topics"]:
        topic.update({field: str(topic[field]) for field in ("partitions", "replication_factor")})
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    (inventory / "group_vars" / "all.yml").write_text(yaml.safe_dump(variables))
    same = Cluster(inventory, cluster.directory, cluster.port_base, variables=cluster.variables)
    same.identities = cluster.identities
    return same


@pytest.mark.full
def test_a_run_with_every_boolean_and_number_as_text_changes_and_restarts_nothing(
    combined: Cluster, tmp_path: Path
) -> None:
    pids = combined.pids()
    now = {name: option.get("default") for name, option in TYPED.items() if name not in OWN}
    now.update(spark_validation_enabled=False, kafka_start_timeout=400, kafka_resources_move_cordon=False)
    now.update(streamops_control_node_is_kept=True)
    text = {name: as_text(value) for name, value in now.items()}
    assert text["kafka_authorizer"] == "off"
    run = with_text_in_the_inventory(combined, tmp_path).playbook(**text).ok()
    assert run.changed == 0, run.output[-6000:]
    assert combined.pids() == pids


def told(run: Run) -> str:
    """What a run printed, with its line breaks taken out."""
    return " ".join(run.output.split())


def untouched(run: Run, cluster: Cluster) -> bool:
    """Whether the run failed, changed nothing, and left nothing in the cluster's folder."""
    return (
        run.rc != 0 and run.changed == 0 and [path.name for path in cluster.directory.iterdir()] == ["extra-vars.yml"]
    )


def test_all_unclear_ones_stand_in_one_message_and_nothing_is_touched(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    # Those of the role preflight itself are refused as the role begins.
    names = [name for name in TYPED if name not in OWN and not name.startswith("preflight_")]
    run = cluster.playbook(**dict.fromkeys(names, "maybe"))
    assert untouched(run, cluster)
    assert "ERROR unclear_value:" in run.output
    assert [name for name in names if f"kafka1, kafka2, kafka3: {name}: the value is" not in told(run)] == []
    assert "(found: 'maybe', allowed: true or false (or yes and no, on and off, 1 and 0)); fix: correct" in told(run)


@pytest.mark.full
@pytest.mark.parametrize("playbook", WITH_PLAN)
def test_a_plan_that_is_maybe_only_to_be_seen_is_never_carried_out(playbook: str, tmp_path: Path) -> None:
    given = {**example(playbook), **CARRIED_OUT.get(playbook, {})}
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base(), variables=given)
    for unclear in ("maybe", "") if playbook == "rebalance" else ("maybe",):
        run = cluster.playbook(f"playbooks/{playbook}.yml", plan_only=unclear)
        assert untouched(run, cluster), run.output[-3000:]
        assert "plan_only" in told(run)
        assert "ot a valid boolean" in told(run) or "neither true nor false" in told(run)


@pytest.mark.full
def test_an_empty_answer_of_a_survey_is_no_answer(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    for more in ({}, {"kafka_replaced_id": ""}):
        run = cluster.playbook("playbooks/replace_node.yml", kafka_replace_node="", **more)
        assert untouched(run, cluster), run.output[-3000:]
        assert "kafka_replace_node must name a host of the inventory (found: nothing)" in told(run)


def test_a_playbook_without_preflight_refuses_an_unclear_value_before_it_asks_a_host(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    run = cluster.playbook("playbooks/stop.yml", kafka_stop_timeout="soon")
    assert untouched(run, cluster), run.output[-3000:]
    assert "kafka_stop_timeout is no whole number (found: 'soon'" in told(run)


@pytest.mark.full
@pytest.mark.parametrize("playbook", WITHOUT_PLAN)
def test_a_playbook_without_a_plan_refuses_plan_only_before_it_looks(playbook: str, tmp_path: Path) -> None:
    shipped = "local_zookeeper" if playbook == "zookeeper_members" else "local"
    cluster = Cluster(ROOT / "inventories" / shipped, tmp_path / "run", free_port_base())
    words = example(playbook)
    more = ["-i", str(ROOT / "inventories" / "watching")]
    run = cluster.playbook(f"playbooks/{playbook}.yml", *more, plan_only=True, **words)
    assert untouched(run, cluster), run.output[-3000:]
    assert "plan_only=True is refused: this playbook has no plan to show" in told(run)
    assert "Look with --check" in told(run)
    assert "Look at the node" not in run.output
    unclear = cluster.playbook(f"playbooks/{playbook}.yml", *more, plan_only="maybe", **words)
    assert untouched(unclear, cluster)
    assert "plan_only is neither true nor false" in told(unclear)
    assert "Look at the node" not in unclear.output


@pytest.mark.full
def test_without_plan_only_and_with_false_a_playbook_goes_on(tmp_path: Path) -> None:
    cluster = Cluster(ROOT / "inventories" / "local", tmp_path / "run", free_port_base())
    cluster.playbook("playbooks/stop.yml").ok()
    cluster.playbook("playbooks/stop.yml", plan_only="no").ok()

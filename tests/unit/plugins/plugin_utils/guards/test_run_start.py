"""How a run may be started."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.run_start import (
    RunStart,
    clusters,
    limits,
    refusals,
    strangers,
    unapproved,
)
from tests.support.cluster import ROOT

HOSTS = ("kafka1", "kafka2", "kafka3")


def run(**values: Any) -> RunStart:
    """A run on three hosts of one cluster that nothing is wrong with, but for what is given."""
    return RunStart(**{"batch": HOSTS, "planned": HOSTS, "members": {"local": HOSTS}, **values})


def test_a_whole_cluster_is_taken() -> None:
    assert refusals(run()) == []
    assert refusals(run(limit="local")) == []


@pytest.mark.parametrize("strategy", ["free", "ansible.builtin.free", "host_pinned", "ansible.builtin.host_pinned"])
def test_hosts_that_go_on_by_themselves_are_refused(strategy: str) -> None:
    assert refusals(run(strategy=strategy))[0].startswith(f"strategy {strategy} is refused")


@pytest.mark.parametrize("strategy", ["linear", "ansible.builtin.linear", "debug", "mitogen.mitogen_linear"])
def test_other_strategies_are_taken(strategy: str) -> None:
    assert refusals(run(strategy=strategy)) == []


def test_a_limit_is_named_with_those_it_leaves_out() -> None:
    part = run(batch=HOSTS[1:2], planned=HOSTS[1:2], limit="kafka2")
    assert refusals(part) == [
        "--limit kafka2 leaves out kafka1, kafka3 of cluster local, which must take part as a whole. fix: run without "
        "--limit, or name all hosts of the cluster in it."
    ]


def test_hosts_of_the_play_and_serial_are_told_apart() -> None:
    (of_play,) = refusals(run(batch=HOSTS[:1], planned=HOSTS[:1]))
    assert of_play.startswith("the play leaves out kafka2, kafka3 of cluster local")
    (of_serial,) = refusals(run(batch=HOSTS[:1]))
    assert of_serial.startswith("serial takes the hosts of the play in turns and leaves out kafka2, kafka3")


def test_hosts_that_a_play_before_has_looked_at_may_stay_out() -> None:
    assert refusals(run(batch=HOSTS[:1], planned=HOSTS[:1], known=HOSTS)) == []


def test_plan_only_is_refused_where_there_is_no_plan() -> None:
    assert refusals(run(plan_only=True)) == []
    assert refusals(run(plans=False)) == []
    (only,) = refusals(run(plan_only=True, plans=False))
    assert only.startswith("plan_only=True is refused: this playbook has no plan to show")
    assert "Look with --check" in only


def test_what_one_cluster_can_mean_is_refused_in_several() -> None:
    two = {"dc_a": "dc_a", "dc_b": "b1,b2"}
    assert refusals(run(limits=two)) == []
    assert refusals(run(named="kafka_grow_topic=orders", limits={"dc_a": "dc_a"})) == []
    assert refusals(run(named="kafka_grow_topic=orders", limits=two)) == [
        "kafka_grow_topic=orders is about one cluster, and the run has dc_a, dc_b, where the same topic or id may mean "
        "another. fix: choose the cluster by --limit dc_a for dc_a, or --limit b1,b2 for dc_b."
    ]


def test_a_cluster_is_limited_to_by_its_smallest_own_group() -> None:
    members = {"a": ["a1", "a2"], "b": ["b1"]}
    groups = {"all": ["a1", "a2", "b1", "m"], "north": ["a1", "a2", "m"], "a": ["a1", "a2"], "some": ["a1"]}
    assert limits(members, groups) == {"a": "a", "b": "b1"}


def test_everything_is_said_at_once() -> None:
    assert len(refusals(run(strategy="free", batch=HOSTS[:1], plan_only=True, plans=False))) == 3


def test_hosts_without_the_name_of_a_cluster_are_of_the_default_one() -> None:
    hostvars: dict[str, dict[str, Any]] = {"a": {"kafka_cluster_name": "one"}, "b": {}, "c": {}}
    assert clusters(hostvars, hostvars) == {"one": ["a"], "kafka": ["b", "c"]}


def test_hosts_in_no_group_are_named_with_the_groups_and_how_to_write_them() -> None:
    groups = {"kafka_brokers": ["kafka1"], "zookeeper": [], "web": ["web1"]}
    found = strangers(["kafka1", "web1", "kafka2"], ["kafka_brokers", "zookeeper", "mirror_makers"], groups)
    assert found == ["web1", "kafka2"]
    (why,) = refusals(run(strangers=found))
    assert why.startswith(
        "web1, kafka2 are in none of the groups kraft_controllers (controller), kafka_brokers (broker)"
    )
    assert "fix: put the host, or a group that it is in, into one of them" in why
    assert refusals(run(strangers=["web1"]))[0].startswith("web1 is in none of the groups")


def test_an_inventory_without_any_of_the_groups_has_no_strangers() -> None:
    assert strangers(["kafka1"], ["kafka_brokers"], {"kafka": ["kafka1"]}) == []
    assert strangers(["kafka1"], [], {"kafka": ["kafka1"]}) == []


SITE = "Kafka site, approved"


@pytest.mark.parametrize("workflow", [SITE, "Kafka site, approved @ 12:30:11 PM"])
def test_an_apply_without_a_step_before_it_is_refused(workflow: str) -> None:
    refusal = unapproved({"awx_workflow_job_name": workflow, "kafka_ended_run": ""})
    assert workflow in refusal
    assert "awx.yml" in refusal


@pytest.mark.parametrize(
    "handed_on",
    [
        {"streamops_plan_digest": "1-changes-0"},
        # An apply empties the digest for the steps behind it, and a plan that is a status has a verdict alone.
        {"streamops_plan_digest": ""},
        {"streamops_verdict": "pass"},
    ],
    ids=str,
)
def test_a_step_behind_a_plan_is_not_refused(handed_on: dict[str, Any]) -> None:
    assert unapproved({"awx_workflow_job_name": SITE, **handed_on}) == ""


@pytest.mark.parametrize("extra", [{}, {"awx_job_id": 7}, {"awx_workflow_job_name": "Nightly"}], ids=str)
def test_a_run_outside_of_our_workflows_is_not_refused(extra: dict[str, Any]) -> None:
    assert unapproved(extra) == ""


def test_each_workflow_that_waits_for_an_approval_is_known_by_its_name() -> None:
    flows = json.loads((ROOT / "awx" / "export.json").read_text())["workflow_job_templates"]
    waiting = [
        flow["name"]
        for flow in flows
        if any("create_approval_template" in node["related"] for node in flow["related"]["workflow_nodes"])
    ]
    assert waiting
    assert [name for name in waiting if not unapproved({"awx_workflow_job_name": name})] == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""The plan of a run and its approval, made of what its tasks left behind."""

from __future__ import annotations

from typing import Any

from tests.support.inventory_data import view
from tests.support.reports_left import PLAN

REASON = {"name": "num.io.threads", "kind": "property", "from": "8", "to": "9"}
WRITTEN = {"__common_generation": {"changed": True, "changed_paths": ["/etc/k/server.properties", "/etc/k/start"]}}
RUNS = {"process": {"running": True}, "restart_reasons": [REASON]}
GROWTH = {"before": {"orders": {"partitions": 6}}, "after": {"orders": {"partitions": 9}}}
TOPICS = {"changed": True, "unchanged": 2, "diff": GROWTH}
SECRET = "hunter2-planted"


def reports(*left: dict[str, Any], mirror: dict[str, Any] | None = None, **common: Any) -> Any:
    """Of brokers k1, k2... of one cluster on which tasks left this, and a mirror beside it."""
    hosts = {f"k{number}": {"kafka_node_id": number, **one} for number, one in enumerate(left, 1)}
    mirrors = {"m1": mirror} if mirror is not None else {}
    return view({**hosts, **mirrors}, brokers=list(hosts), mirrors=list(mirrors), **common)["reports"]


def planned(**info: Any) -> dict[str, Any]:
    return {"__common_node_info": {**RUNS, **info}, **WRITTEN}


def test_a_plan_of_site_names_nodes_with_reasons_and_topics_and_has_a_digest() -> None:
    first = {**planned(), "__kafka_resources_topics": TOPICS, "__common_gate": {"refusals": [{"what": "2 are low"}]}}
    still = {"__common_node_info": {**RUNS, "restart_reasons": []}, "__common_generation": {"changed_paths": []}}
    found = reports(first, {**still}, ansible_check_mode=True)
    assert found["plans"].splitlines() == [
        "kafka:",
        "  k1 would restart (property num.io.threads: 8 -> 9); files: server.properties, start",
        "  topic orders partitions=6 -> partitions=9",
        "  not now: k1: 2 are low",
        "  stays: 1 node, 2 topics",
    ]
    assert found["plan_digest"].startswith("2-changes-")


def test_what_a_run_has_done_is_no_plan_of_it() -> None:
    left = {**planned(), "__kafka_resources_plan": {**PLAN, "plan_digest": "9-12-a"}}
    assert reports(left)["plan_digest"] == "9-12-a"
    assert "would restart" not in reports(left)["plans"]
    both = reports(left, ansible_check_mode=True)["plan_digest"].split(",")
    assert [one.split("-")[1] for one in both] == ["changes", "12"]


def test_a_growth_is_in_the_plan_beside_its_moves() -> None:
    grown = {"__kafka_resources_added": TOPICS, "__kafka_resources_plan": {**PLAN, "plan_digest": "9-12-a"}}
    found = reports(grown, plan_only=True)
    assert "growth orders partitions=6 -> partitions=9" in found["plans"]
    assert found["plan_digest"].startswith("1-changes-")
    assert found["plan_digest"].endswith(",9-12-a")
    assert found["plan_digests"] == "", "no digest of moves alone stands for it"


def test_a_change_that_is_not_shown_is_never_taken_for_nothing_to_do() -> None:
    hidden = reports({"__kafka_resources_topics": {"changed": True}}, ansible_check_mode=True)
    assert hidden["plan_digest"].startswith("1-changes-")
    refused = reports({"__kafka_resources_topics": {"changed": True}}, streamops_plan_digest="2-changes-" + "0" * 64)
    assert "not the plan that was approved" in refused["approval_refusal"]


def test_a_cluster_that_does_not_run_yet_gets_all_that_is_declared_and_no_secret_is_told() -> None:
    new = {"__common_node_info": {"process": {"running": False}, "disks": [], "restart_reasons": []}, **WRITTEN}
    declared = {
        "kafka_topics": [{"name": "orders", "partitions": 6}, {"name": "old", "state": "absent"}],
        "kafka_users": [{"name": "app", "password": SECRET}],
        "kafka_quotas": [{"user": "app", "producer_byte_rate": 1}],
        "kafka_acls": [{"principal": "User:app", "role": "producer", "topics": ["orders"]}],
    }
    found = reports(new, ansible_check_mode=True, **declared)
    assert found["plans"].splitlines()[1:] == [
        "  k1 would be installed and started",
        "  topic orders would be added: partitions=6",
        "  user app would be added",
        "  quota app would be added",
        "  ACL entries of kafka_acls: 1 would be added",
    ]
    assert SECRET not in f"{found['plans']}{found['plan_digest']}"


def test_a_run_is_refused_before_its_first_change_for_another_plan_than_the_approved_one() -> None:
    was = reports(planned(), ansible_check_mode=True)
    same, other = planned(), planned(restart_reasons=[{**REASON, "to": "10"}])
    given = {"streamops_plan_digest": was["plan_digest"], "streamops_plan": was["plans"]}
    assert reports(same, **given)["approval_refusal"] == ""
    assert reports(other)["approval_refusal"] == ""
    said = reports(other, **given)["approval_refusal"]
    assert "only approved: k1 would restart (property num.io.threads: 8 -> 9)" in said
    assert "only now: k1 would restart (property num.io.threads: 8 -> 10)" in said


def test_a_plan_that_found_nothing_is_a_plan_and_approves_nothing_else() -> None:
    skipped = {"__kafka_resources_users": {"changed": False, "skipped": True}}
    was = reports(skipped, ansible_check_mode=True)
    assert was["plans"] == "nothing to do"
    assert was["plan_digest"].startswith("0-changes-")
    assert (reports(skipped)["plans"], reports(skipped)["plan_digest"]) == ("", ""), "a run that has done it all"
    given = {"streamops_plan_digest": was["plan_digest"], "streamops_plan": was["plans"]}
    assert reports(skipped, **given)["approval_refusal"] == ""
    users = {"__kafka_resources_users": {"changed": True, "diff": {"before": {}, "after": {"User:eve": {}}}}}
    assert "only now: user User:eve would be added" in reports(users, **given)["approval_refusal"]


def test_the_digest_has_all_that_a_first_installation_makes_but_passwords() -> None:
    new = {"__common_node_info": {"process": {"running": False}, "disks": [], "restart_reasons": []}, **WRITTEN}

    def made(**declared: Any) -> str:
        return str(reports(new, ansible_check_mode=True, **declared)["plan_digest"])

    acl, topic = {"principal": "User:app", "operation": "read"}, {"name": "orders", "partitions": 6}
    assert made(kafka_acls=[acl]) != made(kafka_acls=[{**acl, "operation": "all"}])
    other = {"principal": "User:b", "operation": "write"}
    assert made(kafka_acls=[acl, other]) == made(kafka_acls=[other, acl])
    assert made(kafka_topics=[topic]) != made(kafka_topics=[{**topic, "config": {"retention.ms": 1}}])
    assert made(kafka_users=[{"name": "a", "password": "b"}]) == made(kafka_users=[{"name": "a", "password": SECRET}])


def test_a_plan_has_no_digest_of_a_file() -> None:
    file = {"kind": "file", "name": "/etc/k/zookeeper_jaas.conf", "from": "a" * 64, "to": "b" * 64}
    found = reports(planned(restart_reasons=[file]), ansible_check_mode=True)["plans"]
    assert "k1 would restart (file /etc/k/zookeeper_jaas.conf: changed)" in found
    assert "a" * 64 not in found


def test_an_approval_of_a_node_that_does_not_run_covers_what_its_files_say() -> None:
    def digest(of_files: str) -> str:
        left = {"__common_node_info": {"restart_reasons": []}, "__common_generation": {"digest": of_files}}
        return str(reports(left, ansible_check_mode=True)["plan_digest"])

    assert digest("a") == digest("a") != digest("b")


def test_only_the_nodes_that_are_told_to_restart_restart() -> None:
    still = {"__common_node_info": {**RUNS, "restart_reasons": []}, "__common_generation": {"changed_paths": []}}
    found = reports(
        {**still, "kafka_restart_force": "false"}, {**still, "kafka_restart_force": True}, ansible_check_mode=True
    )
    assert found["plans"].splitlines()[1:] == ["  k2 would restart (kafka_restart_force)", "  stays: 1 node"]


def test_an_approval_of_changes_alone_is_none_of_moves() -> None:
    left = {"__kafka_resources_plan": {**PLAN, "plan_digest": "9-12-a"}}
    changes = "1-changes-" + "0" * 64
    assert "no digest of moves" in reports(left, streamops_plan_digest=changes)["plan_refusal"]
    moves = "9-12-" + "1" * 64
    approved = {"__kafka_resources_plan": {**PLAN, "plan_digest": moves}}
    assert reports(approved, streamops_plan_digest=f"{changes},{moves}")["plan_refusal"] == ""
    assert reports(approved, streamops_plan_digest=f"{changes},{moves}")["approved_moves"] == moves
    # Of a topic that has grown since, who approved the growth has approved that its partitions are spread.
    grown = {**approved, "__kafka_resources_added": {"changed": True}}
    assert reports(grown, streamops_plan_digest=changes)["plan_refusal"] == ""


def adopted(runs: str, **other: Any) -> dict[str, Any]:
    """Return what is left on a node that something else ran before, and the files that ours has there."""
    look = {"phase": "taken", "runs": runs, "service": "systemd kafka.service"}
    return {"__common_node_info": {**RUNS, "adopted": look, **other}, **WRITTEN}


def test_a_plan_of_giving_back_names_the_service_of_each_node_and_no_file_of_ours() -> None:
    held = {"__common_gate": {"refusals": ["2 are low"]}}
    nodes = [{**adopted("ours"), **held}, adopted("nobody"), adopted("old")]
    plan = reports(*nodes, ansible_check_mode=True, _common_gives_back=True)
    assert plan["plans"].splitlines() == [
        "kafka:",
        "  k1 would restart (given back to systemd kafka.service)",
        "  k2 would start (given back to systemd kafka.service)",
        "  not now: k1: 2 are low",
        "  stays: 1 node",
    ]
    assert plan["plan_digest"].startswith("2-changes-")


def test_a_node_is_given_back_as_it_was_approved() -> None:
    def refusal(*nodes: dict[str, Any]) -> str:
        left = {"_common_gives_back": True, "streamops_plan_digest": approved["plan_digest"]}
        return str(reports(*nodes, streamops_plan=approved["plans"], **left)["approval_refusal"])

    approved = reports(adopted("ours"), adopted("ours"), ansible_check_mode=True, _common_gives_back=True)
    # What a take-over or a restart would change has no part in it.
    assert refusal(adopted("ours"), adopted("ours", restart_reasons=[])) == ""
    assert refusal(adopted("old"), adopted("old")) == "", "nothing is left to do"
    assert "- only now: k2 would start (given back to systemd kafka.service)" in refusal(
        adopted("ours"), adopted("nobody")
    )


def test_a_node_that_nothing_else_ran_is_in_no_plan_of_giving_back() -> None:
    assert reports(planned(adopted=None), ansible_check_mode=True, _common_gives_back=True)["plans"] == "nothing to do"

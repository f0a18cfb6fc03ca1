# SPDX-License-Identifier: GPL-3.0-or-later
"""Lines about a run, made of what its tasks left behind."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.inventory_data import view
from tests.support.markup import Markup
from tests.support.reports_left import DONE, PLAN, PROOF

BROKER = {"id": 1, "fenced": False, "imbalance_percent": 0.0, "log_dirs": [], "replicas": 2, "rack": None}
STATUS = {
    "cluster_id": "x",
    "nodes": [BROKER],
    "topics": [],
    "controller_id": 1,
    "quorum": None,
    "counts": {"nodes": 1, "partitions": 2, "offline": 0, "under_min_isr": 0, "under_replicated": 0},
}
HEALTH = {"status": "OK", "findings": [], "cluster": STATUS, "features": {}, "metadata": {}}
REASON = {"name": "num.io.threads", "kind": "property", "from": "8", "to": "9"}


def reports(left: dict[str, Any], restarted: Any = (), **common: Any) -> Any:
    """Of a cluster of one broker, k, on which tasks left this."""
    variables = {"kafka_node_id": 1, **left}
    return view({"k": variables}, brokers=["k"], restarted=restarted, **common)["reports"]


def test_a_status_says_what_the_run_did() -> None:
    left = {
        "__kafka_resources_health": HEALTH,
        "__kafka_resources_topics": {"changed": True, "created": ["orders"]},
        "__common_generation": {"changed": True},
        "__spark_validation_job": {"verdict": "pass", "report": "/r"},
    }
    found = reports(left, restarted=["k"])["status"]
    assert found[0] == "OK           kafka: 1 brokers up, 2 partitions in sync"
    assert found[3] == "Nodes        k (id 1, broker)"
    assert found[-4:-2] == ["Verdict      pass", "Report       /r"]
    assert found[-2].startswith("Changed      ")
    assert found[-2].endswith("files of k")
    assert found[-1] == "Restarted    k"
    assert reports(left, ansible_check_mode=True)["status"][-1].startswith("Would change ")


def test_the_version_in_a_status_is_not_the_inventorys() -> None:
    runs = {"process": {"running": True}, "version": "4.3.1"}
    left = {"__kafka_resources_health": HEALTH, "__kafka_resources_runs": runs}
    assert reports(left, kafka_version="3.9.2")["status"][1] == "Cluster      kafka, Kafka 4.3.1, id x"
    unknown = {**left, "__kafka_resources_runs": {"unreachable": True, "msg": "no route"}}
    assert reports(unknown)["status"][1] == "Cluster      kafka, Kafka of unknown version, id x"


def test_a_status_alone_has_neither_changes_nor_a_verdict_of_a_job() -> None:
    finding = {"kind": "broker_down", "severity": "degraded", "what": "broker k (id 1) is down", "next_step": "look"}
    left = {"__kafka_resources_health": {**HEALTH, "status": "DEGRADED", "findings": [finding]}}
    found = reports(left)
    assert found["status"][:2] == ["DEGRADED     kafka: broker k (id 1) is down", "Next         broker_down: look"]
    assert (found["fail_on"], found["status_fails"]) == ("down", False)
    assert reports(left, status_strict=True)["status_fails"]
    assert not [line for line in found["status"] if line.startswith(("Changed", "Restarted", "Verdict"))]


def test_a_status_tells_features_that_are_below_what_all_nodes_could_run() -> None:
    below = {"name": "metadata.version", "finalized_name": "4.0-IV3", "max_name": "4.3-IV0", "below": True}
    left = {"__kafka_resources_health": {**HEALTH, "features": {"features": [below]}}}
    line = "Features     metadata.version 4.0-IV3 although all nodes could run 4.3-IV0"
    assert line in reports(left)["status"]


def test_a_status_tells_whether_the_nodes_agree_on_the_metadata() -> None:
    compared = {"agree": True, "lines": ["all 3 nodes agree at offset 512"]}
    left = {"__kafka_resources_health": {**HEALTH, "metadata": compared}}
    assert "Metadata     all 3 nodes agree at offset 512" in reports(left)["status"]


def test_a_status_tells_by_which_mechanisms_clients_log_in() -> None:
    logins = [{"listener": "CLIENT", "mechanism": "PLAIN", "count": 2, "first": 0, "last": 60}]
    runs = {"mechanisms": {"client": ["SCRAM-SHA-512", "PLAIN"]}, "logins": logins}
    found = reports({"__kafka_resources_health": HEALTH, "__kafka_resources_runs": runs})
    lines = [line for line in found["status"] if line.startswith("Logins")]
    assert lines == [
        "Logins       CLIENT by SCRAM-SHA-512: none since 1970-01-01 00:00:00 UTC",
        "Logins       CLIENT by PLAIN: 2, the last at 1970-01-01 00:01:00 UTC (k 2 since 1970-01-01 00:00:00 UTC)",
    ]
    assert [(row["mechanism"], row["count"]) for row in found["status_part"]["logins"]] == [
        ("SCRAM-SHA-512", 0),
        ("PLAIN", 2),
    ]


def test_what_a_status_could_not_ask_beside_the_health_leaves_all_else() -> None:
    failed = {"features": {"msg": "no answer"}, "metadata": {"msg": "no right\nto ask"}}
    without = reports({"__kafka_resources_health": HEALTH})["status"]
    told = reports({"__kafka_resources_health": {**HEALTH, **failed}})["status"]
    assert [line for line in told if line not in without] == ["Metadata     not compared: no right"]
    assert [line for line in without if line not in told] == []


def test_the_controllers_are_asked_with_the_protocol_of_their_listener() -> None:
    listeners = [
        {"name": "CONTROLLER", "port": 9093, "protocol": "SASL_PLAINTEXT", "purpose": "controllers"},
        {"name": "CLIENTS", "port": 9094, "protocol": "SSL", "purpose": "clients"},
    ]
    hosts = {"k": {"kafka_node_id": 1}}
    seen = view(hosts, brokers=["k"], controllers=["k"], host="k", kafka_listeners=listeners)["reports"]
    assert seen["controller_protocol"] == "SASL_PLAINTEXT"
    assert reports({})["controller_protocol"] == ""


def test_a_cluster_that_does_not_answer_is_told_with_its_servers() -> None:
    finding = {"kind": "cluster_unreachable", "severity": "down", "what": "no answer", "next_step": "look"}
    left = {"__kafka_resources_health": {"status": "DOWN", "findings": [finding], "cluster": None}}
    found = reports(left)
    assert found["status"][0] == "DOWN         kafka: no answer"
    assert found["status"][2].startswith("Bootstrap    ")
    assert found["status_fails"]
    assert not reports(left, status_fail_on="never")["status_fails"]


def test_the_cluster_is_judged_by_the_inventory_and_what_runs() -> None:
    files = {"staged": "2", "failed": None, "edited": []}
    runs = {"process": {"running": True}, "version": "4.3.1", "start_files": files}
    ensemble = {"problems": ["server 3 is away"]}
    asked = reports({"__kafka_resources_runs": runs, "__kafka_resources_ensemble": ensemble})["health_asks"]
    assert asked == {
        "nodes": [{"host": "k", "node_id": 1, "roles": ["broker"], "replication": "k:9094"}],
        "versions": {"k": "4.3.1"},
        "start_files": {"k": files},
        "unsteady_quorum": {},
        "voter_racks": {},
        "ensemble_problems": ["server 3 is away"],
        "ensemble_lost": "",
        "unclean_elections": [],
    }


def test_what_controllers_see_of_their_quorum_is_told_to_who_judges_the_cluster() -> None:
    quorum = {"unsteady": True, "first_epoch": 84, "last_epoch": 87}
    change = {"since": "20261126T144501Z", "changes": ["property a: 1 -> 2"], "same_release": True}
    runs = {"quorum": quorum, "start_files": {"last_change": change}}
    hosts = {f"k{one}": {"kafka_node_id": one, "__kafka_resources_runs": runs} for one in (1, 2, 3)}
    seen = view(hosts, brokers=["k1"], controllers=["k1", "k2", "k3"], host="k1")["reports"]["health_asks"]
    assert seen["unsteady_quorum"] == {
        "controllers": ["k1", "k2", "k3"],
        "epochs": "epochs 84 to 87 within seconds",
        "changed": ["k1, k2, k3 since 20261126T144501Z: property a: 1 -> 2"],
    }


def test_racks_of_controllers_come_from_the_inventory_since_kafka_knows_none() -> None:
    racks = {1: "a", 2: "b", 3: ""}
    hosts: dict[str, Any] = {f"k{one}": {"kafka_node_id": one, "kafka_rack": rack} for one, rack in racks.items()}
    hosts["b4"] = {"kafka_node_id": 4, "kafka_rack": "c"}
    seen = view(hosts, brokers=["b4"], controllers=["k1", "k2", "k3"], host="b4")["reports"]["health_asks"]
    assert seen["voter_racks"] == {"1": "a", "2": "b"}


def test_a_status_names_start_files_of_servers_of_zookeeper_too() -> None:
    files = {"staged": None, "failed": "2", "why_failed": "no.Factory\nmore", "edited": []}
    server = {"zookeeper_id": 1, "__kafka_resources_runs": {"start_files": files}}
    broker = {"kafka_node_id": 2, "kafka_mode": "zookeeper"}
    found = view({"b": broker, "z": server}, brokers=["b"], zookeepers=["z"], kafka_mode="zookeeper")["reports"]
    assert found["health_asks"]["start_files"] == {"z": files}
    # Without a cluster nobody else says so.
    info = {"servers": [], "problems": [], "leader_id": 1}
    left = {**server, "__kafka_resources_ensemble": info}
    alone = view({"z": left}, zookeepers=["z"], kafka_mode="zookeeper")["reports"]["ensemble"]
    assert alone[2] == (
        "Note         z did not come back with its last new start files and runs with those from before: no.Factory"
    )
    assert alone[3].startswith("Next         start_files_failed: correct the values, then: ")


def test_a_restart_is_one_line() -> None:
    info = {"restart_reasons": [REASON]}
    done = {"__common_node_info": info, "__common_down_seconds": "14.2"}
    assert reports(done)["restart"] == "k restarted (num.io.threads: 8 -> 9), down 14s"
    synced = reports({**done, "__common_sync_seconds": "19.0"})["restart"]
    assert synced == "k restarted (num.io.threads: 8 -> 9), down 14s, back in sync 19s"


def test_a_proof_is_told_the_restarts_of_its_cluster_and_leaves_a_report(tmp_path: Path) -> None:
    times = {"__common_stopped_at": "100.5", "__common_down_seconds": "14.0", "__common_sync_seconds": "19.0"}
    assert reports({})["proof_restarts"] == []
    assert reports(times)["proof_restarts"] == [{"host": "k", "stopped": 100.5, "listening": 114.5, "in_sync": 133.5}]
    made = {"__common_proof_report": f"{tmp_path}/report.html", "__common_proof_made": "2026-11-24T10:19:04Z"}
    page, data = reports({"__common_proof": {"proof": PROOF}, **made})["proof_files"]
    assert (page["path"], data["path"]) == (f"{tmp_path}/report.html", f"{tmp_path}/report.json")
    assert json.loads(data["content"])["verdict"] == "fail"
    assert page["content"].startswith("<!doctype html>")


def test_a_restart_that_check_mode_leaves_out_says_what_stands_against_it() -> None:
    info = {"__common_node_info": {"restart_reasons": []}}
    assert reports(info)["restart_plan"] == "k would restart (requested by kafka_restart_force)"
    gated = reports({**info, "__common_gate": {"refusals": [{"what": "orders-0 has one replica"}]}})
    assert gated["restart_plan"].endswith("; not now: orders-0 has one replica")


def test_a_node_that_is_given_back_restarts_for_that_and_for_nothing_else() -> None:
    info = {"restart_reasons": [REASON], "adopted": {"runs": "ours", "service": "systemd kafka.service"}}
    left = {"__common_node_info": info, "__common_down_seconds": "14.2"}
    found = reports({**left, "_common_gives_back": True})
    assert found["restart_plan"] == "k would restart (given back to systemd kafka.service)"
    assert found["restart"] == "k restarted (given back to systemd kafka.service), down 14s"
    # Of one that stays, and in other runs, it is a restart as any other.
    assert "num.io.threads" in reports(left)["restart"]
    assert "num.io.threads" in reports({**left, "_common_gives_back": False})["restart"]


def planned(**plan: Any) -> dict[str, Any]:
    """What a task left that made a plan."""
    return {"__kafka_resources_plan": {"changes": [], "plan_digest": "0-0-a", **plan}}


def test_a_plan_is_shown_with_its_digest() -> None:
    assert reports(planned())["move"][-1] == "Digest       kafka_plan_digest=0-0-a"
    assert reports(planned(plan_digest=""))["move"] == ["Nothing to move: everything is as specified."]


def test_the_plans_of_all_clusters_of_a_play_are_handed_on_together() -> None:
    hosts = {
        "e": {"kafka_node_id": 1, "kafka_cluster_name": "east", **planned()},
        "w": {"kafka_node_id": 1, "kafka_cluster_name": "west", **planned(plan_digest="0-0-b")},
        "x": {"kafka_node_id": 2, "kafka_cluster_name": "west", "__kafka_resources_plan": {"skipped": True}},
    }
    found = view(hosts, brokers=["e", "w", "x"])["reports"]
    assert found["plan_digests"] == "0-0-a,0-0-b"
    assert [line for line in found["plans"].splitlines() if line.endswith(":")] == ["east:", "west:"]


def test_a_plan_without_the_partitions_that_are_to_be_added_has_no_digest() -> None:
    assert reports({**planned(), "__kafka_resources_added": {"changed": False}})["plan_digests"] == "0-0-a"
    assert reports({**planned(), "__kafka_resources_added": {"changed": True}})["plan_digests"] == ""


def test_another_plan_than_the_approved_one_is_refused() -> None:
    approved, other = "1-1-" + "a" * 64, "2-2-" + "b" * 64
    assert reports(planned(plan_digest=other))["plan_refusal"] == ""
    assert reports(planned(plan_digest=other), kafka_plan_digest="")["plan_refusal"] == ""
    assert reports(planned(plan_digest=approved), kafka_plan_digest=approved)["plan_refusal"] == ""
    assert "not the plan" in reports(planned(plan_digest=other), kafka_plan_digest=approved)["plan_refusal"]


def test_the_report_of_a_status_has_every_cluster_and_mirror_that_was_looked_at(tmp_path: Path) -> None:
    given = {"status_report": str(tmp_path / "now.html"), "_kafka_resources_made": "2026-11-24T12:00:00Z"}
    flow = {"flow": "east->west", "status": "OK", "findings": [], "lag": None, "topics": [], "drill": None}
    hosts: dict[str, dict[str, Any]] = {
        "e": {"kafka_node_id": 1, "kafka_cluster_name": "east", "__kafka_resources_health": HEALTH, **given},
        "w": {"kafka_node_id": 1, "kafka_cluster_name": "west", "__kafka_resources_health": {"msg": "refused"}},
        "x": {"kafka_node_id": 2, "kafka_cluster_name": "west", "__mirror_maker_verdicts": [{"seen": flow}]},
    }
    for name in ("e", "w"):
        part = view(hosts, host=name, brokers=[*hosts])["reports"]["status_part"]
        assert part["inventory"][0] == {"host": name, "node_id": 1, "roles": ["broker"], "version": None}
        hosts[name]["__kafka_resources_status_part"] = part
    found_by = view(hosts, host="e", brokers=[*hosts])["reports"]
    page, data = found_by["status_files"]
    assert found_by["status_path"] == page["path"]
    assert (page["path"], data["path"]) == (f"{tmp_path}/now.html", f"{tmp_path}/now.json")
    assert {page["mode"], data["mode"]} == {"0640"}
    found = json.loads(data["content"])
    assert [(one["name"], one["status"]) for one in found["clusters"]] == [("east", "OK"), ("west", "UNKNOWN")]
    assert [one["flow"] for one in found["mirrors"]] == ["east->west"]
    assert "It could not be looked at: refused" in Markup(page["content"]).text


def test_the_report_of_a_status_is_the_same_file_when_it_is_written_again() -> None:
    given = {"status_report": "/r/", "_kafka_resources_made": "2026-11-24T12:00:09Z"}
    hosts: dict[str, dict[str, Any]] = {
        "e": {"kafka_node_id": 1, "__kafka_resources_made": "2026-11-24T12:00:05Z", **given},
        "w": {"kafka_node_id": 2, "__kafka_resources_made": "2026-11-24T12:00:04Z"},
    }
    for name in hosts:
        found = view(hosts, host=name, brokers=[*hosts], **given)["reports"]
        page, data = found["status_files"]
        assert found["status_path"] == page["path"] == "/r/20261124T120004Z-status.html"
        assert data["path"] == "/r/20261124T120004Z-status.json"
        assert json.loads(data["content"])["made"] == "2026-11-24T12:00:04Z"
    alone = view({"e": {"kafka_node_id": 1, **given}}, brokers=["e"])["reports"]
    assert alone["status_path"] == "/r/20261124T120009Z-status.html"


SECRET = "planted-secret"


def test_what_is_handed_on_has_no_secret_of_the_inventory_or_of_what_tasks_left() -> None:
    left = {
        **planned(),
        "kafka_admin_password": SECRET,
        "kafka_users": [{"name": "app", "password": SECRET}],
        "zookeeper_password": SECRET,
        "__spark_validation_proofs": [{"verdict": "pass", "report": "/r/report.html"}],
        "__spark_validation_job": {
            "verdict": "pass",
            "report": "/r",
            "client_properties": {"sasl.jaas.config": SECRET},
        },
        "__kafka_resources_verdict": "fail",
        "__kafka_resources_report": "/r/move.html",
    }
    found = reports(left)
    assert found["outcome"] == {"streamops_verdict": "fail", "streamops_reports": ["/r/move.html", "/r/report.html"]}
    assert SECRET not in f"{found['outcome']}{found['plans']}{found['plan_digests']}"


def test_the_look_after_a_failure_keeps_the_verdict_that_was_handed_to_it() -> None:
    left = {"__kafka_resources_verdict": "pass"}
    assert reports(left, streamops_verdict="fail")["outcome"]["streamops_verdict"] == "fail"
    assert "streamops_verdict" not in reports(left, ansible_check_mode=True)["outcome"], (
        "what it would mend is no failure"
    )
    assert reports(left, streamops_verdict=" ")["outcome"]["streamops_verdict"] == "pass"
    assert reports(left)["outcome"]["streamops_verdict"] == "pass"


def test_a_move_leaves_its_report_and_beside_it_the_same_for_machines() -> None:
    left = {"__kafka_resources_plan": PLAN, "__kafka_resources_moved": DONE, "__kafka_resources_report": "/r/move.html"}
    told = {"_kafka_resources_made": "2026-11-24T10:19:04Z", "_kafka_resources_move_title": "Rebalance"}
    for more, outcome in (({}, "done"), ({"plan_only": True}, "planned"), ({"ansible_check_mode": True}, "planned")):
        page, data = reports(left, **told, **more)["move_files"]
        assert [(one["path"], one["mode"]) for one in (page, data)] == [
            ("/r/move.html", "0644"),
            ("/r/move.json", "0644"),
        ]
        assert json.loads(data["content"])["outcome"] == outcome
        assert ("Done: Rebalance" in Markup(page["content"]).text) is (outcome == "done")

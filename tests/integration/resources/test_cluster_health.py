# SPDX-License-Identifier: GPL-3.0-or-later
"""cluster_health and status.yml on real brokers: what is well has no findings, what is hurt is named."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from page.core.exposition import exposition
from page.expected import expected_of
from page.known.freshness import health as judge
from page.known.metrics import families_of_polls
from page.known.poller import Poller
from page.poll import take
from page.shown.sheet import state_of
from tests.support.cluster import Cluster, Run, free_port_base, until
from tests.support.modules import run_module
from tests.support.releases import NEW_CLUSTER

RATE = "leader.replication.throttled.rate"
FOLLOWER_RATE = "follower.replication.throttled.rate"


def health(cluster: Cluster, module: str = "cluster_health", **options: Any) -> dict[str, Any]:
    """Return what cluster_health, or another module with its options, says of a cluster and its inventory's nodes."""
    nodes = [
        {"host": name, "node_id": number, "roles": ["broker", "controller"]}
        for name, number in cluster.identities.items()
    ]
    asked = {"bootstrap_servers": cluster.bootstrap_servers, "nodes": nodes, **options}
    return run_module(f"streamops.kafka.{module}", asked)


def kinds(found: dict[str, Any]) -> set[str]:
    """Return the kinds of the findings."""
    return {finding["kind"] for finding in found["findings"]}


def strict(cluster: Cluster, **options: Any) -> Run:
    """Run status.yml as monitoring does."""
    return cluster.playbook("playbooks/status.yml", status_strict=True, **options)


def at_its_best(cluster: Cluster) -> None:
    """Wait until all is in sync, and give leaders back."""
    servers = {"bootstrap_servers": cluster.bootstrap_servers}
    assert run_module("streamops.kafka.isr_wait", {**servers, "timeout": 180, "interval": 2})["in_sync"]
    assert not run_module("streamops.kafka.leader_election", servers)["failed"]


def test_a_cluster_that_is_well_has_no_findings_and_strangers_to_its_inventory_are_named(combined: Cluster) -> None:
    at_its_best(combined)
    found = health(combined, versions={"kafka1": NEW_CLUSTER}, fail_on="degraded")
    assert not found["failed"], found
    assert (found["status"], found["findings"], found["changed"]) == ("OK", [], False)
    assert found["cluster"]["counts"]["nodes"] == 3
    two = [{"host": f"kafka{one}", "node_id": one, "roles": ["broker", "controller"]} for one in (1, 2)]
    assert kinds(health(combined, nodes=two)) == {"ghost_broker", "ghost_voter"}


@pytest.mark.parametrize("check", [False, True], ids=["run", "check mode"])
def test_the_one_look_of_a_status_is_what_the_three_modules_say(combined: Cluster, check: bool) -> None:
    at_its_best(combined)
    servers = {"bootstrap_servers": combined.bootstrap_servers}
    whole = run_module("streamops.kafka.cluster_status", servers, check=check)
    assert not whole["failed"], whole
    alone = run_module("streamops.kafka.cluster_health", servers, check=check)
    assert {key: whole[key] for key in ("status", "findings", "racks", "changed")} == {
        key: alone[key] for key in ("status", "findings", "racks", "changed")
    }
    assert whole["cluster"].keys() == alone["cluster"].keys()

    features = run_module("streamops.kafka.features_info", {**servers, "ask_controller": False}, check=check)
    assert features["features"]
    # The epoch is an offset of the metadata log, which grows by itself.
    same = ("features", "below", "nodes", "ghosts", "unknown", "unasked", "lines")
    assert {key: whole["features"][key] for key in same} == {key: features[key] for key in same}

    subjects = ["leader", "features", "brokers", "controllers", "topics", "partitions"]
    options = {**servers, "subjects": subjects, "settle": 3, "node_timeout": 3, "timeout": 0, "must_agree": False}
    metadata = run_module("streamops.kafka.metadata_compare", options, check=check)
    assert metadata["agree"], metadata
    same = ("agree", "silent", "not_compared", "subjects_not_compared", "lagging", "differences")
    assert {key: whole["metadata"][key] for key in same} == {key: metadata[key] for key in same}
    told = [{node["name"]: node["digests"] for node in found["nodes"]} for found in (whole["metadata"], metadata)]
    assert told[0] == told[1]
    assert whole["metadata"]["lines"] == [f"all 3 nodes agree at offset {whole['metadata']['offset']}"]


def test_a_status_of_a_frozen_node_tells_the_verdict_and_who_did_not_answer(combined: Cluster) -> None:
    at_its_best(combined)
    leader = health(combined)["cluster"]["quorum"]["leader_id"]
    frozen = next(node for node in combined.nodes if combined.identities[node] != leader)
    number = combined.identities[frozen]
    with combined.frozen(frozen):
        seen = health(combined, "cluster_status")
        shown = combined.playbook("playbooks/status.yml", status_fail_on="never").ok()
    assert (seen["status"], kinds(seen) >= {"broker_down"}) == ("DEGRADED", True)
    assert f"broker {number}" in seen["features"]["unknown"]
    assert f"broker {number}" in seen["metadata"]["silent"]
    said = " ".join(shown.output.split())
    assert f"DEGRADED local: broker {frozen} (id {number}) is down" in said
    assert "Metadata 2 of 3 nodes agree at offset" in said
    at_its_best(combined)


def test_a_stopped_node_and_a_throttle_that_was_left_are_findings_and_strict_fails(
    combined: Cluster, tmp_path: Path
) -> None:
    at_its_best(combined)
    number = combined.identities["kafka1"]
    entity = ("--alter", "--entity-type", "brokers", "--entity-name", str(number))
    combined.tool("kafka-configs.sh", *entity, "--add-config", f"{RATE}=1000000")
    combined.stop("kafka3")
    try:
        found = health(combined, fail_on="degraded")
        assert found["failed"]
        assert found["status"] == "DEGRADED"
        assert {"broker_down", "throttle_left"} <= kinds(found), found["findings"]
        # What follows from the broker is within its finding: three replicas on three nodes, and one of them is away.
        assert not {"under_replicated", "under_min_isr", "at_min_isr"} & kinds(found), found["findings"]
        down = next(one for one in found["findings"] if one["kind"] == "broker_down")
        lacking = found["cluster"]["counts"]["under_replicated"]
        assert down["what"].startswith(f"broker kafka3 (id 3) is down: {lacking} partitions lack this replica")
        left = next(one for one in found["findings"] if one["kind"] == "throttle_left")
        assert left["found"] == f"{RATE}=1000000"
        assert f"--entity-name {number} --delete-config {RATE}" in left["next_step"]
        run = strict(combined, status_report=str(tmp_path / "status.html"))
        said = " ".join(run.output.split())
        assert run.rc != 0
        assert "DEGRADED local: broker kafka3 (id 3) is down" in said
        assert f"a throttle was left on broker {number}" in said
        page, data = ((tmp_path / name).read_text() for name in ("status.html", "status.json"))
        assert "broker kafka3 (id 3) is down" in page
        (seen,) = json.loads(data)["clusters"]
        assert {"broker_down", "throttle_left"} <= kinds(seen)
        assert seen["groups"]["known"], seen["groups"]
        assert all(len(one["partitions"]) == one["partition_count"] for one in seen["topics"])
        assert_the_page_sees_the_same(combined, seen)
    finally:
        combined.start("kafka3")
        combined.tool("kafka-configs.sh", *entity, "--delete-config", RATE)
        at_its_best(combined)


@pytest.mark.full
def test_a_throttled_follower_is_told_as_catching_up_by_gate_health_and_wait_alike(combined: Cluster) -> None:
    """Of one leader it lacks megabytes, with all others it is in sync: nobody is at fault, and no firewall."""
    at_its_best(combined)
    servers = ",".join(combined.bootstrap_servers)
    first, second, late = (combined.identities[node] for node in combined.nodes)
    name = "health-throttled"
    admin = AdminClient({"bootstrap.servers": servers})
    configs = {"min.insync.replicas": "2", "follower.replication.throttled.replicas": "*"}
    made = NewTopic(name, 1, replica_assignment=[[first, second, late]], config=configs)
    admin.create_topics([made])[name].result(30)
    slow = ("--alter", "--entity-type", "brokers", "--entity-name", str(late))
    try:
        combined.tool("kafka-configs.sh", *slow, "--add-config", f"{FOLLOWER_RATE}=100000")
        combined.stop("kafka3")
        producer = Producer({"bootstrap.servers": servers, "acks": "1"})
        for _record in range(400):
            producer.produce(name, os.urandom(50_000), partition=0)
        assert producer.flush(60) == 0
        combined.start("kafka3")
        wait = {"bootstrap_servers": combined.bootstrap_servers}
        own = {**wait, "scope": "own", "broker": late}
        # All but that one partition.
        until(lambda: run_module("streamops.kafka.isr_wait", own, check=True)["partitions_not_done"] == 1, "one", 120)
        waiting = run_module("streamops.kafka.isr_wait", {**own, "timeout": 1})
        gate = run_module("streamops.kafka.restart_gate", {**wait, "node_ids": [second], "timeout": 1})
        found = health(combined)
    finally:
        combined.tool("kafka-configs.sh", *slow, "--delete-config", FOLLOWER_RATE)
        at_its_best(combined)
        admin.delete_topics([name])[name].result(30)
    assert [one["kind"] for one in gate["refusals"]] == ["catching_up"], gate["refusals"]
    assert gate["sick"] == {}
    assert "catching_up" in kinds(found), found["findings"]
    assert not kinds(found) & {"broker_cut_off", "broker_not_copying", "pair_not_copying"}
    behind = next(one for one in found["findings"] if one["kind"] == "catching_up")
    for said in (gate["refusals"][0]["found"], behind["what"]):
        assert f"broker {late} is catching up, " in said
        assert "MB behind" in said
        assert f"{FOLLOWER_RATE}=100000 of broker {late}" in said
    assert f"{FOLLOWER_RATE}=100000 of broker {late}" in waiting["why"]
    assert [one["kind"] for one in waiting["attributions"]] == ["catching_up"]
    assert "firewall" not in f"{gate} {found} {waiting}"


def assert_the_page_sees_the_same(cluster: Cluster, report: dict[str, Any]) -> None:
    """Poll a cluster as the page does, and compare it with its part of the report of status.yml."""
    connection = Connection.from_params({"bootstrap_servers": cluster.bootstrap_servers})
    expected, wrong = expected_of({"local": {"nodes": report["inventory"]}}, ["local"])
    assert wrong == []
    polled = take("local", connection, expected["local"], 300).cluster
    assert polled.keys() == {*report.keys(), "moves", "features", "metadata"}
    moves = polled["moves"]
    assert (moves["known"], moves["partitions"], moves["recorded"]) == (True, [], None)
    assert [(one["kind"], one["key"], one["value"]) for one in moves["throttles"]] == [("broker", RATE, "1000000")]
    same = ("name", "status", "answered", "inventory", "cluster_id", "counts", "under_replicated", "offline")
    assert {key: polled[key] for key in same} == {key: report[key] for key in same}
    found, reported = ({one["what"]: one["kind"] for one in part["findings"]} for part in (polled, report))
    assert reported.items() <= found.items()
    # The poll comes later, when max_quorum_lag may have passed since the node was stopped; it looks at all groups.
    assert {kind for what, kind in found.items() if what not in reported} <= {"controller_behind", "groups_unread"}
    for key in ("brokers", "topics"):
        mine, theirs = polled[key], report[key]
        assert [one.keys() - {"size_bytes"} for one in mine] == [one.keys() for one in theirs]

    def in_sync(part: Mapping[str, Any]) -> dict[tuple[str, int], list[int]]:
        return {(one["name"], row["partition"]): row["isr"] for one in part["topics"] for row in one["partitions"]}

    assert in_sync(polled) == in_sync(report)


def test_nodes_that_are_frozen_are_down_at_every_mouth_and_a_lost_majority_is_a_cluster_that_is_down(
    combined: Cluster,
) -> None:
    """The kernel takes connections for them, and the metadata of the third one has all of them alive for ever."""
    at_its_best(combined)
    connection = Connection.from_params({"bootstrap_servers": combined.bootstrap_servers, "request_timeout": 10})
    nodes = [
        {"host": host, "node_id": node_id, "roles": ["broker", "controller"]}
        for host, node_id in combined.identities.items()
    ]
    expected, wrong = expected_of({"local": {"nodes": nodes}}, ["local"])
    assert wrong == []
    poller = Poller("local", lambda last: take("local", connection, expected["local"], 60, last, 3600), 30, 1000)

    def page() -> tuple[str, str, str]:
        """Poll; what the page, its /health and the metric kafka_brokers say."""
        poller.poll()
        assert poller.seen.polls.error == ""
        seen, now = poller.seen, time.time()
        lines = exposition([families_of_polls("local", seen.polls, seen.picture, now, 300)]).splitlines()
        brokers = next(line for line in lines if line.startswith("kafka_brokers{"))
        said = judge({"local": (seen.polls, seen.picture)}, now, 300)["status"]
        return state_of("local", seen, now, 300).word, said, brokers.rpartition(" ")[2]

    def down(found: Mapping[str, Any]) -> list[str]:
        """Return the brokers that findings call down, in their order, before anything else."""
        names = [finding["what"].split()[1] for finding in found["findings"] if finding["kind"] == "broker_down"]
        assert [finding["kind"] for finding in found["findings"]][: len(names)] == ["broker_down"] * len(names)
        return names

    until(lambda: page() == ("OK", "ok", "3"), "a page on which all is well", 60)
    with combined.frozen("kafka2"):
        found = health(combined, request_timeout=10)
        assert (found["status"], down(found)) == ("DEGRADED", ["kafka2"]), found["findings"]
        page()
        assert page() == ("DEGRADED", "ok", "2")
    at_its_best(combined)
    with combined.frozen("kafka1"), combined.frozen("kafka3"):
        found = health(combined, request_timeout=10)
        assert (found["status"], down(found)) == ("DOWN", ["kafka1", "kafka3"]), found["findings"]
        assert found["findings"][2]["kind"] == "no_controller"
        assert "leaders_skewed" not in kinds(found)
        page()
        assert page() == ("DOWN", "down", "1")
        picture = poller.seen.picture
        assert picture
        assert down(picture.cluster) == ["kafka1", "kafka3"]
        run = combined.playbook("playbooks/status.yml")
        assert run.rc != 0
        assert "DOWN local: broker kafka1 (id 1) is down" in " ".join(run.output.split())
    at_its_best(combined)
    assert health(combined)["status"] == "OK"
    until(lambda: page() == ("OK", "ok", "3"), "a page on which all is well again", 60)


@pytest.mark.full
def test_a_throttle_alone_fails_a_strict_status(combined: Cluster) -> None:
    at_its_best(combined)
    entity = ("--alter", "--entity-type", "brokers", "--entity-name", "1")
    combined.tool("kafka-configs.sh", *entity, "--add-config", f"{RATE}=1000000")
    try:
        assert kinds(health(combined)) == {"throttle_left"}
        run = strict(combined)
        assert run.rc != 0
        assert "DEGRADED local: a throttle was left on broker 1" in " ".join(run.output.split())
    finally:
        combined.tool("kafka-configs.sh", *entity, "--delete-config", RATE)
    assert strict(combined).ok().changed == 0


def test_a_cluster_that_does_not_answer_is_down_and_no_failure_unless_it_is_asked_for() -> None:
    asked = {"bootstrap_servers": [f"127.0.0.1:{free_port_base()}"], "request_timeout": 5}
    found = run_module("streamops.kafka.cluster_health", asked)
    whole = run_module("streamops.kafka.cluster_status", asked)
    assert (whole["failed"], whole["status"], whole["features"], whole["metadata"]) == (False, "DOWN", {}, {})
    assert not found["failed"]
    assert (found["status"], found["cluster"], kinds(found)) == ("DOWN", None, {"cluster_unreachable"})
    assert "Connection refused" in found["findings"][0]["what"]
    refused = run_module("streamops.kafka.cluster_health", {**asked, "fail_on": "down"})
    assert refused["failed"]
    assert refused["status"] == "DOWN"
    assert refused["failure"]["kind"] == "UnhealthyError"

# SPDX-License-Identifier: GPL-3.0-or-later
"""The facts of an upgrade, from what tasks left on the hosts of its cluster."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rules.properties import refused_by
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.checks import check_all
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.model import ClusterFacts
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.plan import (
    left_lines,
    make_plan,
    plan_lines,
    refusal_text,
    release_before,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.upgrade.read import cluster_facts
from tests.support.inventory_data import DataReader

OLD, NEW = "3.9.2", "4.3.1"


def looked(version: str | None = OLD, **values: Any) -> dict[str, Any]:
    """What node_info returned of a node that runs."""
    disk = {"path": "/opt/kafka", "free_bytes": 9 << 30}
    java = {"path": "java", "version": 17, "full": "17.0.1", "error": None}
    found = {"version": version, "process": {"running": True}, "java": java, "disks": [disk], "installed": False}
    return {**found, **values}


def facts_of(
    *infos: dict[str, Any], mirrors: tuple[str, ...] = (), more: dict[str, Any] | None = None, **common: Any
) -> ClusterFacts:
    """The facts of a cluster of the combined nodes k1, k2, ... of which node_info said this; C(more) is of k1."""
    hosts: dict[str, dict[str, Any]] = {
        f"k{number}": {"kafka_node_id": number, "__common_upgrade_node": one}
        for number, one in enumerate(infos, start=1)
    }
    hosts["k1"].update(more or {})
    ids = list(range(1, len(hosts) + 1))
    hosts["k1"]["__common_upgrade_cluster"] = {
        "controller_id": 1,
        "features": {"metadata.version": 21},
        "nodes": [{"id": one, "fenced": False, "replicas": 1} for one in ids],
        "quorum": {"error": None, "leader_id": 1, "voters": [{"id": one} for one in ids], "observers": []},
    }
    nodes = list(hosts)
    hosts.update({name: {"__common_upgrade_node": looked()} for name in mirrors})
    groups = {"kafka_brokers": nodes, "kraft_controllers": nodes, "mirror_makers": list(mirrors)}
    shared = {"kafka_version": NEW, "kafka_mode": "kraft_combined", **common}
    reader = DataReader(hosts, groups, **shared)
    inventory = build_inventory(reader.read, reader.groups)
    return cluster_facts("k1", inventory.nodes, inventory.mirrors, reader.read, (NEW, OLD), refused_by)


def refusal(facts: ClusterFacts) -> str:
    return refusal_text(facts.name, facts.action, check_all(facts))


def test_what_tasks_saw_becomes_the_facts() -> None:
    node = facts_of(looked(), looked(), looked()).nodes[0]
    assert (node.host, node.runs, node.target, node.java, node.running) == ("k1", OLD, NEW, 17, True)
    assert (node.kind, node.free_mib, node.silence) == ("broker and controller", 9216, "")


def test_files_that_a_node_gave_up_are_known_unless_they_may_be_tried_again() -> None:
    given_up = looked(start_files={"failed": "20261128T090000Z", "why_failed": "No space left\nat kafka.log"})
    assert [node.gave_up for node in facts_of(given_up, looked()).nodes] == ["No space left", ""]
    unknown = looked(start_files={"failed": "20261128T090000Z", "why_failed": ""})
    assert facts_of(unknown).nodes[0].gave_up == "the cause was not written down"
    assert facts_of(looked(start_files={"failed": None, "why_failed": ""})).nodes[0].gave_up == ""
    assert facts_of(given_up, kafka_retry_generation="true").nodes[0].gave_up == ""


def test_files_of_another_release_that_a_node_gave_up_are_not_those_that_it_is_to_get() -> None:
    def gave_up(release: str | None) -> str:
        """Why the node gave up files of a release, where they would be refused."""
        files = {"failed": "20261128T090000Z", "failed_release": release, "why_failed": "No space left"}
        return facts_of(looked(start_files=files)).nodes[0].gave_up

    assert [gave_up(NEW), gave_up("4.2.0"), gave_up(None)] == ["No space left", "", "No space left"]


def test_its_brokers_say_whether_the_roll_is_proven() -> None:
    assert facts_of(looked(), looked(), kafka_prove="true").proven
    assert facts_of(looked(), looked(), more={"kafka_prove": True}).proven
    assert not facts_of(looked(), looked()).proven


def test_a_plan_without_reasons_against_it_is_not_refused() -> None:
    facts = facts_of(looked(), looked(), looked())
    assert refusal(facts) == ""
    assert plan_lines(make_plan(facts, []))[0].endswith(f"{OLD} -> {NEW} (0 of 3 nodes have {NEW})")
    assert release_before(facts) == OLD


def test_a_run_that_was_cut_goes_on_with_the_nodes_that_are_left() -> None:
    lines = plan_lines(make_plan(facts_of(looked(NEW), looked(NEW), looked()), []))
    assert [row.split()[2] for row in lines if row.startswith("Node")] == ["k1", "k2", "k3"]
    assert lines[0].endswith(f"(2 of 3 nodes have {NEW})")


def test_the_word_of_the_run_is_read() -> None:
    assert refusal(facts_of(looked(NEW), looked(NEW), kafka_version=OLD, kafka_upgrade="back")) == ""
    assert "add -e kafka_upgrade=back" in refusal(facts_of(looked(NEW), looked(NEW), kafka_version=OLD))


def test_a_machine_that_does_not_answer_is_named_with_the_first_sentence_of_why() -> None:
    silent = {"unreachable": True, "msg": "Failed to connect\nby ssh. Check that it runs."}
    assert "k2 does not answer (Failed to connect by ssh). fix:" in refusal(facts_of(looked(), silent, looked()))


def test_a_release_that_the_collection_lacks_is_refused() -> None:
    assert "does not have Kafka 4.9.9" in refusal(facts_of(looked(), looked(), kafka_version="4.9.9"))


def test_what_is_left_is_told_of_the_release_before() -> None:
    done = facts_of(looked(NEW), looked(NEW), looked(NEW))
    assert f"kafka_version: {OLD}" in " ".join(left_lines(make_plan(done, []), OLD, done.known))
    assert release_before(done) == ""


def test_properties_of_the_inventory_are_judged_for_the_release() -> None:
    removed = {"log.message.timestamp.difference.max.ms": 1000}
    said = refusal(facts_of(looked(), looked(), looked(), kafka_config=removed))
    assert "Kafka 4.3.1 does not read log.message.timestamp.difference.max.ms (kafka_config[" in said


def test_mirrors_of_the_cluster_are_named() -> None:
    facts = facts_of(looked(), looked(), looked(), mirrors=("m1",))
    assert facts.mirrors == {"m1": OLD}


def counted(**values: Any) -> dict[str, Any]:
    """What deprecated_requests returned of a broker to which one client came that is too old."""
    one = {"software": "sharp", "software_version": "1.0", "api": "Produce", "api_version": 1, "count": 7}
    return {"requests": [one], "since": 1795762175.0, "unread": "", **values}


def test_clients_that_are_too_old_are_read_and_their_consent_given_as_text() -> None:
    old = {"__common_upgrade_requests": counted()}
    assert "client sharp 1.0 is too old" in refusal(facts_of(looked(), looked(), more=old))
    accepted = facts_of(looked(), looked(), more=old, kafka_upgrade_accept_old_clients="true")
    assert refusal(accepted) == ""
    watched = {**old, "__common_upgrade_requests_before": counted()}
    facts = facts_of(looked(), looked(), more=watched, kafka_upgrade_watch_seconds="60")
    assert (refusal(facts), facts.watched, facts.nodes[0].old_requests) == ("", 60, ())


@pytest.mark.parametrize(
    ("before", "why"),
    [
        (counted(unread="it hangs", requests=[]), "it hangs"),
        ({"failed": True, "msg": "No module\nthere. Look."}, "No module there"),
        ({"unreachable": True, "msg": "No way. Look."}, "No way"),
    ],
)
def test_a_first_look_that_failed_refuses_nobody_for_what_came_before(before: dict[str, Any], why: str) -> None:
    more = {"__common_upgrade_requests": counted(), "__common_upgrade_requests_before": before}
    facts = facts_of(looked(), looked(), more=more, kafka_upgrade_watch_seconds="60")
    assert refusal(facts) == ""
    assert facts.nodes[0].uncounted == f"the first of two looks failed ({why})"


def test_a_first_look_that_was_not_asked_for_is_none_that_failed() -> None:
    skipped = {"skipped": True, "skip_reason": "Conditional result was False"}
    more = {"__common_upgrade_requests": counted(), "__common_upgrade_requests_before": skipped}
    assert "client sharp 1.0 is too old" in refusal(facts_of(looked(), looked(), more=more))


def test_why_clients_are_not_known_is_read() -> None:
    def why(**answer: Any) -> str:
        return facts_of(looked(), looked(), more={"__common_upgrade_requests": answer}).nodes[0].uncounted

    assert why(**counted(unread="it hangs", requests=[])) == "it hangs"
    assert why(failed=True, msg="No module\nthere. Look.") == "No module there"


def test_levels_without_their_step_are_refused() -> None:
    facts = facts_of(looked(), looked(), kafka_upgrade_features='{"group.version": 1}')
    assert "kafka_upgrade_features names group.version, and kafka_upgrade=finalize was not given" in refusal(facts)
    for nothing in ({}, "", " ", None, "{}"):
        assert refusal(facts_of(looked(), looked(), kafka_upgrade_features=nothing)) == ""
    assert "kafka_upgrade_features names abc" in refusal(facts_of(looked(), looked(), kafka_upgrade_features="abc"))

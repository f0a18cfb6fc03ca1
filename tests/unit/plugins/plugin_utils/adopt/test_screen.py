# SPDX-License-Identifier: GPL-3.0-or-later
"""The screen of machines that others installed, and the one on its page."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._node.installed import KAFKA
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.asked import (
    Address,
    Answer,
    Login,
    Question,
    question,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.asked import answer as answered
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.screen import all_findings, looked, screen_lines
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE, Finding
from tests.unit.plugins.plugin_utils.adopt.machines import (
    CLUSTER,
    CONTAINED,
    FEATURES,
    info,
    machine,
    node,
    server,
    shown_on_the_page,
    three,
)


def screen(results: dict[str, Any], told: dict[str, Any] | None = None) -> list[str]:
    """Return the screen of machines; without C(told) the cluster does not answer."""
    look = looked(results)
    addresses = {host: Address(host, False) for host in look.machines}
    answers: list[Answer | Question | None] = []
    for cluster in look.clusters:
        how = question(cluster, addresses, Login())
        result = told or {"failed": True, "msg": "no broker answers."}
        asked = how if how.why else answered(how, result, FEATURES)
        answers.append(asked if cluster.product == KAFKA else None)
    return screen_lines(look, answers, all_findings(look, answers))


def begins(lines: list[str], word: str) -> list[str]:
    """Return what stands behind a word at the beginning of lines."""
    return [line.removeprefix(word).strip() for line in lines if line.startswith(word)]


def test_names_of_a_cluster_write_no_lines_and_no_colours_on_the_screen() -> None:
    odd = Finding(NOTE, "quota user a\x1b[2J\nNext step    none stays as it is")
    lines = screen_lines(looked(three()), [None], [odd])
    assert r"Note         quota user a\x1b[2J\nNext step    none stays as it is" in lines


def test_a_cluster_that_fits_together() -> None:
    assert screen(three(), info()) == [
        "Looked at    3 hosts, 3 processes of Kafka, ZooKeeper or MirrorMaker that others installed",
        f"Cluster      {CLUSTER}: kraft, combined; dynamic quorum; 4.3.1; 3 nodes",
        *(
            f"Node         kafka{number}: broker, controller; id {number}; 4.3.1 as Apache published it; systemd "
            "kafka.service, user kafka; data /var/lib/kafka; listens PLAINTEXT://:9092, CONTROLLER://:9093"
            for number in (1, 2, 3)
        ),
        "Asked        kafka1:9092, kafka2:9092, kafka3:9092 (PLAINTEXT): brokers 1, 2, 3; voters 1, 2, 3, leader 2; "
        "metadata.version 4.3-IV0; 12 topics with 140 partitions; 0 under-replicated, 0 offline",
        "Next step    write the inventory of the cluster with -e kafka_adopt=inventory -e kafka_adopt_inventory=DIR, "
        "and take its nodes over with it (docs/adopt.md); nothing was changed",
    ]


def test_a_host_that_is_not_reached_is_named_and_the_others_are_shown() -> None:
    results = {**three(), "kafka4": {"unreachable": True, "msg": "Connection\ntimed out."}}
    lines = screen({**results, "kafka5": {"failed": True, "msg": "no python"}}, info())
    assert len(begins(lines, "Node ")) == 3
    assert lines[0].endswith("; 2 hosts could not be looked at")
    fix = "fix: make it reachable, or take it out of this inventory"
    assert begins(lines, "Refused") == [
        f"kafka4 was not looked at: it cannot be reached: Connection timed out. {fix}",
        f"kafka5 was not looked at: the look failed: no python. {fix}",
    ]
    assert begins(lines, "Next step") == ["clear what is refused, and run this again; nothing was changed"]


def test_a_node_that_was_taken_over_is_no_stranger_in_the_metadata_of_its_cluster() -> None:
    machines = three()
    machines["kafka1"] = machine(node(1, ours={"product": "kafka", "node_id": "1", "cluster": "blue"}))
    lines = screen(machines, info())
    assert begins(lines, "Refused") == []
    assert begins(lines, "Note") == ["kafka1: process 801 (kafka) is one of this collection already"]
    assert len(begins(lines, "Node ")) == 2
    (step,) = begins(screen({"kafka1": machines["kafka1"]}), "Next step")
    assert step == "none: this collection runs what runs on these hosts already; nothing was changed"


def test_a_container_is_named_and_belongs_to_no_cluster() -> None:
    lines = screen({**three(), "docker1": machine(CONTAINED)}, info())
    assert begins(lines, "Container") == ["docker1: kafka, process 77, container docker 3f2a91"]
    assert len(begins(lines, "Cluster")) == 1
    (refused,) = begins(lines, "Refused")
    assert refused.startswith("docker1 (kafka, process 77) runs in container docker 3f2a91, which is left alone.")


def test_an_ensemble_stands_behind_its_cluster() -> None:
    brokers = {
        f"kafka{number}": machine(
            node(number, properties={"process.roles": None, "zookeeper.connect": "zk1:2181,zk2:2181"}), server(number)
        )
        for number in (1, 2, 3)
    }
    lines = screen(brokers, info(quorum=None, features=None))
    assert [line.split(maxsplit=1)[0] for line in lines if not line.startswith("Node")] == [
        "Looked",
        "Cluster",
        "Asked",
        "Ensemble",
        "Next",
    ]
    assert begins(lines, "Cluster") == [f"{CLUSTER}: zookeeper; 4.3.1; 3 nodes"]
    assert begins(lines, "Ensemble") == ["ensemble of ZooKeeper: 3.8.6; 3 nodes"]
    assert (
        "kafka1: zookeeper; id 1; 3.8.6 as Apache published it; no manager, user zookeeper; data /var/lib/zookeeper; "
        "listens on ports 2181" in begins(lines, "Node")
    )
    assert begins(lines, "Next step") == [
        "write the inventory of the cluster with -e kafka_adopt=inventory -e kafka_adopt_inventory=DIR, and take its "
        "nodes over with it (docs/adopt.md); nothing was changed"
    ]


def test_an_ensemble_alone_and_a_cluster_on_its_way_to_kraft_are_not_taken_over() -> None:
    (step,) = begins(screen({"zk1": machine(server(1))}), "Next step")
    assert step.startswith("an inventory is written of a cluster of Kafka: name its hosts in this inventory too")
    broker = node(1, properties={"process.roles": None, "zookeeper.connect": "zk1:2181"})
    controller = node(2, properties={"process.roles": "controller"})
    (step,) = begins(screen({"kafka1": machine(broker), "kafka2": machine(controller)}), "Next step")
    assert step.startswith("end the way of the cluster from ZooKeeper to KRaft, or go back, by the means with which")


@pytest.mark.parametrize(
    ("results", "step"),
    [
        ({}, "name the hosts of the cluster in this inventory"),
        ({"a": machine()}, "name the hosts of the cluster in this inventory"),
        ({"a": {"unreachable": True}}, "clear what is refused"),
    ],
    ids=["no hosts", "nothing runs", "unreachable"],
)
def test_where_nothing_is_seen_the_next_step_says_so(results: dict[str, Any], step: str) -> None:
    lines = screen(results)
    assert "no process" in lines[0]
    assert begins(lines, "Next step")[0].startswith(step)


def test_where_no_module_ran_the_words_of_the_shell_are_shown() -> None:
    failed = {"failed": True, "msg": "No start of json char found", "module_stderr": "sh: python3:\nnot found\n"}
    (refused,) = begins(screen({"a": failed}), "Refused")
    assert refused.startswith("a was not looked at: the look failed: sh: python3: not found. fix: ")
    (refused,) = begins(screen({"a": {"failed": True, "msg": "x" * 5000}}), "Refused")
    assert len(refused) < 500


def test_what_another_user_may_not_read_is_one_line() -> None:
    unread = [{"path": path, "why": "Permission denied"} for path in ("/proc/801/environ", "/proc/801/cwd")]
    unread.append({"path": "/etc/kafka/a", "why": "No such file or directory"})
    blind = node(1, properties=dict.fromkeys(node(1)["properties"]), dirs=[], ports=[])
    lines = screen({"kafka1": machine(blind, unread=unread)})
    assert begins(lines, "Cluster") == ["a cluster without a known id: mode not known; 4.3.1; 1 node"]
    notes = begins(lines, "Note")
    assert len(notes) == 3
    assert notes[0].startswith("kafka1: /proc/801/environ, /proc/801/cwd are not known: Permission denied. fix: ")
    assert "was not asked: no listener of a broker is known" in notes[2]


def test_the_page_shows_a_screen_with_each_kind_of_line() -> None:
    lines = screen(*shown_on_the_page())
    assert {line[:12].strip() for line in lines} == {
        "Looked at", "Cluster", "Node", "Asked", "Note", "Refused", "Next step"
    }  # fmt: skip

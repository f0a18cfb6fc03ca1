# SPDX-License-Identifier: GPL-3.0-or-later
"""Hosts of an inventory that are one machine: each process belongs to one of them."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.machines import Said, divided, said_by
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.nodes import disagreements
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.screen import all_findings, looked
from tests.unit.plugins.plugin_utils.adopt.machines import machine, node, server

HOSTS = ("k1", "k2", "k3")


def one_machine(*processes: dict[str, Any], hosts: tuple[str, ...] = HOSTS) -> dict[str, dict[str, Any]]:
    """Return what each of several hosts tells that are one machine."""
    return {host: {**machine(*processes), "machine": "boot/pid:[1]"} for host in hosts}


def place(number: int, directory: str, port: int, cluster: str = "c") -> dict[str, Any]:
    """Return a node with a directory and a port of its own."""
    mark = {"cluster.id": cluster, "node.id": str(number), "version": "1"}
    return node(
        number, pid=port, ports=[port], dirs=[{"path": directory, "meta_properties": mark, "myid": None}],
        properties={"log.dirs": directory},
    )  # fmt: skip


def pids(machines: dict[str, Any]) -> dict[str, list[int]]:
    """Return the processes of each host."""
    return {host: [told["pid"] for told in part["processes"]] for host, part in machines.items()}


def test_each_process_is_at_the_host_with_its_id() -> None:
    said = {host: said_by({"kafka_node_id": str(number)}) for number, host in enumerate(HOSTS, 1)}
    machines, notes = divided(one_machine(*(place(number, f"/d{number}", 9000 + number) for number in (3, 1, 2))), said)
    assert pids(machines) == {"k1": [9001], "k2": [9002], "k3": [9003]}
    (note,) = notes
    assert note.what.startswith("k1, k2, k3 are one machine, so each process is listed once")


@pytest.mark.parametrize(
    ("variables", "other"),
    [({"kafka_node_id": 1, "kafka_log_dirs": ["/b/"]}, {"kafka_node_id": 1, "kafka_log_dirs": "/a"}),
     ({"kafka_listeners": [{"port": "9002"}]}, {"kafka_listeners": [{"port": 9001}]}),
     ({"kafka_log_dirs": ["/b"]}, {})],
)  # fmt: skip
def test_of_two_with_one_id_the_directory_and_the_ports_decide(variables: Any, other: Any) -> None:
    told = one_machine(place(1, "/a", 9001, "c1"), place(1, "/b", 9002, "c2"), hosts=("first", "second"))
    machines, _notes = divided(told, {"first": said_by(other), "second": said_by(variables)})
    assert pids(machines) == {"first": [9001], "second": [9002]}


def test_another_id_leaves_nothing_in_common() -> None:
    told = one_machine(place(2, "/a", 9001), hosts=("first", "second", "third"))
    said = {"first": said_by({"kafka_node_id": 1, "kafka_log_dirs": ["/a"]})}
    assert pids(divided(told, said)[0]) == {"first": [], "second": [9001], "third": []}


def test_a_broker_and_a_server_with_one_id_are_of_two_hosts() -> None:
    told = one_machine(place(1, "/a", 9001), server(1), hosts=("zk", "kafka"))
    machines, _notes = divided(told, {"zk": said_by({"zookeeper_id": 1}), "kafka": said_by({"kafka_node_id": 1})})
    assert pids(machines) == {"zk": [801], "kafka": [9001]}


def test_hosts_that_say_nothing_are_listed_at_the_first_and_that_is_said() -> None:
    unread = [{"path": "/etc/kafka", "why": "no right"}]
    told = {host: {**part, "unread": unread} for host, part in one_machine(place(1, "/a", 9001)).items()}
    look = looked(told)
    assert [found.host for found in look.nodes] == ["k1"]
    findings = [str(finding) for finding in all_findings(look, [None])]
    assert sum("are one machine" in finding for finding in findings) == 1
    assert sum("/etc/kafka is not known" in finding for finding in findings) == 1
    assert any("k2: no process of its machine belongs to it" in finding for finding in findings)
    assert not any("k1: no process" in finding for finding in findings)


@pytest.mark.parametrize("same", ["", None])
def test_hosts_of_which_no_machine_is_known_are_left_as_they_are(same: str | None) -> None:
    told: dict[str, Any] = {host: {**machine(node(1)), "machine": same} for host in HOSTS}
    machines, notes = divided(told, {})
    assert (machines, notes) == (told, ())
    assert disagreements(told, []) == []


def test_variables_of_another_form_say_nothing() -> None:
    assert said_by({"kafka_node_id": "x", "kafka_listeners": "{{ y }}", "kafka_log_dirs": 3}) == Said({}, [], [])

"""The ensemble, seen by who may look at it and by who may not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.machines import Ask, Machine
from tests.support.modules import run_module

CHROOT = "/classic"


def test_one_leads_and_the_others_follow(ensemble: dict[str, Any], nodes: list[Machine]) -> None:
    found = run_module("streamops.kafka.zookeeper_info", {**ensemble, "chroot": CHROOT})
    assert found["healthy"], found
    assert sorted(server["state"] for server in found["servers"]) == ["follower", "follower", "leader"]
    assert [one["id"] for one in found["cluster"]["brokers"]] == [one.node_id for one in nodes if one.is_broker]


@pytest.mark.parametrize("changed", [{"sasl_password": "wrong"}, {"sasl_username": None, "sasl_password": None}])
def test_who_does_not_log_in_reads_nothing(ensemble: dict[str, Any], changed: dict[str, Any]) -> None:
    options = {name: value for name, value in {**ensemble, **changed}.items() if value is not None}
    found = run_module("streamops.kafka.zookeeper_info", {**options, "chroot": CHROOT})
    assert found["failed"], found


@pytest.mark.parametrize("path", ["/brokers/topics/orders", "/config/users/smoke", "/kafka-acl/Topic/proof"])
def test_what_brokers_wrote_nobody_else_may_change(ensemble: dict[str, Any], path: str) -> None:
    found = run_module("streamops.kafka.zookeeper_info", {**ensemble, "chroot": CHROOT, "acl_paths": [path]})
    rights = found["acls"][path]
    assert any(right.startswith(f"sasl:{ensemble['sasl_username']}:") for right in rights), rights
    assert [right for right in rights if right.startswith("world:")] in ([], ["world:anyone:read"])


@pytest.mark.parametrize("purpose", ["zookeeper_clients", "zookeeper_election"])
def test_plain_text_is_not_answered_even_to_a_neighbour(machines: dict[str, Machine], ask: Ask, purpose: str) -> None:
    server = machines["zk2"]
    # The line end is the fifth byte: before that TLS cannot tell that this is none.
    place = {"address": server.address, "port": server.ports[purpose], "text": "ruok\n"}
    assert ask(machines["machine1"], "plain.py", place) == "closed"


def test_who_shows_no_certificate_gets_no_part_in_an_election(
    machines: dict[str, Machine], ask: Ask, ensemble: dict[str, Any]
) -> None:
    server = machines["zk2"]
    with open(ensemble["ssl_ca_location"]) as file:
        question = {"address": server.address, "ca": file.read()}
    asked = {**question, "port": server.ports["zookeeper_election"]}
    assert ask(machines["machine1"], "handshake.py", asked).startswith("refused")


def test_no_file_of_zookeeper_that_others_can_read_holds_the_password(machines: dict[str, Machine]) -> None:
    server = machines["zk1"]
    jaas = f"{server.directories[1]}/{server.name}/zookeeper_jaas.conf"
    assert server.run("stat", "-L", "-c", "%U %G %a", jaas) == f"root {server.group} 440"
    look = ["grep", "-rlsF", "planted-zookeeper", "/etc", "/opt", "/var/lib", "/var/log", "/tmp", "/run"]
    found = server.run("sh", "-c", f"{' '.join(look)} || test $? -le 2").splitlines()
    brokers = [one for one in machines.values() if one.machine == server.machine and one.is_broker]
    known = [f"{one.directories[1]}/{one.name}/zookeeper_jaas.conf" for one in [server, *brokers]]
    assert sorted(found) == sorted(known)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a cluster of others is asked, as whom, and what it says otherwise than its machines."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt import asked as subject
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.asked import Address, Answer, Login, Question
from ansible_collections.streamops.kafka.plugins.plugin_utils.adopt.clusters import ForeignCluster, clusters_of
from ansible_collections.streamops.kafka.plugins.plugin_utils.findings import NOTE, REFUSE
from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.foreign import foreign_nodes
from tests.unit.plugins.plugin_utils.adopt.machines import CLUSTER, FEATURES, info, machine, node, three

LOGIN = Login("admin", "hunter2", "/ca.pem")
SASL = {
    "listeners": "OUT://:9094,CONTROLLER://:9093",
    "advertised.listeners": "OUT://kafka1.example.com:9094",
    "listener.security.protocol.map": "OUT:SASL_SSL,CONTROLLER:SSL",
    "inter.broker.listener.name": "OUT",
    "sasl.enabled.mechanisms": "GSSAPI,PLAIN,SCRAM-SHA-256",
}


def cluster(machines: dict[str, Any]) -> ForeignCluster:
    """Return the one cluster of these machines."""
    (only,) = clusters_of(foreign_nodes(machines))
    return only


def of_one(properties: dict[str, Any], login: Login = LOGIN, is_here: bool = False) -> Question:
    """Return how a cluster of one node is asked."""
    machines = {"kafka1": machine(node(1, properties=properties))}
    return subject.question(cluster(machines), {"kafka1": Address("10.0.0.1", is_here)}, login)


def test_a_listener_without_a_login_is_asked_at_all_brokers_and_no_password_is_shown() -> None:
    how = subject.question(cluster(three()), {f"kafka{at}": Address(f"10.0.0.{at}", False) for at in (1, 2, 3)}, LOGIN)
    assert how.options == {
        "security_protocol": "PLAINTEXT",
        "bootstrap_servers": ["kafka1:9092", "kafka2:9092", "kafka3:9092"],
        "request_timeout": 15,
    }
    assert (how.why, how.controller_protocol) == ("", "PLAINTEXT")


def test_what_is_not_advertised_is_asked_at_the_address_of_the_host() -> None:
    assert of_one({"advertised.listeners": None}).where == "10.0.0.1:9092 (PLAINTEXT)"


def test_loopback_is_asked_on_the_same_machine_only() -> None:
    local = {"advertised.listeners": "PLAINTEXT://localhost:9092"}
    assert of_one(local, is_here=True).where == "localhost:9092 (PLAINTEXT)"
    assert of_one(local).why == "was not asked: kafka1 advertises localhost:9092, which leads to itself alone"


def test_a_login_is_used_where_it_is_there() -> None:
    how = of_one(SASL)
    assert how.options["sasl_mechanism"] == "SCRAM-SHA-256"
    assert how.options["bootstrap_servers"] == ["kafka1.example.com:9094"]
    assert (how.options["sasl_password"], how.options["ssl_ca_location"]) == ("hunter2", "/ca.pem")
    assert how.controller_protocol == "SSL"
    assert "hunter2" not in how.where


@pytest.mark.parametrize(
    ("properties", "login", "why"),
    [
        (SASL, Login("admin", ""), "was not asked: its listeners need a login (SASL_SSL)"),
        ({**SASL, "sasl.enabled.mechanisms": "GSSAPI"}, LOGIN, "was not asked: its listeners need a login (SASL_SSL)"),
        ({"listeners": "nonsense"}, LOGIN, "nonsense is no listener"),
        ({"process.roles": "controller"}, LOGIN, "no listener of a broker is known"),
    ],
    ids=["no password", "Kerberos alone", "unreadable", "a controller alone"],
)
def test_a_cluster_that_is_not_asked_says_why(properties: dict[str, Any], login: Login, why: str) -> None:
    how = of_one(properties, login)
    assert why in how.why
    assert how.fix
    told = list(subject.contradictions(cluster({"kafka1": machine(node(1, properties=properties))}), how))
    assert [(finding.level, why in finding.what) for finding in told] == [(NOTE, True)]


def said(machines: dict[str, Any], told: dict[str, Any]) -> list[tuple[str, str]]:
    """Return level and text of what a cluster says otherwise."""
    known = cluster(machines)
    how = Question({"bootstrap_servers": ["kafka1:9092"], "security_protocol": "PLAINTEXT"})
    found = subject.contradictions(known, subject.answer(how, told, FEATURES))
    return [(finding.level, finding.what) for finding in found]


def test_what_machines_and_cluster_say_alike_is_no_finding() -> None:
    assert said(three(), info()) == []


def test_a_broker_without_a_machine_and_a_machine_without_a_registration_are_refused() -> None:
    told = info(brokers=(1, 2, 7))
    told["nodes"][2]["fenced"] = True
    assert said(three(), told) == [
        (
            REFUSE,
            "broker 7 at kafka7:9092, down or not ready, is in the metadata of the cluster and on no machine here",
        ),
        (REFUSE, "kafka3 (broker, controller, id 3, process 803) runs, and its cluster does not know it"),
    ]


def test_voters_are_the_controllers_of_machines() -> None:
    assert said(three(), info(voters=(1, 2, 9))) == [
        (REFUSE, "controller 9 votes, and no machine here runs it"),
        (NOTE, "kafka3 (broker, controller, id 3, process 803) is a controller, and does not vote"),
    ]


def test_another_cluster_that_answers_is_not_compared() -> None:
    assert said(three(), info(brokers=(9,), cluster_id="another")) == [
        (REFUSE, f"kafka1:9092 (PLAINTEXT) is cluster another, and its machines say {CLUSTER}")
    ]


def test_a_list_of_voters_without_effect_is_named() -> None:
    static = {"controller.quorum.voters": "1@kafka1:9093"}
    machines = {f"kafka{at}": machine(node(at, properties=static)) for at in (1, 2, 3)}
    ((level, what),) = said(machines, info())
    assert level == NOTE
    assert what.endswith(
        "has a dynamic quorum by kraft.version, so controller.quorum.voters of its nodes has no effect"
    )
    assert said(machines, info(features={"kraft.version": 0})) == []


def test_what_is_not_well_or_not_told_is_named() -> None:
    told = info(counts={"topics": 1, "partitions": 9, "under_replicated": 4, "offline": 2})
    told["quorum"] = {"leader_id": None, "voters": [], "observers": [], "error": "not authorized"}
    assert said(three(), told) == [
        (NOTE, f"cluster {CLUSTER}: who votes is not known: not authorized"),
        (NOTE, f"cluster {CLUSTER}: 2 partitions are without a leader"),
        (NOTE, f"cluster {CLUSTER}: 4 partitions are under-replicated"),
    ]
    told["quorum"] = {"leader_id": None, "voters": [{"id": 1}, {"id": 2}, {"id": 3}], "observers": [], "error": None}
    assert (REFUSE, f"cluster {CLUSTER}: its quorum has no leader") in said(three(), told)


def test_an_answer_is_one_line() -> None:
    how = Question({"bootstrap_servers": ["kafka1:9092"], "security_protocol": "PLAINTEXT"})
    told = subject.answer(how, info(quorum=None, features=None), {"failed": True})
    assert isinstance(told, Answer)
    assert subject.answer_line(told) == (
        "kafka1:9092 (PLAINTEXT): brokers 1, 2, 3; 12 topics with 140 partitions; 0 under-replicated, 0 offline"
    )


def test_a_cluster_that_does_not_answer_says_so() -> None:
    how = Question({"bootstrap_servers": ["kafka1:9092"], "security_protocol": "PLAINTEXT"})
    told = subject.answer(how, {"failed": True, "msg": "no broker\nanswers. Nothing was changed."}, {})
    assert isinstance(told, Question)
    assert told.why == "did not answer at kafka1:9092 (PLAINTEXT): no broker answers"

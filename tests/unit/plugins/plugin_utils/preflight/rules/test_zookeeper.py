"""What the preflight says about an ensemble and the brokers on it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.build import build_node
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import ZOOKEEPER, ensemble, expect, node


def test_a_good_inventory_has_nothing_wrong() -> None:
    assert check_inventory(ensemble()) == []
    assert check_inventory(ensemble(servers=5)) == []


def test_an_ensemble_may_stand_alone() -> None:
    assert check_inventory(ensemble(brokers=0)) == []


def test_a_directory_of_a_server_is_named_by_its_own_variable() -> None:
    inventory = ensemble(hosts={"zk2": {"zookeeper_data_log_dir": "txlog"}})
    expect(inventory, "bad_directory", "zk2: zookeeper_data_log_dir", "found: txlog")
    inventory = ensemble(hosts={"zk2": {"zookeeper_data_dir": "snapshots"}})
    expect(inventory, "bad_directory", "zk2: zookeeper_data_dir", "found: snapshots")


def test_a_server_keeps_snapshots_and_log_in_one_directory_and_two_servers_do_not() -> None:
    own = {"zookeeper_data_dir": "/zk", "zookeeper_data_log_dir": "/zk"}
    assert check_inventory(ensemble(hosts={"zk2": own})) == []
    both = {"zk1": {**own, "ansible_host": "10.0.1.2"}, "zk2": own}
    violations = check_inventory(ensemble(hosts=both))
    shared = [violation.hosts for violation in violations if violation.name == "shared_directory"]
    assert shared == [("zk1", "zk2")]


def test_a_server_needs_the_heap_that_java_needs() -> None:
    servers = {f"zk{number}": {"kafka_heap_size": 512} for number in (1, 2, 3)}
    expect(ensemble(hosts=servers), "heap_cannot_start", "zk1, zk2, zk3", "found: '512', which is bytes", "3m or more")


def test_servers_may_leave_that_are_there() -> None:
    assert check_inventory(ensemble(servers=5, zookeeper_leaving=["zk4", "zk5"])) == []


def test_servers_that_leave_may_be_text_with_commas() -> None:
    assert check_inventory(ensemble(servers=5, zookeeper_leaving="zk4, zk5")) == []
    found = ["zookeeper_leaving", "found: 'nosuch'"]
    expect(ensemble(servers=5, zookeeper_leaving="zk5,nosuch"), "unknown_leaving_server", *found)


@pytest.mark.parametrize("name", ["nosuch", "broker11", ""])
def test_who_is_no_server_cannot_leave(name: str) -> None:
    parts = ["zookeeper_leaving", f"found: '{name}', allowed: zk1, zk2, zk3, zk4, zk5"]
    expect(ensemble(servers=5, zookeeper_leaving=["zk5", name]), "unknown_leaving_server", *parts)


@pytest.mark.parametrize(
    ("inventory", "rule", "parts"),
    [
        (
            ensemble(hosts={"zk2": {"zookeeper_id": None}}),
            "bad_zookeeper_id",
            ["zk2: zookeeper_id", "found: nothing", "1 to 255"],
        ),
        (ensemble(hosts={"zk2": {"zookeeper_id": 0}}), "bad_zookeeper_id", ["found: '0'"]),
        (ensemble(hosts={"zk2": {"zookeeper_id": 256}}), "bad_zookeeper_id", ["found: '256'"]),
        (ensemble(hosts={"zk2": {"zookeeper_id": 3}}), "duplicate_zookeeper_id", ["zk2, zk3", "the same id"]),
        (
            ensemble(servers=4),
            "even_ensemble",
            ["needs 3 of 4 servers and survives the loss of 1", "an odd number from 3 on"],
        ),
        (ensemble(servers=2), "even_ensemble", ["needs 2 of 2 servers and survives the loss of 0"]),
        (ensemble(servers=1), "even_ensemble", ["needs 1 of 1 servers and survives the loss of 0"]),
        (ensemble(servers=0), "incomplete_cluster", ["has no host in group zookeeper"]),
        (
            ensemble(kafka_version="4.3.1"),
            "zookeeper_mode_without_support",
            ["this Kafka version cannot use ZooKeeper", "3.9.2"],
        ),
        (ensemble(hosts={"zk1": {"zookeeper_version": "3.8.4"}}), "unsupported_zookeeper_version", ["3.9.5, 3.8.6"]),
        (
            ensemble(zookeeper_ensemble_config={"server.1": "a:1:2"}),
            "managed_zookeeper_property",
            ["zookeeper_ensemble_config['server.1']", "the group zookeeper"],
        ),
        (ensemble(kafka_config={"zookeeper.connect": "zk1"}), "managed_property", ["zookeeper_chroot"]),
        (
            ensemble(hosts={"zk1": {"zookeeper_quorum_port": 2181}}),
            "port_twice_on_node",
            ["CLIENT and QUORUM have the same port"],
        ),
        (
            ensemble(hosts={"zk1": {"ansible_host": "10.0.1.2"}}),
            "port_twice_on_machine",
            ["zk1, zk2", "2181, 2888, 3888"],
        ),
    ],
)
def test_each_mistake_is_named_alone(inventory: Inventory, rule: str, parts: list[str]) -> None:
    expect(inventory, rule, *parts)


def test_in_development_an_even_ensemble_is_a_warning() -> None:
    expect(ensemble(servers=2, kafka_profile="development"), "even_ensemble", "survives the loss of 0", level="warning")


def test_more_than_seven_brokers_are_against_the_advice() -> None:
    expect(
        ensemble(brokers=8, preflight_accept=["known_vulnerabilities"], kafka_topics=[]),
        "many_brokers",
        "found: 8 brokers, allowed: at most 7",
        level="warning",
    )


def test_a_server_that_comes_or_goes_does_not_count() -> None:
    assert check_inventory(ensemble(servers=5, zookeeper_members=["zk1", "zk2", "zk3"])) == []


@pytest.mark.parametrize(
    ("changes", "name", "level", "words"),
    [
        ({"zookeeper_tls": True}, "half_secured_zookeeper", "error", "TLS without a login"),
        ({"zookeeper_password": "z0-long-and-random"}, "half_secured_zookeeper", "error", "a login without TLS"),
        ({"kafka_authorizer": True}, "unprotected_acls", "error", "any client may write the ACLs"),
        ({"kafka_mode": "kraft_isolated"}, "unused_ensemble", "warning", "do not use its ensemble"),
    ],
)
def test_an_ensemble_is_secured_as_a_whole_and_used(changes: dict[str, Any], name: str, level: str, words: str) -> None:
    found = [one for one in check_inventory(ensemble(**changes)) if one.name == name]
    assert [(one.level, words in one.sentence()) for one in found][:1] == [(level, True)]


@pytest.mark.parametrize(
    ("broker", "release", "words"),
    [
        (False, "3.9.2", None),
        (True, "3.9.2", "no combined nodes, during a migration to KRaft either"),
        (False, "3.9.1", "which this release has no part in"),
    ],
)
def test_mode_zookeeper_has_controllers_of_kraft_on_the_way_there_alone(
    broker: bool, release: str, words: str | None
) -> None:
    controller = node("controller1", 101, broker=broker, **{**ZOOKEEPER, "kafka_version": release})
    brokers = ensemble(kafka_version=release).nodes
    found = check_inventory(Inventory((controller, *brokers)))
    refused = [one for one in found if one.name == "zookeeper_mode_with_controllers"]
    assert [(one.level, words in one.sentence()) for one in refused if words] == ([("error", True)] if words else [])
    assert bool(refused) is bool(words)


SECURED: dict[str, Any] = {
    "kafka_version": "3.9.2",
    "zookeeper_tls": True,
    "zookeeper_user": "kafka",
    "zookeeper_password": "z0-long-and-random",
    "zookeeper_chroot": "/blue",
}


def disagreeing(hosts: dict[str, Any], **controller: Any) -> list[str]:
    """Return what is said of a secured cluster that migrates; hosts -- what some differ in, as the controller may."""
    nodes = ensemble(hosts=hosts, **SECURED).nodes
    comes = node("controller1", 101, broker=False, **{**ZOOKEEPER, **SECURED, **controller})
    checked = check_inventory(Inventory((comes, *nodes)))
    return [problem.sentence() for problem in checked if problem.name == "zookeeper_sessions_disagree"]


@pytest.mark.parametrize(
    ("hosts", "controller"),
    [
        ({}, {}),
        ({}, {"zookeeper_chroot": "blue/"}),
        ({}, {"zookeeper_tls": "yes"}),
        # A server serves every path.
        ({"zk2": {"zookeeper_chroot": "/other"}}, {}),
    ],
)
def test_who_reaches_zookeeper_as_all_others_do_is_in_order(hosts: dict[str, Any], controller: dict[str, Any]) -> None:
    assert disagreeing(hosts, **controller) == []


@pytest.mark.parametrize(
    ("hosts", "controller", "who"),
    [
        # The variables stand in the group_vars of the brokers and of the servers alone.
        ({}, {"zookeeper_password": "", "zookeeper_tls": False}, "controller1"),
        ({}, {"zookeeper_user": "controllers"}, "controller1"),
        ({}, {"zookeeper_chroot": "/"}, "controller1"),
        ({"broker12": {"zookeeper_password": "an0ther-z0-long"}}, {}, "broker12"),
        ({"zk2": {"zookeeper_user": "servers"}}, {}, "zk2"),
    ],
)
def test_who_reaches_zookeeper_in_another_way_is_named_and_no_password_is(
    hosts: dict[str, Any], controller: dict[str, Any], who: str
) -> None:
    sentences = disagreeing(hosts, **controller)
    assert sentences
    assert all(f"found: another value on {who} than on broker11" in sentence for sentence in sentences)
    assert "z0-long" not in " ".join(sentences)


def test_a_controller_without_the_login_of_the_brokers_is_half_secured() -> None:
    nodes = ensemble(**SECURED).nodes
    comes = node("controller1", 101, broker=False, **{**ZOOKEEPER, **SECURED, "zookeeper_password": ""})
    names = [problem.name for problem in check_inventory(Inventory((comes, *nodes)))]
    assert "half_secured_zookeeper" in names


def test_a_host_is_one_process() -> None:
    good = ensemble()
    both = build_node(
        "zk1", controller=False, broker=True, zookeeper=True, undefined={},
        variables={**good.nodes[3].variables, "kafka_node_id": 14},
    )  # fmt: skip
    found = check_inventory(Inventory((*good.nodes[:3], both, *good.nodes[4:])))
    assert ("zookeeper_and_kafka_on_one_host", ("zk1",)) in [(one.name, one.hosts) for one in found]

"""A node is taken over where it is the one that the inventory describes, and its service can be stopped and started."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.guards.take_over import Wanted, take_over
from tests.unit.plugins.plugin_utils.adopt.machines import CLUSTER, machine, node

UNIT = {
    "manager": "systemd",
    "name": "kafka.service",
    "scope": "",
    "enabled": "enabled",
    "control": "/etc/systemd/system/kafka.service",
    "files": ["/etc/systemd/system/kafka.service"],
}
WANTED = Wanted(
    host="kafka1",
    product="kafka",
    node_id=1,
    roles=("controller", "broker"),
    version="4.3.1",
    cluster_id=CLUSTER,
    user="kafka",
    data=["/var/lib/kafka"],
    own=["/etc/streamops-kafka/kafka1", "/etc/systemd/system/kafka-kafka1.service"],
)


def old(number: int = 1, service: dict[str, Any] | None = None, **other: Any) -> dict[str, Any]:
    """Return a node that a unit runs; C(service) and the others count before that."""
    known = {
        "main_class": "kafka.Kafka",
        "properties_file": "/opt/kafka/config/server.properties",
        "logs_dir": "/opt/kafka/logs",
        "service": {**UNIT, **(service or {})},
    }
    return node(number, **{**known, **other})


def refusals(*processes: dict[str, Any], wanted: Wanted = WANTED, is_known: bool = False) -> str:
    """Return why a node is not taken over, in one text."""
    result = take_over(machine(*processes), wanted, is_known)
    assert not (result.claim and result.findings)
    return " ".join(str(finding) for finding in result.findings)


def test_the_node_of_the_inventory_is_claimed_with_all_that_starts_it_again() -> None:
    result = take_over(machine(old(2), old(1)), WANTED, is_known=False)
    assert result.findings == ()
    assert result.claim == {
        "manager": "systemd",
        "name": "kafka.service",
        "enabled": True,
        "control": "/etc/systemd/system/kafka.service",
        "main_class": "kafka.Kafka",
        "properties_file": "/opt/kafka/config/server.properties",
        "release_dir": "",
        "version": "4.3.1",
        "user": "kafka",
        "logs_dir": "/opt/kafka/logs",
        "pid": 801,
    }


@pytest.mark.parametrize(("state", "enabled"), [("enabled", True), ("disabled", False), ("linked", False)])
def test_whether_it_starts_at_boot_is_kept(state: str, enabled: bool) -> None:
    assert take_over(machine(old(service={"enabled": state})), WANTED, is_known=False).claim["enabled"] is enabled


@pytest.mark.parametrize(
    ("service", "why"),
    [
        ({"manager": "container", "name": "docker 3f2a91"}, "docker 3f2a91, which this collection cannot stop"),
        ({"manager": "other", "name": "runsv"}, "run by other runsv"),
        ({"scope": "user"}, "of a user's own systemd"),
        ({"enabled": "static"}, "it is not known what starts it at boot"),
        ({"enabled": ""}, "is in an unknown state"),
        ({"manager": "supervisor", "name": "kafka", "enabled": "enabled"}, "set autostart=false in /etc/systemd"),
        ({"manager": "supervisor", "name": "", "enabled": "disabled"}, "its program, or the file of its supervisord"),
    ],
)
def test_a_service_that_cannot_be_kept_from_starting_it_is_refused(service: dict[str, Any], why: str) -> None:
    assert why in refusals(old(service=service))


@pytest.mark.parametrize("service", [{"manager": "none", "name": "", "enabled": "", "control": "", "files": []},
                                     {"manager": "supervisor", "name": "kafka", "enabled": "disabled"}])  # fmt: skip
def test_other_managers_that_can_are_taken(service: dict[str, Any]) -> None:
    assert refusals(old(service=service)) == ""


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"version": "4.4.0"}, "its release by the inventory: apache 4.4.0; what runs: apache 4.3.1"),
        ({"cluster_id": "other"}, f"its cluster id by the inventory: other; what runs: {CLUSTER}"),
        ({"user": "root"}, "its user by the inventory: root; what runs: kafka"),
        (
            {"data": ["/var/lib/kafka", "/b"]},
            "its directories of data by the inventory: /b, /var/lib/kafka; what runs: /var/lib/kafka",
        ),
        ({"roles": ("broker",)}, "its roles by the inventory: broker; what runs: broker, controller"),
        ({"own": ["/opt/kafka/config"]}, "stands where this collection would write"),
        ({"node_id": 9}, "no node with id 9 runs on kafka1"),
        ({"product": "zookeeper"}, "this release takes over brokers and controllers alone"),
        ({"product": "mirror"}, "this release takes over brokers and controllers alone"),
    ],
)
def test_an_inventory_that_describes_another_node_is_refused(change: dict[str, Any], why: str) -> None:
    assert why in refusals(old(), wanted=replace(WANTED, **change))


@pytest.mark.parametrize("path", ["/tmp/kraft-combined-logs", "/home/kafka/data", "/var/tmp/x/../kafka"])
def test_data_that_our_unit_would_not_see_is_refused(path: str) -> None:
    hidden = old(dirs=[{"path": path, "meta_properties": {"cluster.id": CLUSTER, "node.id": "1"}}])
    assert "which a unit of this collection does not see" in refusals(hidden, wanted=replace(WANTED, data=[path]))
    # Where supervisord starts ours, it sees them.
    assert refusals(hidden, wanted=replace(WANTED, data=[path], user="")) == ""


def test_what_the_inventory_leaves_open_is_not_compared() -> None:
    assert refusals(old(), wanted=replace(WANTED, user="", cluster_id="")) == ""
    assert refusals(old(), wanted=replace(WANTED, data=["/var/lib/kafka/"])) == ""


def test_a_broker_of_zookeeper_mode_is_refused() -> None:
    assert "what runs: those of ZooKeeper mode" in refusals(old(properties={"process.roles": None}))


def test_a_node_that_is_ours_already_and_one_whose_take_over_was_cut_need_nothing() -> None:
    ours = old(ours={"product": "kafka", "node_id": "1", "cluster": "c"})
    for processes, is_known in (((ours,), False), ((), True)):
        result = take_over(machine(*processes), WANTED, is_known)
        assert (result.claim, result.findings) == ({}, ())


def test_two_with_one_id_and_a_silent_machine_are_refused() -> None:
    assert "several nodes with id 1 run on kafka1 (processes 801, 5)" in refusals(old(), old(pid=5))
    silent = take_over({"unreachable": True, "msg": "no route"}, WANTED, is_known=True)
    assert "kafka1 was not looked at: no route" in str(silent.findings[0])

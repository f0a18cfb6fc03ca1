# SPDX-License-Identifier: GPL-3.0-or-later
"""For how long a node is looked at before it is whole, and what of that an earlier wait has done."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.node_view import (
    FRESH,
    settled_since,
    steady_seconds,
)
from tests.support.inventory_data import view
from tests.unit.plugins.plugin_utils.adopt.machines import machine, node, server


@pytest.mark.parametrize(
    ("properties", "mode", "seconds"),
    [
        ({}, "kraft_combined", 10.0),
        ({"broker.session.timeout.ms": "6000"}, "kraft_isolated", 7.0),
        ({"broker.session.timeout.ms": 120000}, "kraft_combined", 121.0),
        # Kafka takes a heartbeat that comes after the session has ended.
        ({"broker.heartbeat.interval.ms": 20000}, "kraft_combined", 21.0),
        ({"broker.session.timeout.ms": "{{ no number }}"}, "kraft_combined", 10.0),
        ({}, "zookeeper", 19.0),
        ({"zookeeper.session.timeout.ms": "30000", "broker.session.timeout.ms": 60000}, "zookeeper", 31.0),
    ],
)
def test_a_node_is_looked_at_for_longer_than_its_session(properties: dict[str, Any], mode: str, seconds: float) -> None:
    assert steady_seconds(properties, on_zookeeper=mode == "zookeeper") == seconds


def test_the_last_wait_tells_since_when_the_cluster_is_well() -> None:
    first = {"settled_since": 100.0, "settled_until": 120.0}
    last = {"settled_since": 130.0, "settled_until": 140.0}
    assert settled_since([first, {}, last], 141.0) == 130.0
    assert settled_since([first, {**last, "settled_since": 0.0}], 141.0) == 100.0


def test_what_was_seen_long_ago_says_nothing_of_now() -> None:
    seen = {"settled_since": 100.0, "settled_until": 120.0}
    assert settled_since([seen], 120.0 + FRESH) == 100.0
    assert settled_since([seen], 121.0 + FRESH) == 0.0
    assert settled_since([], 1.0) == 0.0


SETTINGS: dict[str, Any] = {
    "kafka_service_manager": "systemd",
    "kafka_user": "kafka",
    "kafka_version": "4.3.1",
    "kafka_mode": "kraft_combined",
    "kafka_log_dirs": ["/var/lib/kafka"],
    "kafka_config_dir": "/etc/streamops-kafka",
}


def taken(*processes: dict[str, Any], **variables: Any) -> Any:
    """Return the model of a node with id 1 in a run that takes nodes over, where these processes run."""
    hosts = {"kafka1": {"kafka_node_id": 1, "__common_adoption": machine(*processes)}}
    return view(hosts, brokers=["kafka1"], controllers=["kafka1"], host="kafka1", **{**SETTINGS, **variables})


def old(**other: Any) -> dict[str, Any]:
    """Return the node as its unit runs it."""
    unit = {"manager": "systemd", "name": "kafka.service", "enabled": "enabled", "control": "/k.service", "files": []}
    told = {"main_class": "kafka.Kafka", "properties_file": "/opt/s.properties", "logs_dir": "/opt/logs"}
    return node(1, **{**told, "service": unit, **other})


def test_a_node_of_others_is_claimed_as_its_inventory_describes_it() -> None:
    model = taken(old())
    assert model["take_over"]["refusals"] == []
    assert (model["take_over"]["claim"]["name"], model["take_over"]["claim"]["enabled"]) == ("kafka.service", True)
    other = taken(old(), kafka_version="4.1.2", kafka_user="root", kafka_log_dirs=["/b"])["take_over"]
    assert other["claim"] == {}
    assert [line.partition(" by the inventory")[0] for line in other["refusals"]] == [
        "kafka1: its release",
        "kafka1: its directories of data",
        "kafka1: its user",
    ]
    in_the_way = taken(old(properties_file="/etc/streamops-kafka/kafka1/server.properties"))["take_over"]
    assert "stands where this collection would write" in " ".join(in_the_way["refusals"])


def test_only_check_mode_and_the_checks_before_look_with_what_would_be_written() -> None:
    model = taken(old())
    assert model["look"]["adopted_file"] == "/etc/streamops-kafka/kafka1/adopted.json"
    assert "claim" not in model["look"]
    assert taken(old(), ansible_check_mode=True)["look"]["claim"] == model["take_over"]["claim"]
    assert taken(old(), _common_foresees_claim=True)["look"]["claim"] == model["take_over"]["claim"]
    assert "claim" not in taken(old(), ansible_check_mode=True, kafka_version="4.1.2")["look"]
    hosts = {"kafka1": {"kafka_node_id": 1}}
    alone = view(hosts, brokers=["kafka1"], controllers=["kafka1"], ansible_check_mode=True, **SETTINGS)
    assert "claim" not in alone["look"]


def test_a_server_of_zookeeper_is_claimed_as_its_inventory_describes_it() -> None:
    unit = {"manager": "systemd", "name": "zookeeper.service", "enabled": "enabled", "control": "", "files": []}
    main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
    told = {**server(1), "service": unit, "main_class": main, "properties_file": "/opt/zoo.cfg", "logs_dir": ""}
    hosts = {f"zk{number}": {"zookeeper_id": number} for number in (1, 2, 3)}
    hosts["zk1"]["__common_adoption"] = machine(told)
    said = {
        **SETTINGS,
        "kafka_mode": "zookeeper",
        "kafka_user": "zookeeper",
        "zookeeper_version": "3.8.6",
        "zookeeper_data_dir": "/var/lib/zookeeper",
        "zookeeper_data_log_dir": "/var/lib/zookeeper",
    }
    taken_over = view(hosts, zookeepers=list(hosts), host="zk1", **said)["take_over"]
    assert taken_over["refusals"] == []
    assert taken_over["claim"]["name"] == "zookeeper.service"
    other = view(hosts, zookeepers=list(hosts), host="zk1", **{**said, "zookeeper_version": "3.9.5"})["take_over"]
    assert [line.partition(" by the inventory")[0] for line in other["refusals"]] == ["zk1: its release"]

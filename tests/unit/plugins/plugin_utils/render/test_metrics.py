# SPDX-License-Identifier: GPL-3.0-or-later
"""The Prometheus agent of a node: its argument, its configuration, its login, and who the firewall lets to its port."""

from __future__ import annotations

import hashlib
import re
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render import firewall, metrics
from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import DataReader, view

LISTENERS = [
    {"name": "CLIENT", "port": 9092, "purpose": "clients"},
    {"name": "CONTROLLER", "port": 9093, "purpose": "controllers"},
]
ON = {"kafka_metrics_enabled": True, "kafka_listeners": LISTENERS, "kafka_install_dir": "/opt/kafka"}


def seen(group: str = "brokers", **variables: Any) -> View:
    groups: dict[str, Any] = {group: ["a"]}
    own = {
        "ansible_host": "10.0.0.1",
        "kafka_node_id": 1,
        "zookeeper_id": 1,
        "kafka_log_dirs": ["/d"],
        **ON,
        **variables,
    }
    return view({"a": own}, **groups)


def agents(model: View) -> list[str]:
    return [one for one in model["jvm_arguments"] if "javaagent" in one]


def test_without_metrics_there_is_no_agent_and_no_port() -> None:
    model = seen(kafka_metrics_enabled=False)
    assert agents(model) == []
    assert (model["metrics"], model["node"]["metrics"]) == ({}, None)


@pytest.mark.parametrize("group", ["brokers", "controllers", "zookeepers", "mirrors"])
def test_every_kind_of_node_loads_the_pinned_agent_at_its_own_address(group: str) -> None:
    (found,) = agents(seen(group))
    jar = "/opt/kafka/agents/jmx_prometheus_javaagent-7d61f737fd66.jar"
    assert found == f"-javaagent:{jar}=10.0.0.1:9404:/etc/kafka/a/metrics.yml"


@pytest.mark.parametrize(
    ("variables", "word"),
    [
        ({"kafka_metrics_host": "fd00::2"}, "=[fd00::2]:9404:"),
        ({"kafka_metrics_host": "127.0.0.1", "kafka_metrics_port": 9500}, "=127.0.0.1:9500:"),
        ({"kafka_install_dir": "/opt/my kafka"}, '"-javaagent:/opt/my kafka/agents/'),
        (
            {"kafka_metrics_agent_src": "/srv/agent.jar", "kafka_metrics_agent_sha256": "AB" * 32},
            "agent-abababababab.jar=",
        ),
    ],
)
def test_port_address_and_jar_are_in_the_argument_so_that_another_is_a_reason_to_restart(
    variables: dict[str, Any], word: str
) -> None:
    (found,) = agents(seen(**variables))
    assert word in found


def test_an_own_option_of_java_comes_behind_the_agent() -> None:
    arguments = seen(kafka_jvm_options=["-Dmine=1"])["jvm_arguments"]
    assert [one for one in arguments if "javaagent" in one or "mine" in one][-1] == "-Dmine=1"


def test_a_given_jar_is_a_url_whatever_it_is_written_as() -> None:
    given = {"kafka_metrics_agent_sha256": "a" * 64}
    assert seen(kafka_metrics_agent_src="/srv/a.jar", **given)["metrics"]["agent"]["url"] == "file:///srv/a.jar"
    assert seen(kafka_metrics_agent_src="https://x/a.jar", **given)["metrics"]["agent"]["url"] == "https://x/a.jar"
    assert seen()["metrics"]["agent"]["src"] == ""


def test_the_salt_is_stable_for_host_and_user_and_differs_between_them() -> None:
    assert metrics.salt("a", "u") == metrics.salt("a", "u")
    assert len({metrics.salt(host, user) for host in "ab" for user in "uv"}) == 4


def test_the_login_is_a_digest_of_32_bytes_and_holds_no_password() -> None:
    found = metrics.login("a", "u", "pässword")
    assert (found["algorithm"], found["iterations"], found["keyLength"]) == ("PBKDF2WithHmacSHA256", 600_000, 32)
    again = hashlib.pbkdf2_hmac("sha256", "pässword".encode(), found["salt"].encode(), 600_000)
    assert found["passwordHash"] == again.hex()
    assert "pässword" not in str(found)


def test_a_password_closes_the_port_and_certificates_encrypt_it() -> None:
    assert seen()["metrics"]["access"] == {}
    assert "httpServer" not in seen()["metrics"]["configuration"]
    settings = {"kafka_metrics_user": "u", "kafka_metrics_password": "p"}
    found = metrics.access("a", settings, {"path": "/c/k.p12", "password": "s"})
    assert found["ssl"]["keyStore"] == {"filename": "/c/k.p12", "type": "PKCS12", "password": "s"}
    assert found["authentication"]["basic"]["username"] == "u"
    model = seen(kafka_metrics_password="p")
    assert model["metrics"]["configuration"]["httpServer"] == model["metrics"]["access"]


@pytest.mark.parametrize("kind", ["kafka", "zookeeper", "mirror"])
def test_the_table_reads_nothing_by_topic_and_its_patterns_are_regular_expressions(kind: str) -> None:
    table = metrics.table()[kind]
    assert not [name for name in table["names"] if name in ("*:*", "kafka.*:*") or "topic=" in name]
    for rule in table["rules"]:
        groups = re.compile(rule["pattern"]).groups
        used = re.findall(r"\$(\d+)", f"{rule['name']} {rule.get('labels', {})}")
        assert max(map(int, used), default=0) <= groups, rule
        assert rule["pattern"] == " ".join(rule["pattern"].split()), rule
        # The agent drops the ending of what is no counter.
        assert rule["name"].endswith("_total") <= (rule.get("type") == "COUNTER"), rule


@pytest.mark.parametrize(
    ("kind", "bean", "name"),
    [
        ("kafka", "kafka.server<type=ReplicaManager, name=IsrShrinksPerSec><>Count: 1", "kafka_$1_$2_$3_total"),
        ("kafka", "kafka.server<type=raft-metrics><>current-epoch: 7", "kafka_$1_$2_$3"),
        (
            "zookeeper",
            "org.apache.ZooKeeperService<name0=StandaloneServer_port-1><>AvgRequestLatency: 0.1",
            "zookeeper_$1",
        ),
        (
            "zookeeper",
            "org.apache.ZooKeeperService<name0=ReplicatedServer_id1, name1=replica.1, name2=Follower><>"
            "OutstandingRequests: 0",
            "zookeeper_$2",
        ),
        (
            "mirror",
            "kafka.connect<type=connector-task-metrics, connector=MirrorSourceConnector, task=0><>status: running",
            "kafka_connect_connector_task_status",
        ),
    ],
)
def test_the_first_rule_that_fits_gives_the_name(kind: str, bean: str, name: str) -> None:
    fitting = [rule["name"] for rule in metrics.table()[kind]["rules"] if re.search(rule["pattern"], bean)]
    assert fitting[0] == name


def rules_of(groups: dict[str, list[str]], **variables: Any) -> dict[int, list[str]]:
    own = {"ansible_host": "10.0.0.1", "kafka_firewall": True, **ON, **variables}
    hosts = {"a": own, "prometheus1": {"ansible_host": "10.0.0.9"}, "other": {"ansible_host": "10.0.0.8"}}
    reader = DataReader(hosts, {"kafka_brokers": ["a"], **groups})
    return {one["port"]: one["sources"] for one in firewall.rules(View(reader)["places"], "a", {})}


def test_the_firewall_lets_prometheus_to_the_metrics_and_to_nothing_else() -> None:
    found = rules_of({"prometheus": ["prometheus1"], "applications": ["other"]})
    assert found[9404] == ["10.0.0.9"]
    assert "10.0.0.9" not in found[9092]


def test_the_group_has_another_name_and_networks_are_let_in_too() -> None:
    networks = {"metrics": ["10.7.0.0/16"]}
    found = rules_of(
        {"watchers": ["other"]}, kafka_metrics_client_groups=["watchers"], kafka_firewall_networks=networks
    )
    assert found[9404] == ["10.0.0.8", "10.7.0.0/16"]


def test_without_metrics_the_firewall_has_no_rule_of_them() -> None:
    assert 9404 not in rules_of({"prometheus": ["prometheus1"]}, kafka_metrics_enabled=False)

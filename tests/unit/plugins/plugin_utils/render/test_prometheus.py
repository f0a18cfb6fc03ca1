# SPDX-License-Identifier: GPL-3.0-or-later
"""What Prometheus and Alertmanager of a host are configured and started with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import DataReader

CLIENT = {"name": "CLIENT", "port": 9092, "purpose": "clients", "protocol": "PLAINTEXT"}
NODE = {
    "ansible_host": "10.0.0.1",
    "kafka_node_id": 1,
    "kafka_cluster_name": "orders",
    "kafka_metrics_enabled": True,
    "kafka_metrics_user": "reader",
    "kafka_metrics_password": "of-the-metrics",
    "kafka_listeners": [CLIENT],
}
HOST = {
    "kafka_monitoring_config_dir": "/etc/prometheus/own",
    "kafka_monitoring_data_dir": "/data",
    "kafka_monitoring_route": {"receiver": "none"},
}


def prometheus(nodes: dict[str, dict[str, Any]] | None = None, pages: Any = None, **own: Any) -> Any:
    """The part of the model of a host beside one broker, or beside these nodes and pages."""
    brokers, beside = nodes or {"b1": NODE}, pages or {}
    hosts = {**brokers, **beside, "prom1": {**HOST, **own}}
    groups = {"kafka_brokers": list(brokers), "kafka_page": list(beside), "prometheus": ["prom1"]}
    return View(DataReader(hosts, groups, "prom1"))["prometheus"]


def texts(found: Any, kind: str) -> dict[str, str]:
    """The content of the files of a kind, by their names below the directory."""
    return {one["path"].removeprefix("/etc/prometheus/own/"): one["content"] for one in found["written"][kind]}


def test_passwords_are_in_files_of_their_own_that_only_the_service_reads() -> None:
    found = prometheus()
    (secret,) = [one for one in found["written"]["secret_files"] if "/secrets/" in one["path"]]
    assert (secret["path"], secret["content"]) == ("/etc/prometheus/own/secrets/orders-password", "of-the-metrics")
    assert (secret["mode"], secret["owner"], secret["group"]) == ("0600", "prometheus", "prometheus")
    configuration = yaml.safe_load(texts(found, "files")["prometheus.yml"])
    read, *watchers = configuration["scrape_configs"]
    assert read["basic_auth"] == {"username": "reader", "password_file": "secrets/orders-password"}
    assert "of-the-metrics" not in str(configuration)
    assert [one["static_configs"][0]["labels"]["job"] for one in watchers] == ["alertmanager", "prometheus"]


def test_nodes_of_a_cluster_share_a_password_file_unless_theirs_differ() -> None:
    nodes = {f"b{n}": {**NODE, "kafka_node_id": n, "ansible_host": f"10.0.0.{n}"} for n in (1, 2, 3)}
    nodes["b3"]["kafka_metrics_password"] = "of-b3"
    secrets = texts(prometheus(nodes), "secret_files")
    assert secrets["secrets/orders-password"] == "of-the-metrics"
    assert secrets["secrets/orders-b3-password"] == "of-b3"
    assert "secrets/orders-b2-password" not in secrets


def test_the_ca_of_a_cluster_is_copied(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("the CA")
    secured = {**NODE, "kafka_tls_source": "files", "kafka_tls_ca_file": str(ca)}
    found = prometheus({"b1": secured})
    assert texts(found, "files")["trust/orders-ca.pem"] == "the CA"
    assert found["configuration"]["scrape_configs"][0]["tls_config"] == {"ca_file": "trust/orders-ca.pem"}
    ca.unlink()
    with pytest.raises(ValueError, match=r"ca\.pem on the control node cannot be read .*run site\.yml"):
        prometheus({"b1": secured})["configuration"]


def test_a_prometheus_behind_a_login_does_not_read_itself() -> None:
    found = prometheus(kafka_monitoring_web_config={"basic_auth_users": {"admin": "digest"}})["configuration"]
    assert [one["job_name"] for one in found["scrape_configs"][1:]] == ["streamops-alertmanager"]


def test_a_page_is_read_with_the_password_that_it_was_given(tmp_path: Path) -> None:
    ca = tmp_path / "ca.pem"
    ca.write_text("the CA")
    page = {"ansible_host": "10.0.0.9", "kafka_page_host": "10.0.0.9", "kafka_tls_ca_file": str(ca)}
    known = {**page, "kafka_page_users": {"prometheus": "of-the-page"}}
    assert texts(prometheus(pages={"p1": known}), "secret_files")["secrets/page-password"] == "of-the-page"
    with pytest.raises(ValueError, match="the page on p1 is read as user prometheus, whose password is not known"):
        prometheus(pages={"p1": page})["configuration"]


def test_scrape_configurations_of_the_user_are_added_and_never_shown() -> None:
    own = {"job_name": "own", "static_configs": []}
    found = prometheus(kafka_monitoring_scrape_configs=[own], kafka_monitoring_rule_files=["/etc/own/*.yml"])
    assert "prometheus.yml" not in texts(found, "files")
    configuration = yaml.safe_load(texts(found, "secret_files")["prometheus.yml"])
    assert configuration["scrape_configs"][-1] == own
    assert configuration["rule_files"] == ["rules/streamops-kafka.yml", "/etc/own/*.yml"]


def test_a_critical_alert_mutes_the_warnings_that_it_causes_and_no_others() -> None:
    rules = {rule["source_matchers"][0]: rule for rule in prometheus()["alertmanager"]["inhibit_rules"]}
    stopped = rules['alertname="KafkaGroupStopped"']
    assert stopped["target_matchers"] == ['alertname=~"KafkaGroupFallsBehind|KafkaGroupLate"', 'severity="warning"']
    assert stopped["equal"] == ["cluster", "consumergroup", "topic"]
    assert all(rule["equal"] and len(rule["target_matchers"]) == 2 for rule in rules.values())


@pytest.mark.parametrize(("choices", "is_on"), [({}, True), ({"KafkaWatchdog": {"enabled": False}}, False)])
def test_the_watchdog_is_on_and_bothers_nobody(choices: dict[str, Any], is_on: bool) -> None:
    made = prometheus({"b1": {**NODE, "kafka_monitoring_alerts": choices}}, kafka_monitoring_alerts=choices)
    assert ("alert: KafkaWatchdog" in texts(made, "files")["rules/streamops-kafka.yml"]) == is_on
    route = made["alertmanager"]["route"]
    assert (route["receiver"], route["routes"][0]["matchers"]) == ("none", ['severity="none"'])
    (nobody,) = [one for one in made["alertmanager"]["receivers"] if one["name"] == route["routes"][0]["receiver"]]
    assert list(nobody) == ["name"], "it has no target"


def test_both_listen_on_loopback_and_alertmanager_always() -> None:
    server, manager = prometheus()["services"]
    assert "--web.listen-address=127.0.0.1:9090" in server["command"]
    assert (server["url"], manager["url"]) == ("http://127.0.0.1:9090", "http://127.0.0.1:9093")
    assert not [word for word in server["command"] if word.startswith("--web.config.file")]
    web = {"tls_server_config": {"cert_file": "/c", "key_file": "/k"}, "basic_auth_users": {"u": "x"}}
    server, manager = prometheus(kafka_monitoring_host="::", kafka_monitoring_web_config=web)["services"]
    assert "--web.listen-address=[::]:9090" in server["command"]
    assert "--web.config.file=/etc/prometheus/own/web.yml" in server["command"]
    assert server["url"] == "https://[::1]:9090"
    assert "--web.listen-address=127.0.0.1:9093" in manager["command"]
    assert "--cluster.listen-address=" in manager["command"]


def records(**own: Any) -> list[str]:
    return [one["content"] for service in prometheus(**own)["services"] for one in service["records"]]


@pytest.mark.parametrize(
    ("own", "differ"),
    [
        ({"kafka_monitoring_retention": "7d"}, [True, False, False, False]),
        ({"kafka_monitoring_scrape_interval": 9}, [False, True, False, False]),
        ({"kafka_monitoring_receivers": [{"name": "none"}, {"name": "b"}]}, [False, False, False, True]),
        ({"kafka_monitoring_alertmanager_port": 9999}, [False, True, True, False]),
    ],
)
def test_the_records_tell_a_restart_from_a_reload_of_either(own: dict[str, Any], differ: list[bool]) -> None:
    assert [one != other for one, other in zip(records(), records(**own), strict=True)] == differ


def test_the_program_of_alertmanager_has_either_name() -> None:
    def found(*names: str) -> Any:
        return prometheus(__kafka_monitoring_programs={"files": [{"path": f"/usr/bin/{name}"} for name in names]})

    other = found("prometheus", "alertmanager", "promtool")
    assert other["services"][1]["command"][0] == "/usr/bin/alertmanager"
    assert other["missing"] == ["amtool"]
    assert found()["services"][1]["command"][0] == "/usr/bin/prometheus-alertmanager"


def test_the_candidate_has_the_same_content_elsewhere() -> None:
    found = prometheus()
    for kind in ("files", "secret_files"):
        moved = [one["path"].replace("/own/candidate/", "/own/") for one in found["candidate"][kind]]
        assert moved == [one["path"] for one in found["written"][kind]]
        assert [one["content"] for one in found["candidate"][kind]] == [
            one["content"] for one in found["written"][kind]
        ]
    assert [one["argv"][0] for one in found["checks"]] == ["promtool", "amtool"]


def test_targets_that_could_not_be_looked_at_are_said_so() -> None:
    asked = prometheus(__kafka_monitoring_targets={"status": 401, "msg": "HTTP Error 401"})["answers"]
    assert asked == "The targets were not looked at: Prometheus asks for a login, which this run does not have."
    failed = prometheus(__kafka_monitoring_targets={"status": -1, "msg": "timed out"})["answers"]
    assert failed == "The targets were not looked at: timed out."

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a Prometheus must know of the hosts of an inventory."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.view import View
from tests.support.inventory_data import DataReader

CLIENT = {"name": "CLIENT", "port": 9092, "purpose": "clients", "protocol": "SSL"}
NODE = {
    "ansible_host": "10.0.0.1",
    "kafka_node_id": 1,
    "kafka_cluster_name": "orders",
    "kafka_metrics_enabled": True,
    "kafka_listeners": [CLIENT],
    "kafka_monitoring_ca_file": "/ca",
    "kafka_monitoring_password_file": "/password",
}


def monitoring(hosts: dict[str, dict[str, Any]] | None = None, page: str = "", **variables: Any) -> Any:
    """The part of the model of one broker, or of these hosts."""
    known = hosts or {"b1": {**NODE, **variables}}
    brokers = [name for name in known if name != page]
    groups = {"kafka_brokers": brokers, "kafka_page": [page] if page else []}
    return View(DataReader(known, groups))["monitoring"]


def target(**variables: Any) -> dict[str, Any]:
    (found,) = monitoring(**variables)["targets"]
    return dict(found)


def test_a_node_is_read_where_its_metrics_are_bound_as_its_agent_asks_for() -> None:
    assert target(kafka_tls_source="files", kafka_metrics_password="secret", kafka_metrics_user="u") == {
        "job": "kafka",
        "node": "b1",
        "cluster": "orders",
        "node_id": 1,
        "address": "10.0.0.1:9404",
        "tls": True,
        "user": "u",
        "ca_file": "/ca",
        "password_file": "/password",
    }
    assert (target()["tls"], target()["user"]) == (False, "")
    assert target(kafka_metrics_enabled=False)["address"] == ""


@pytest.mark.parametrize(
    ("variables", "address"),
    [
        ({"kafka_metrics_host": "10.9.9.9"}, "10.9.9.9:9404"),
        ({"kafka_metrics_host": "0.0.0.0"}, "10.0.0.1:9404"),
        ({"ansible_host": "fd00::1"}, "[fd00::1]:9404"),
        ({"kafka_metrics_host": "127.0.0.1", "kafka_monitoring_address": "localhost"}, "localhost:9404"),
        ({"kafka_metrics_host": "127.0.0.1", "ansible_host": "127.0.0.1"}, "127.0.0.1:9404"),
    ],
)
def test_the_address_is_the_one_that_prometheus_reaches(variables: dict[str, Any], address: str) -> None:
    assert target(**variables)["address"] == address


def test_metrics_on_the_loopback_of_another_machine_are_refused() -> None:
    with pytest.raises(ValueError, match=r"kafka_metrics_host of b1 is 127\.0\.0\.1, which no Prometheus reaches"):
        target(kafka_metrics_host="127.0.0.1")


@pytest.mark.parametrize(("address", "secured"), [("10.0.0.9", True), ("127.0.0.1", False)])
def test_a_page_that_others_reach_has_tls_and_a_login(address: str, secured: bool) -> None:
    hosts = {"b1": NODE, "p1": {"ansible_host": address, "kafka_page_host": address}}
    page = monitoring(hosts, page="p1")["targets"][1]
    assert (page["job"], page["address"]) == ("page", f"{address}:9406")
    assert (page["tls"], page["user"]) == (secured, "prometheus" if secured else "")


def test_a_page_is_read_as_its_variables_say() -> None:
    own = {"ansible_host": "10.0.0.9", "kafka_page_host": "0.0.0.0", "kafka_page_port": 9500}
    page = monitoring({"b1": NODE, "p1": {**own, "kafka_page_users": {"scraper": "x"}}}, page="p1")["targets"][1]
    assert (page["address"], page["tls"], page["user"]) == ("10.0.0.9:9500", True, "scraper")
    with pytest.raises(ValueError, match=r"kafka_page_host of p1 is 127\.0\.0\.1, which no Prometheus reaches"):
        monitoring({"b1": NODE, "p1": {**own, "kafka_page_host": "127.0.0.1"}}, page="p1")["targets"]


def test_a_machine_is_one_target_however_many_nodes_it_has() -> None:
    hosts = {f"b{n}": {**NODE, "kafka_node_id": n, "kafka_metrics_port": 9400 + n} for n in (1, 2)}
    found = monitoring({name: {**one, "kafka_monitoring_node_exporter_port": 9100} for name, one in hosts.items()})
    machines = [one for one in found["targets"] if one["job"] == "node"]
    assert machines == [{"job": "node", "node": "b1", "cluster": "orders", "address": "10.0.0.1:9100"}]


def test_the_certificate_of_a_node_is_looked_at_where_clients_see_it() -> None:
    found = monitoring(kafka_monitoring_blackbox_address="exporter:9115")["targets"][1]
    assert (found["job"], found["address"]) == ("blackbox", "10.0.0.1:9092")
    assert found["probe"] == {"address": "exporter:9115", "module": "kafka_tls"}
    plain = [{**CLIENT, "protocol": "PLAINTEXT"}]
    assert len(monitoring(kafka_monitoring_blackbox_address="exporter:9115", kafka_listeners=plain)["targets"]) == 1


def test_a_blackbox_exporter_without_a_port_is_refused() -> None:
    with pytest.raises(ValueError, match="'exporter' is not of the form host:port"):
        monitoring(kafka_monitoring_blackbox_address="exporter")["targets"]


def test_one_set_of_files_holds_for_all_hosts() -> None:
    hosts = {
        "b1": {**NODE, "kafka_monitoring_alerts": {}},
        "b2": {**NODE, "kafka_monitoring_alerts": {"KafkaElections": {}}},
    }
    with pytest.raises(ValueError, match=r"kafka_monitoring_alerts is \{\} on b1 and .* on b2, but one set of files"):
        monitoring(hosts)["alerts"]
    assert monitoring(kafka_monitoring_files_dir="/srv/m")["directory"] == "/srv/m"


def test_runs_silence_at_the_alertmanagers_of_the_inventory_each_from_its_own_machine() -> None:
    hosts: dict[str, dict[str, Any]] = {"b1": NODE, "m1": {"kafka_monitoring_alertmanager_port": 9193}, "m2": {}}
    groups = {"kafka_brokers": ["b1"], "prometheus": ["m1", "m2"]}
    found = View(DataReader(hosts, groups))["monitoring"]["alertmanagers"]
    assert found == [{"host": "m1", "url": "http://127.0.0.1:9193"}, {"host": "m2", "url": "http://127.0.0.1:9093"}]
    assert monitoring()["alertmanagers"] == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""The scrape configuration that is made of targets, as promtool reads it, and what cannot be a target."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from ansible_collections.streamops.kafka.plugins.plugin_utils.monitoring.targets import answers, scrape_configs
from tests.support.prometheus import promtool

KAFKA = {"job": "kafka", "cluster": "orders", "node": "b1", "node_id": 1, "address": "b1:9404"}
SECURED = {"tls": True, "ca_file": "/etc/p/ca.pem", "user": "prometheus", "password_file": "/etc/p/password"}
PROBE = {"job": "blackbox", "cluster": "orders", "node": "b1", "address": "b1:9092"}
ALL = [
    {**KAFKA, **SECURED},
    {**KAFKA, "node": "b2", "node_id": 2, "address": "[fd00::2]:9404", **SECURED},
    {"job": "zookeeper", "cluster": "orders", "node": "z1", "node_id": 1, "address": "z1:9404"},
    {"job": "mirror", "cluster": "orders", "node": "m1", "address": "m1:9404"},
    {"job": "page", "node": "p1", "address": "p1:9406", **SECURED},
    {"job": "node", "cluster": "orders", "node": "b1", "address": "b1:9100"},
    {**PROBE, "probe": {"address": "blackbox:9115", "module": "kafka_tls"}},
]


def labels(tmp_path: Path, name: str, targets: list[dict[str, Any]]) -> list[dict[str, str]]:
    """The labels that Prometheus gives the targets of a scrape configuration, its own (__address__...) too, by node.

    promtool lists targets in the order of a map of Go, which is another in every run.
    """
    path = tmp_path / "scrape.yml"
    path.write_text(yaml.safe_dump(scrape_configs(targets)))
    status, said = promtool("check", "service-discovery", "--timeout=2s", path, name)
    assert status == 0, said
    found = [one["labels"] for one in json.loads(said[said.index("[") :])]
    return sorted(found, key=lambda known: known["node"])


def test_promtool_takes_the_configuration_of_every_job(tmp_path: Path) -> None:
    path = tmp_path / "scrape.yml"
    path.write_text(yaml.safe_dump(scrape_configs(ALL)))
    status, said = promtool("check", "config", "--syntax-only", path)
    assert (status, "SUCCESS" in said) == (0, True), said


def test_nodes_have_the_labels_that_alerts_ask_for_and_the_way_to_read_them(tmp_path: Path) -> None:
    first, second = labels(tmp_path, "streamops-kafka-orders", ALL)
    wanted = {"job": "kafka", "cluster": "orders", "node": "b1", "instance": "b1:9404", "__scheme__": "https"}
    assert wanted.items() <= first.items()
    assert (second["node"], second["__address__"]) == ("b2", "[fd00::2]:9404")
    (written,) = (one for one in scrape_configs(ALL)["scrape_configs"] if one["job_name"] == "streamops-kafka-orders")
    assert written["basic_auth"] == {"username": "prometheus", "password_file": "/etc/p/password"}
    assert written["tls_config"] == {"ca_file": "/etc/p/ca.pem"}


def test_a_page_says_itself_which_cluster_its_series_are_about(tmp_path: Path) -> None:
    (page,) = labels(tmp_path, "streamops-page", ALL)
    assert "cluster" not in page
    (written,) = (one for one in scrape_configs(ALL)["scrape_configs"] if one["job_name"] == "streamops-page")
    assert written["honor_labels"] is True


def test_the_blackbox_exporter_is_asked_about_the_node(tmp_path: Path) -> None:
    (probed,) = labels(tmp_path, "streamops-blackbox-orders", ALL)
    assert (probed["__address__"], probed["__param_target"]) == ("blackbox:9115", "b1:9092")
    assert (probed["instance"], probed["__metrics_path__"], probed["job"]) == ("b1:9092", "/probe", "blackbox")


def test_nodes_that_are_read_in_two_ways_are_in_two_configurations() -> None:
    plain = {**KAFKA, "node": "b2", "node_id": 2, "address": "b2:9404"}
    names = [one["job_name"] for one in scrape_configs([{**KAFKA, **SECURED}, plain])["scrape_configs"]]
    assert names == ["streamops-kafka-orders", "streamops-kafka-orders-2"]


def test_the_order_of_targets_within_a_job_is_kept_and_jobs_have_theirs() -> None:
    mixed = scrape_configs(ALL[::-1])["scrape_configs"]
    assert [one["job_name"] for one in mixed] == [one["job_name"] for one in scrape_configs(ALL)["scrape_configs"]]


def test_one_machine_is_read_for_each_of_its_clusters() -> None:
    machine = {"job": "node", "node": "b1", "address": "b1:9100"}
    both = scrape_configs([{**machine, "cluster": "a"}, {**machine, "cluster": "b", "node": "c1"}])
    assert [one["job_name"] for one in both["scrape_configs"]] == ["streamops-node-a", "streamops-node-b"]


@pytest.mark.parametrize(
    ("targets", "said"),
    [
        ("b1:9404", "'b1:9404' is not a list of targets"),
        (["b1:9404"], "is not a list of targets"),
        ([], "there is nothing to read; fix: put hosts into the groups"),
        ([{**KAFKA, "address": ""}], "no metrics are served by b1"),
        ([{**KAFKA, "job": "Kafka"}], "b1: job is 'Kafka'; fix: one of kafka, zookeeper"),
        ([{**KAFKA, "cluster": ""}], "b1 is in no cluster"),
        ([{**KAFKA, "node": ""}], "a target has no node"),
        ([{**KAFKA, "pasword_file": "/p"}], "b1: a target has no pasword_file"),
        ([{**KAFKA, "tls": True}], "b1: tls is given without ca_file"),
        ([{**KAFKA, "user": "u"}], "b1: user is given without password_file"),
        ([{**PROBE, "probe": {"address": "x:1"}}], "b1: a probe needs the address of blackbox_exporter and a module"),
        ([KAFKA, {**KAFKA, "node": "c1", "address": "c1:1"}], "b1 and c1 are both number 1 of cluster orders: several"),
        ([KAFKA, {**KAFKA, "node": "b2", "node_id": 2}], "b1 and b2 are both read at b1:9404; fix: give each node"),
    ],
)
def test_what_cannot_be_read_is_refused(targets: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        scrape_configs(targets)


def test_all_mistakes_are_named_at_once_with_all_silent_nodes() -> None:
    silent = [{**KAFKA, "node": f"b{n}", "node_id": n, "address": ""} for n in (1, 2)]
    with pytest.raises(ValueError, match=r"job is 'x'.*; no metrics are served by b1, b2, .*No file was written"):
        scrape_configs([*silent, {**KAFKA, "node": "b3", "node_id": 3, "address": "b3:1", "job": "x"}])


def test_a_server_of_zookeeper_and_a_broker_may_have_one_number() -> None:
    server = {**KAFKA, "job": "zookeeper", "node": "z1", "address": "z1:9404"}
    assert len(scrape_configs([KAFKA, server])["scrape_configs"]) == 2


def target(node: str, health: str, error: str = "", pool: str = "streamops-kafka-orders") -> dict[str, Any]:
    labels = {"node": node, "job": "kafka", "instance": f"{node}:9404"}
    return {"scrapePool": pool, "labels": labels, "health": health, "lastError": error}


def test_all_answer() -> None:
    assert answers([target("b1", "up")]) == "Prometheus reads 1 target; 1 answer."


def test_those_that_do_not_are_named_with_the_reason() -> None:
    said = answers([target("b1", "up"), target("b2", "down", "connection refused"), target("b3", "unknown")])
    assert said == (
        "Prometheus reads 3 targets; 1 answer. No answer: b2 (job kafka, b2:9404): connection refused, "
        "b3 (job kafka, b3:9404): not read yet."
    )


def test_targets_of_the_user_are_not_counted() -> None:
    assert answers([target("x", "down", "refused", pool="own")]) == "Prometheus reads 0 targets; 0 answer."


def test_what_prometheus_reads_of_itself_is_not_counted() -> None:
    watchers = [target("prom1", "unknown", pool=f"streamops-{name}") for name in ("prometheus", "alertmanager")]
    assert answers([target("b1", "up"), *watchers]) == "Prometheus reads 1 target; 1 answer."


def test_many_are_counted() -> None:
    assert answers([target(f"b{n}", "down", "refused") for n in range(12)]).endswith("refused and 2 more.")

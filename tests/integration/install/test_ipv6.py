# SPDX-License-Identifier: GPL-3.0-or-later
"""A node that is reached by an IPv6 address only: installed, found as wanted again, and administered, with TLS."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
import yaml

from tests.support.cluster import ROOT, Cluster, free_port_base
from tests.support.modules import run_module
from tests.support.secured import PASSWORD, ca_file

#: An address as people write it in each place.
LISTENERS = (("CLIENT", "clients", "SASL_SSL", "[::1]"), ("BROKER", "brokers", "SSL", "::1"),
             ("CONTROLLER", "controllers", "SSL", "0:0:0::1"))  # fmt: skip


@pytest.fixture(scope="module")
def lone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """One combined node on ::1."""
    directory, base = tmp_path_factory.mktemp("ipv6"), free_port_base()
    shutil.copytree(ROOT / "inventories" / "local", directory / "inventory")
    variables = directory / "inventory" / "group_vars" / "all.yml"
    variables.write_text(variables.read_text().replace("ansible_host: 127.0.0.1", 'ansible_host: "::1"'))
    groups = {"kraft_controllers": {"children": {"kafka_brokers": None}},
              "kafka_brokers": {"hosts": {"kafka1": {"kafka_node_id": 1}}}}  # fmt: skip
    (directory / "inventory" / "hosts.yml").write_text(yaml.safe_dump(groups))
    listeners = [
        {"name": name, "purpose": purpose, "protocol": protocol, "host": host, "port": base + 10 + index}
        for index, (name, purpose, protocol, host) in enumerate(LISTENERS)
    ]
    settings = {
        "kafka_listeners": listeners,
        "kafka_tls_source": "development_ca",
        "kafka_tls_ca_dir": str(directory / "run" / "ca"),
        "kafka_admin_password": PASSWORD,
        "kafka_topics": [{"name": "orders", "partitions": 2, "replication_factor": 1}],
    }
    cluster = Cluster(directory / "inventory", directory / "run", base, settings)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


@pytest.mark.full
def test_a_second_run_finds_it_as_wanted(lone: Cluster) -> None:
    before = lone.pids()
    again = lone.playbook().ok()
    assert again.changed == 0, again.output
    assert lone.pids() == before
    assert f"[::1]:{lone.port('kafka1')}" in again.output


@pytest.mark.full
def test_modules_reach_it_by_its_address_whose_certificate_is_right(lone: Cluster) -> None:
    connection = {
        "bootstrap_servers": [f"[0::1]:{lone.port('kafka1')}"],
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_username": "admin",
        "sasl_password": PASSWORD,
        "ssl_ca_location": str(ca_file(lone)),
    }
    topic = {"name": "payments", "partitions": 3, "replication_factor": 1}
    for expected in (True, False):
        made = run_module("streamops.kafka.topics", {**connection, "topics": [topic]})
        assert made.get("changed") is expected, made
    info = run_module("streamops.kafka.cluster_info", connection)
    assert [(node["id"], node["host"]) for node in info["nodes"]] == [(1, "::1")]
    assert [voter["id"] for voter in info["quorum"]["voters"]] == [1]

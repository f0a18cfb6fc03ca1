"""Flows of more than one way: a hub, active-active, and names that are kept; three single nodes and two mirrors."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.cluster import free_port_base, hosts_file, until
from tests.support.mirrored import REST, SHIPPED, Mirrored
from tests.support.modules import run_module
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

# mirror1 stands next to the hub dc_b, mirror2 next to dc_a, which the hub writes back to.
FLOWS = [
    {"source": "dc_a", "target": "dc_b", "topics": [".*orders"]},
    {"source": "dc_c", "target": "dc_b", "topics": [".*orders"]},
    {"source": "dc_b", "target": "dc_a", "topics": [".*orders"]},
]
KEPT = [
    {"source": "dc_a", "target": "dc_b", "topics": ["eu[.].*"], "policy": "identity"},
    {"source": "dc_b", "target": "dc_a", "topics": ["us[.].*"], "policy": "identity"},
]
TOPICS = {"dc_a": ["orders", "eu.sales"], "dc_b": ["orders", "us.sales"], "dc_c": ["orders"]}


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """Up and mirroring; the second test changes its flows."""
    directory = tmp_path_factory.mktemp("shapes")
    cluster = Mirrored(inventory(directory / "inventory"), directory / "cluster", free_port_base())
    cluster.variables.update(mirror_flows=FLOWS, spark_validation_enabled=False)
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def inventory(directory: Path) -> Path:
    """The shipped one with other clusters and mirrors."""
    shipped = SHIPPED / "group_vars"
    every = yaml.safe_load((shipped / "all.yml").read_text())
    # Said for each host here.
    del every["mirror_maker_rest_port"]
    brokers = {f"{letter}1": {"kafka_node_id": number} for number, letter in enumerate("abc", 1)}
    mirrors = {
        f"mirror{n}": {"mirror_maker_rest_port": f"{{{{ kafka_port_base | int + {REST + 10 * (n - 1)} }}}}"}
        for n in (1, 2)
    }
    members = {"dc_a": ["a1", "mirror2"], "dc_b": ["b1", "mirror1"], "dc_c": ["c1"]}
    centres: dict[str, dict[str, dict[str, Any]]] = {
        name: {host: {} for host in hosts} for name, hosts in members.items()
    }
    groups = {"kraft_controllers": brokers, "kafka_brokers": brokers, "mirror_makers": mirrors, **centres}
    hosts_file(directory, groups, every)
    variables = directory / "group_vars"
    (variables / "kafka_brokers.yml").write_text((shipped / "kafka_brokers.yml").read_text())
    for name, topics in TOPICS.items():
        wishes = [{"name": topic, "partitions": 3, "replication_factor": 1} for topic in topics]
        (variables / f"{name}.yml").write_text(yaml.safe_dump({"kafka_cluster_name": name, "kafka_topics": wishes}))
    return directory


def topics(cluster: Mirrored, name: str) -> set[str]:
    """What there is of orders and sales in a cluster."""
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": cluster.servers(name)})
    return {one["name"] for one in info["topics"] if one["name"].endswith(("orders", "sales"))}


def written(cluster: Mirrored, name: str, topic: str) -> set[int]:
    """Writes some hundred records more into a topic; their numbers."""
    with producing(cluster.servers(name), topic) as ledger:
        until(lambda: len(ledger.acknowledged) > 500, "records")
    assert not ledger.failed
    return set(ledger.acknowledged)


def arrived(cluster: Mirrored, name: str, topic: str, numbers: set[int]) -> None:
    """Waits until a topic has these numbers; then it has each of them once and nothing else."""
    until(lambda: topic in topics(cluster, name), f"{topic} in {name}", timeout=120)
    servers = cluster.servers(name)
    until(lambda: sum(read_all(servers, topic).values()) >= len(numbers), f"records of {topic}", timeout=120)
    assert dict(read_all(servers, topic)) == dict.fromkeys(numbers, 1)


def test_a_hub_and_two_ways_tell_origins_apart_and_nothing_goes_in_a_circle(mirrored: Mirrored) -> None:
    numbers = {name: written(mirrored, name, "orders") for name in ("dc_a", "dc_b", "dc_c")}
    arrived(mirrored, "dc_b", "dc_a.orders", numbers["dc_a"])
    arrived(mirrored, "dc_b", "dc_c.orders", numbers["dc_c"])
    arrived(mirrored, "dc_a", "dc_b.orders", numbers["dc_b"])
    # On the way dc_c -> dc_b -> dc_a a name grows by each cluster that it left.
    arrived(mirrored, "dc_a", "dc_b.dc_c.orders", numbers["dc_c"])
    assert topics(mirrored, "dc_a") == {"orders", "dc_b.orders", "dc_b.dc_c.orders", "eu.sales"}
    assert topics(mirrored, "dc_b") == {"orders", "dc_a.orders", "dc_c.orders", "us.sales"}
    assert topics(mirrored, "dc_c") == {"orders"}
    again = mirrored.playbook().ok()
    assert again.changed == 0, again.output


def test_names_are_kept_both_ways_where_topics_are_not_the_same(mirrored: Mirrored) -> None:
    refused = mirrored.playbook("playbooks/mirrors.yml", mirror_flows=[{**one, "topics": [".*sales"]} for one in KEPT])
    assert "mirror_loop" in refused.output
    assert refused.changed == 0
    mirrored.variables["mirror_flows"] = KEPT
    mirrored.playbook("playbooks/mirrors.yml").ok()
    eu, us = written(mirrored, "dc_a", "eu.sales"), written(mirrored, "dc_b", "us.sales")
    arrived(mirrored, "dc_b", "eu.sales", eu)
    arrived(mirrored, "dc_a", "us.sales", us)
    # Neither came back.
    assert dict(read_all(mirrored.servers("dc_a"), "eu.sales")) == dict.fromkeys(eu, 1)
    assert dict(read_all(mirrored.servers("dc_b"), "us.sales")) == dict.fromkeys(us, 1)


def test_a_mirror_outside_of_the_run_that_still_runs_a_disabled_flow_is_found_by_what_runs(mirrored: Mirrored) -> None:
    # The next test needs the mirrors as this one leaves them.
    mirrored.variables["mirror_flows"] = [KEPT[0], {**KEPT[1], "enabled": False}]
    limit = ("--limit", "a1,b1,c1,mirror1")
    before = mirrored.pids()
    refused = mirrored.playbook("playbooks/mirrors.yml", *limit)
    assert refused.rc != 0
    assert "mirror2 still runs dc_b->dc_a, which is disabled" in " ".join(refused.output.split())
    assert mirrored.pids() == before
    looked = mirrored.playbook("playbooks/mirrors.yml", "--check").ok()
    assert "still runs dc_b" not in looked.output, "a run with mirror2 in it would stop it first"
    for lock in (mirrored.directory / "config").glob("*.lock"):
        assert lock.read_text() == "", "a run that is refused gives its locks back"
    mirrored.playbook("playbooks/stop.yml", "--limit", "mirror2").ok()
    assert not mirrored.alive("mirror2")
    mirrored.playbook("playbooks/mirrors.yml", *limit).ok()
    assert mirrored.alive("mirror1")


def test_a_mirror_that_runs_can_be_stopped_while_all_clusters_are_dead(mirrored: Mirrored) -> None:
    mirrored.playbook("playbooks/stop.yml", "--limit", "a1,b1,c1").ok()
    assert mirrored.alive("mirror1")
    mirrored.playbook("playbooks/stop.yml", "--limit", "mirror1").ok()
    assert not mirrored.alive("mirror1")

"""A source of Kafka 3.9.2 on ZooKeeper, mirrored into a cluster of the newest release, with a canary between them: all
installed by site.yml."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cluster import free_port_base, until
from tests.support.mirrored import SHIPPED, Mirrored
from tests.support.shuffled import tree, write
from tests.support.traffic import producing, read_all

pytestmark = pytest.mark.full

#: Ports counted from the first of the inventory: the server of ZooKeeper has three, the canary one.
ZOOKEEPER, CANARY = 80, 90


def with_zookeeper(directory: Path) -> Mirrored:
    """One broker of dc_a on one server of ZooKeeper, one combined node of dc_b, and a mirror with a canary."""
    found, base = tree(SHIPPED), free_port_base()
    hosts = found["hosts.yml"]
    for name in "ab":
        brokers = hosts[f"dc_{name}_brokers"]["hosts"]
        del brokers[f"{name}2"], brokers[f"{name}3"]
    hosts["kraft_controllers"] = {"children": {"dc_b_brokers": None}}
    hosts["zookeeper"] = {"hosts": {"zookeeper1": {"zookeeper_id": 1}}}
    hosts["dc_a"] = {"children": {"dc_a_brokers": None, "zookeeper": None}}
    source = found["group_vars/dc_a.yml"]
    for topic in source["kafka_topics"]:
        topic["replication_factor"] = 1
    source |= {
        "kafka_mode": "zookeeper",
        "kafka_version": "3.9.2",
        "kafka_listeners": [
            {"name": "CLIENT", "host": "127.0.0.1", "port": base + 10, "purpose": "clients"},
            {"name": "BROKER", "host": "127.0.0.1", "port": base + 11, "purpose": "brokers"},
        ],
        "zookeeper_host": "127.0.0.1",
        **{f"zookeeper_{name}_port": base + ZOOKEEPER + at for at, name in enumerate(("client", "quorum", "election"))},
    }
    write(found, directory / "inventory")
    canary = {
        "mirror_maker_canary": "yes",
        "mirror_maker_canary_port": str(base + CANARY),
        "mirror_maker_canary_interval": "5",
    }
    return Mirrored(directory / "inventory", directory / "run", base, canary)


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """Installed and mirroring."""
    cluster = with_zookeeper(tmp_path_factory.mktemp("mirrored"))
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def canary(cluster: Mirrored) -> dict[str, Any]:
    """What the canary says."""
    url = f"http://127.0.0.1:{cluster.port_base + CANARY}/status"
    with urllib.request.urlopen(url, timeout=10) as answer:
        found: dict[str, Any] = json.loads(answer.read())
    return found


def test_all_records_of_a_cluster_on_zookeeper_arrive(mirrored: Mirrored) -> None:
    with producing(mirrored.servers("dc_a"), "orders") as ledger:
        until(lambda: len(ledger.acknowledged) > 2000, "records")
    assert not ledger.failed
    until(
        lambda: not ledger.lost(read_all(mirrored.servers("dc_b"), "dc_a.orders")),
        "all records in the target",
        timeout=120,
    )


def test_the_canary_that_the_run_installed_finds_nothing_wrong(mirrored: Mirrored) -> None:
    until(lambda: canary(mirrored)["status"] == "OK", "a canary that finds nothing wrong", timeout=180)
    assert "dc_a->dc_b p50" in canary(mirrored)["line"]


def test_status_and_a_second_run_find_all_as_it_should_be(mirrored: Mirrored) -> None:
    seen = mirrored.playbook("playbooks/status.yml", status_strict="true").ok()
    assert "OK           mirror dc_a->dc_b" in seen.output
    assert "OK           canary at dc_b" in seen.output
    before = mirrored.pids()
    assert mirrored.playbook().ok().changed == 0
    assert mirrored.pids() == before


def test_the_audit_compares_both_clusters_record_by_record(mirrored: Mirrored) -> None:
    done = mirrored.playbook("playbooks/validate.yml", spark_validation_enabled=True).ok()
    assert "mirror-dc_a-dc_b" in done.output


def test_a_canary_that_is_switched_off_is_removed(mirrored: Mirrored) -> None:
    mirrored.variables["mirror_maker_canary"] = "no"
    mirrored.playbook().ok()
    with pytest.raises(OSError, match="refused"):
        canary(mirrored)
    assert "canary" not in mirrored.playbook("playbooks/status.yml", status_strict="true").ok().output

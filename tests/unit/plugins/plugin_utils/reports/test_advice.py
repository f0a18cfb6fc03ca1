"""What a running cluster has against the advice of the field."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.advice import advice_lines


def cluster(brokers: int = 3, replicas: int = 10, size: int = 1, factor: int = 3, internal: bool = False) -> Any:
    """What cluster_info returns, as far as the advice looks at it."""
    largest = {"partition": 0, "size_bytes": size}
    topics = [
        {"name": "orders", "largest_partition": largest, "replication_factor": factor, "internal": internal},
        {"name": "silent", "largest_partition": None, "replication_factor": 3, "internal": False},
    ]
    return {"nodes": [{"id": n, "replicas": replicas} for n in range(brokers)], "topics": topics}


def test_a_cluster_within_the_advice_is_told_nothing() -> None:
    assert advice_lines(cluster(brokers=7, replicas=2000, size=25 * 1000**3), zookeeper=True) == []


def test_each_figure_is_told_with_the_advised_one() -> None:
    found = advice_lines(cluster(brokers=8, replicas=2001, size=40 * 1000**3, factor=1), zookeeper=True)
    assert [line.partition(":")[0] for line in found] == [
        "8 brokers on one ensemble, at most 7 are advised",
        "replicas on broker 0 (2001), 1 (2001), 2 (2001), 3 (2001), 4 (2001) and 3 more, at most 2000 are advised",
        "large partitions orders-0 (40 GB), at most 25 GB is advised",
        "replication factor of orders (1), at least 2 and normally 3 is advised",
    ]


def test_brokers_without_zookeeper_are_not_counted() -> None:
    assert advice_lines(cluster(brokers=100)) == []


def test_kafkas_own_topics_are_judged_elsewhere() -> None:
    assert advice_lines(cluster(factor=1, internal=True)) == []

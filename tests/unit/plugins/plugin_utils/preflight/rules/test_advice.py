"""The advice of the field as warnings."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import ADVICE, combined, config, expect, topic

KEPT = {"retention.ms": 1}


def advised(**cluster: Any) -> Inventory:
    """Three combined nodes of a cluster that has not said that it knows the advice."""
    return combined(**{"preflight_accept": ["known_vulnerabilities"], **cluster})


@pytest.mark.parametrize(
    ("inventory", "name", "parts"),
    [
        (
            advised(kafka_topics=[topic(partitions=2001, config=KEPT)]),
            "many_partitions",
            ["6003 replicas on 3 brokers, 2001 on each"],
        ),
        (
            advised(kafka_topics=[topic(config={"retention.bytes": 30 * 1000**3})]),
            "large_partitions",
            ["topic orders", "30 GB", "25 GB"],
        ),
        (advised(kafka_topics=[topic(), topic("paid")]), "no_retention", ["topics orders, paid", "7 days"]),
    ],
)
def test_what_is_against_the_advice_is_a_warning_with_figures(
    inventory: Inventory, name: str, parts: list[str]
) -> None:
    expect(inventory, name, *parts, level="warning")


def test_a_retention_of_the_cluster_is_enough() -> None:
    wish = config(log_retention_ms=1)
    assert check_inventory(advised(kafka_topics=[topic()], kafka_config=wish)) == []


def test_who_knows_it_is_not_told_again() -> None:
    assert check_inventory(advised(kafka_topics=[topic()], preflight_accept=["known_vulnerabilities", *ADVICE])) == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""Exactly-once flows by table: what exactly-once needs, and where the legacy engine ends."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.variables import UNDEFINED
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import ADVICE, config, expect
from tests.support.preflight_mirrors import flow, mirrored

ONCE = {"exactly_once": "enabled"}
OLD = {"m": {"kafka_cluster_name": "dc_b", "kafka_version": "3.9.2"}}
LOG = "transaction.state.log.replication.factor"


def native(**properties: Any) -> Inventory:
    """An exactly-once flow whose mirror has these native properties."""
    return mirrored(flow(**ONCE), mirror_maker_config=properties)


CLIENTS: dict[str, tuple[Inventory, list[str]]] = {
    "consumer of the flow": (
        mirrored(flow(**ONCE, config={"source.consumer.isolation.level": "read_uncommitted"})),
        [
            "mirror_flows, config of dc_a->dc_b",
            "aborted transactions",
            "isolation.level read_uncommitted",
            "read_committed",
        ],
    ),
    "while it is prepared": (
        mirrored(flow(exactly_once="preparing", config={"consumer.isolation.level": "READ_UNCOMMITTED"})),
        ["aborted transactions"],
    ),
    "consumer of the mirror": (
        native(**{"dc_a.consumer.isolation.level": "read_uncommitted"}),
        ["aborted transactions"],
    ),
    "consumer of the pair": (
        native(**{"dc_a->dc_b.consumer.isolation.level": "read_uncommitted"}),
        ["aborted transactions"],
    ),
    "acks": (
        mirrored(flow(**ONCE, config={"producer.override.acks": 1})),
        ["does not wait for all copies in sync", "producer.override.acks 1, allowed: all"],
    ),
    "acks of the mirror": (native(**{"dc_b.producer.acks": "1"}), ["does not wait"]),
    "idempotence": (
        native(**{"dc_b.producer.enable.idempotence": False}),
        ["may write a record twice", "allowed: true"],
    ),
    "in flight": (
        native(**{"dc_b.producer.max.in.flight.requests.per.connection": 6}),
        ["cannot be idempotent", "5 or fewer"],
    ),
}


@pytest.mark.parametrize("name", CLIENTS)
def test_clients_that_break_exactly_once_are_named_alone(name: str) -> None:
    inventory, parts = CLIENTS[name]
    expect(inventory, "exactly_once_clients", *parts)


@pytest.mark.parametrize(
    "inventory",
    [
        mirrored(flow(), mirror_maker_config={"dc_a.consumer.isolation.level": "read_uncommitted"}),
        native(**{"dc_a.consumer.isolation.level": "read_committed", "dc_b.producer.acks": -1}),
        native(**{"dc_b.consumer.isolation.level": "read_uncommitted", "dc_a.producer.acks": 1}),
        native(**{"dc_b.producer.acks": UNDEFINED, "dc_b.producer.enable.idempotence": "true"}),
    ],
)
def test_other_clients_are_left_alone(inventory: Inventory) -> None:
    assert [one.sentence() for one in check_inventory(inventory)] == []


def test_the_legacy_engine_is_not_exactly_once() -> None:
    expect(
        mirrored(flow(**ONCE, engine="legacy"), mirrors=OLD),
        "exactly_once_with_legacy_engine",
        "at least once only",
        "exactly_once enabled",
    )


def test_a_transaction_log_with_few_copies_is_refused_in_production_and_warned_of_in_development() -> None:
    few = {
        "kafka_config": config(**{LOG: 2}),
        "preflight_accept": ["few_brokers", "few_replicas", "known_vulnerabilities", *ADVICE],
    }
    found = check_inventory(mirrored(flow(**ONCE), hosts={"dc_b": few}))
    assert [(one.name, one.level) for one in found] == [
        ("few_transaction_log_replicas", "error"),
        ("few_replicas", "warning"),
    ]
    assert f"{LOG} 2 with 3 brokers, allowed: 3 or more" in found[0].sentence()
    weak = {"kafka_config": config(**{LOG: 2}), "kafka_profile": "development"}
    expect(mirrored(flow(**ONCE), hosts={"dc_b": weak}), "few_transaction_log_replicas", "few copies", level="warning")
    assert check_inventory(mirrored(flow(), hosts={"dc_b": weak})) == []
    assert check_inventory(mirrored(flow(**ONCE), hosts={"dc_a": weak})) == []


def test_one_broker_cannot_keep_three_copies() -> None:
    single = {"kafka_profile": "development", "kafka_config": {}, "kafka_topics": []}
    inventory = mirrored(flow(**ONCE), hosts={"dc_b": single})
    alone = [node for node in inventory.nodes if node.name not in ("dc_b2", "dc_b3")]
    found = check_inventory(Inventory(tuple(alone), mirrors=inventory.mirrors))
    assert f"{LOG} 1 with 1 brokers" in next(
        one.sentence() for one in found if one.name == "few_transaction_log_replicas"
    )
    assert {one.level for one in found} == {"warning"}


def test_the_legacy_engine_ends_with_kafka_3_9() -> None:
    expect(
        mirrored(flow(engine="legacy")),
        "legacy_engine_version",
        "mirror_dc_b: kafka_version",
        "found: 4.3.1",
        "engine to mirror_mak",
    )


@pytest.mark.parametrize(
    ("beside", "parts"),
    [
        (flow(), ["dc_a->dc_b (mirror_maker_2), dc_a->dc_b (legacy)", "one flow into dc_b"]),
        (flow(source="dc_c", engine="legacy"), ["dc_c->dc_b (legacy), dc_a->dc_b (legacy)"]),
        (flow(enabled=False), []),
        (flow(source="dc_b", target="dc_a"), []),
    ],
)
def test_a_mirror_of_the_legacy_engine_carries_one_flow(beside: dict[str, Any], parts: list[str]) -> None:
    inventory = mirrored(beside, flow(engine="legacy", topics=["audit"]), clusters="dc_a dc_b dc_c", mirrors=OLD)
    if parts:
        expect(inventory, "legacy_engine_shared", *parts)
    else:
        assert not [one.sentence() for one in check_inventory(inventory) if one.name.startswith("legacy_engine_")]

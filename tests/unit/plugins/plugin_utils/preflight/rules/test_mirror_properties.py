# SPDX-License-Identifier: GPL-3.0-or-later
"""Properties of mirrors by table: a native property that a variable of ours says already."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.check import check_inventory
from tests.support.preflight_inventories import expect
from tests.support.preflight_mirrors import flow, mirrored

OLD = {"m": {"kafka_cluster_name": "dc_b", "kafka_version": "3.9.2"}}


@pytest.mark.parametrize(
    ("key", "variable"),
    [
        ("topics", "the key topics"),
        ("enabled", "the key enabled"),
        ("dc_a->dc_b.topics.exclude", "the key topics_exclude"),
        ("emit.heartbeats.enabled", "the key heartbeats"),
        ("replication.policy.class", "the key policy"),
    ],
)
def test_a_key_of_a_flow_is_not_said_twice(key: str, variable: str) -> None:
    expect(
        mirrored(flow(config={key: "x"})),
        "managed_flow_property",
        "mirror_flows, config of dc_a->dc_b",
        f"found: {key}",
        variable,
    )


def test_a_prefix_that_the_collection_writes_is_left_out() -> None:
    expect(mirrored(flow(config={"dc_a->dc_b.tasks.max": 4})), "managed_flow_property", "twice", "allowed: tasks.max")


@pytest.mark.parametrize(
    ("key", "variable"),
    [
        ("tasks.max", "mirror_maker_tasks_max"),
        ("clusters", "source and target"),
        ("dc_a.bootstrap.servers", "kafka_listeners"),
        ("refresh.topics.interval.seconds", "mirror_maker_refresh_seconds"),
        ("dc_b.offset.flush.interval.ms", "mirror_maker_offset_flush_seconds"),
        ("scheduled.rebalance.max.delay.ms", "mirror_maker_rebalance_delay_seconds"),
        ("listeners", "mirror_maker_rest_port"),
        ("dc_a->dc_b.topics", "topics of each flow"),
        ("dc_b.exactly.once.source.support", "exactly_once of each flow"),
        ("sync.topic.acls.enabled", "sync_topic_acls of each flow"),
    ],
)
def test_a_variable_of_the_mirrors_is_not_said_twice(key: str, variable: str) -> None:
    inventory = mirrored(flow(), mirror_maker_config={key: "x"})
    expect(inventory, "managed_mirror_property", f"mirror_dc_b: mirror_maker_config['{key}']", variable)


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("consumer.max.poll.records", "config of the flow, or SOURCE->TARGET.consumer.max.poll.records"),
        ("producer.linger.ms", "TARGET.producer.linger.ms"),
        ("admin.retries", "CLUSTER.admin.retries"),
    ],
)
def test_a_property_of_a_client_that_nobody_would_read_is_refused(key: str, place: str) -> None:
    found = f"mirror_dc_b: mirror_maker_config['{key}']"
    expect(mirrored(flow(), mirror_maker_config={key: 1}), "ignored_client_property", found, f"allowed: {place}")


@pytest.mark.parametrize(
    "changes",
    [
        {"consumer_config": {"group.id": "x"}},
        {"producer_config": {"bootstrap.servers": "x:1"}},
    ],
)
def test_the_clients_of_the_legacy_engine_keep_group_and_servers(changes: dict[str, Any]) -> None:
    expect(
        mirrored(flow(engine="legacy", **changes), mirrors=OLD),
        "managed_flow_property",
        next(iter(changes)),
        "of dc_a->dc_b",
    )


@pytest.mark.parametrize(
    "inventory",
    [
        mirrored(flow(config={"tasks.max": 4, "offset.lag.max": 0, "refresh.topics.interval.seconds": 5})),
        mirrored(flow(), mirror_maker_config={"dc_a->dc_b.tasks.max": 4, "dc_a.receive.buffer.bytes": 1048576}),
        mirrored(flow(), mirror_maker_config={"consumer.poll.timeout.ms": 500, "dc_b.producer.linger.ms": 0}),
        mirrored(flow(engine="legacy", producer_config={"linger.ms": 20}), mirrors=OLD),
    ],
)
def test_any_other_native_property_is_fine(inventory: Any) -> None:
    assert [one.sentence() for one in check_inventory(inventory)] == []

# SPDX-License-Identifier: GPL-3.0-or-later
"""What the mirror of a tuning is started with."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tune_properties import tune_properties

FLOW = Flow(
    "dc_a", "dc_b", (".*",), config={"consumer.fetch.max.bytes": 1, "offset.lag.max": 5}, exactly_once="enabled"
)
CLUSTERS = {
    "dc_a": {"bootstrap_servers": ["a:1"], "brokers": 3, "properties": {"security.protocol": "SSL"}},
    "dc_b": {"bootstrap_servers": ["b:1"], "brokers": 1},
}
OPTIONS = {"tasks_max": 0, "nodes": 2, "refresh_seconds": 60, "offset_flush_seconds": 10, "rebalance_delay_seconds": 30}


def made(settings: dict[str, Any] | None = None, flow: Flow = FLOW, **config: Any) -> dict[str, Any]:
    """The properties of run 7 with four tasks."""
    return tune_properties(flow, 7, 4, settings or {}, CLUSTERS, {**OPTIONS, "config": config}, "4.3.1")


def test_only_the_load_is_mirrored_under_a_name_of_the_run_and_nothing_is_written_into_the_source() -> None:
    found = made()
    assert found["clusters"] == ["dc_b", "_streamops_tune_7"]
    assert found["_streamops_tune_7.bootstrap.servers"] == ["a:1"]
    assert found["_streamops_tune_7.security.protocol"] == "SSL"
    assert found["_streamops_tune_7->dc_b.topics"] == ["_streamops_tune_load"]
    assert found["_streamops_tune_7->dc_b.topics.exclude"] == r".*[\-.]internal"
    assert found["_streamops_tune_7->dc_b.offset-syncs.topic.location"] == "target"
    assert found["_streamops_tune_7->dc_b.emit.heartbeats.enabled"] is False
    assert found["dc_b.exactly.once.source.support"] == "disabled"
    assert found["tasks.max"] == 4
    assert not [key for key in found if key.startswith(("dc_a", "dc_b->"))]


def test_it_opens_no_port_beside_the_mirror_of_production() -> None:
    found = made(listeners="http://:8083", **{"rest.advertised.port": 1})
    assert not [key for key in found if key.startswith(("listeners", "rest.", "dedicated"))]


def test_settings_of_a_run_go_where_mirror_maker_reads_them() -> None:
    found = made({"producer.linger.ms": 0, "consumer.fetch.max.bytes": 99})
    assert found["dc_b.producer.linger.ms"] == 0
    assert found["_streamops_tune_7->dc_b.consumer.fetch.max.bytes"] == 99


def test_an_operator_s_own_properties_hold_but_for_those_that_are_tried() -> None:
    found = made(**{"dc_a.consumer.client.rack": "r1", "dc_a->dc_b.offset.lag.max": 3, "dc_b.producer.linger.ms": 500})
    assert found["_streamops_tune_7.consumer.client.rack"] == "r1"
    assert found["_streamops_tune_7->dc_b.offset.lag.max"] == 3
    assert found["dc_b.producer.linger.ms"] == 20
    assert found["_streamops_tune_7->dc_b.consumer.fetch.max.bytes"] == 16 * 1024 * 1024


@pytest.mark.parametrize(
    "key",
    [
        "tasks.max",
        "replication.policy.separator",
        "replication.policy.class",
        "producer.override.batch.size",
        "producer.batch.size",
        "consumer.override.fetch.max.bytes",
        "consumer.receive.buffer.bytes",
        "topics",
        "topics.exclude",
        "topic.filter.class",
    ],
)
def test_what_the_tuning_itself_sets_is_not_taken_from_the_operator_whatever_stands_in_front(key: str) -> None:
    plain = made()
    assert made(flow=replace(FLOW, config={**(FLOW.config or {}), key: "own"})) == plain
    for prefix in ("", "dc_a->dc_b.", "dc_a.", "dc_b."):
        assert made(**{f"{prefix}{key}": "own"}) == plain, prefix


def test_properties_that_only_look_like_those_that_are_tried_hold() -> None:
    found = made(**{"dc_b.producer.max.batch.size.x": 1, "dc_a->dc_b.refresh.topics.interval.seconds": 9})
    assert found["dc_b.producer.max.batch.size.x"] == 1
    assert found["_streamops_tune_7->dc_b.refresh.topics.interval.seconds"] == 9

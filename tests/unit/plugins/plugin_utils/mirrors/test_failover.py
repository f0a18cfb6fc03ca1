# SPDX-License-Identifier: GPL-3.0-or-later
"""Which flows clients can follow to the other cluster, by the inventory alone."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import LEGACY, Flow
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.failover import failover_refusals, under_way

FLOWS = [
    Flow("dc_a", "dc_b", ("orders",)),
    Flow("dc_b", "dc_a", ("orders",), enabled=False),
    Flow("old", "dc_b", ("orders",), engine=LEGACY),
]


def test_a_flow_that_runs_can_be_followed() -> None:
    assert failover_refusals(FLOWS, "dc_a->dc_b") == []


@pytest.mark.parametrize("wanted", ["", "dc_a", "dc_a -> dc_b", "dc_b->dc_a"])
def test_what_is_no_running_flow_is_refused_with_those_that_are(wanted: str) -> None:
    (refusal,) = failover_refusals(FLOWS, wanted)
    assert f"kafka_failover is {wanted!r}" in refusal
    assert "these are dc_a->dc_b, old->dc_b." in refusal
    assert "these are none." in failover_refusals([], wanted)[0]


def test_the_engine_legacy_notes_no_offsets() -> None:
    assert "engine legacy" in failover_refusals(FLOWS, "old->dc_b")[0]


def test_a_step_is_a_word_and_has_an_operator() -> None:
    assert failover_refusals(FLOWS, "dc_a->dc_b", "next", "alice") == []
    assert "is no step" in failover_refusals(FLOWS, "dc_a->dc_b", "fenced", "alice")[0]
    assert "kafka_failover_operator is not given" in failover_refusals(FLOWS, "dc_a->dc_b", "back")[0]


def test_a_source_is_lost_or_nothing_is_said_of_it() -> None:
    assert failover_refusals(FLOWS, "dc_a->dc_b", source="lost") == []
    assert "kafka_failover_source is 'dead'" in failover_refusals(FLOWS, "dc_a->dc_b", source="dead")[0]


def test_the_flow_of_a_lost_source_may_be_disabled() -> None:
    assert failover_refusals(under_way(FLOWS, "dc_b->dc_a", "", "lost"), "dc_b->dc_a", source="lost") == []


def test_a_failback_has_a_disabled_flow() -> None:
    flows = under_way(FLOWS, "dc_b->dc_a", "", "returned")
    assert failover_refusals(flows, "dc_b->dc_a", source="returned") == []
    assert failover_refusals(flows, "dc_b->dc_a", "back", "alice", "returned") == []
    assert "kafka_failover_operator is not given" in failover_refusals(flows, "dc_b->dc_a", "back", "", "returned")[0]


def test_the_flow_of_a_step_may_be_disabled() -> None:
    assert failover_refusals(under_way(FLOWS, "dc_b->dc_a", "next"), "dc_b->dc_a", "next", "alice") == []
    assert under_way(FLOWS, "dc_b->dc_a", "") == FLOWS

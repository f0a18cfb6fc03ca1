# SPDX-License-Identifier: GPL-3.0-or-later
"""For how long a node is looked at before it is whole, and what of that an earlier wait has done."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.render.node_view import (
    FRESH,
    settled_since,
    steady_seconds,
)


@pytest.mark.parametrize(
    ("properties", "mode", "seconds"),
    [
        ({}, "kraft_combined", 10.0),
        ({"broker.session.timeout.ms": "6000"}, "kraft_isolated", 7.0),
        ({"broker.session.timeout.ms": 120000}, "kraft_combined", 121.0),
        # Kafka takes a heartbeat that comes after the session has ended.
        ({"broker.heartbeat.interval.ms": 20000}, "kraft_combined", 21.0),
        ({"broker.session.timeout.ms": "{{ no number }}"}, "kraft_combined", 10.0),
        ({}, "zookeeper", 19.0),
        ({"zookeeper.session.timeout.ms": "30000", "broker.session.timeout.ms": 60000}, "zookeeper", 31.0),
    ],
)
def test_a_node_is_looked_at_for_longer_than_its_session(properties: dict[str, Any], mode: str, seconds: float) -> None:
    assert steady_seconds(properties, on_zookeeper=mode == "zookeeper") == seconds


def test_the_last_wait_tells_since_when_the_cluster_is_well() -> None:
    first = {"settled_since": 100.0, "settled_until": 120.0}
    last = {"settled_since": 130.0, "settled_until": 140.0}
    assert settled_since([first, {}, last], 141.0) == 130.0
    assert settled_since([first, {**last, "settled_since": 0.0}], 141.0) == 100.0


def test_what_was_seen_long_ago_says_nothing_of_now() -> None:
    seen = {"settled_since": 100.0, "settled_until": 120.0}
    assert settled_since([seen], 120.0 + FRESH) == 100.0
    assert settled_since([seen], 121.0 + FRESH) == 0.0
    assert settled_since([], 1.0) == 0.0

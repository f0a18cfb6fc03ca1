"""Flows as plain data: what concerns one cluster, and which topics a flow covers."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import views

ONE = {"source": "a", "target": "b", "topics": ["orders.*"]}
RAW = [
    ONE,
    {"source": "c", "target": "b", "topics": [".*"], "engine": "legacy", "streams": 4},
    {"source": "b", "target": "a", "topics": [".*"]},
    {"source": "d", "target": "b", "topics": [".*"], "enabled": False},
]


def test_flows_into_a_cluster_are_flows_again() -> None:
    into = views.mirror_flows_into(RAW, "b")
    assert [flow["source"] for flow in into] == ["a", "c"]
    assert into[0]["groups"] == [".*"]
    assert into[0]["config"] == {}
    assert "streams" not in into[0]
    assert (into[1]["streams"], into[1]["consumer_config"]) == (4, {})
    assert views.mirror_flows_into(into, "b") == into


def test_clusters_that_a_mirror_needs() -> None:
    assert views.mirror_clusters_needed(RAW, "b") == ["a", "b", "c"]
    assert views.mirror_clusters_needed(RAW, "d") == []


@pytest.mark.parametrize(
    ("engine", "position"),
    [("mirror_maker_2", {"offsets_topic": "mm2-offsets.a.internal"}), ("legacy", {"group": "streamops-mirror-a-b"})],
)
def test_where_its_position_is(engine: str, position: dict[str, str]) -> None:
    assert views.mirror_position({**ONE, "engine": engine}) == position


def test_flows_that_are_not_in_order_are_told() -> None:
    with pytest.raises(ValueError, match=r"mirror_flows\[0\]\.topics: is required"):
        views.mirror_flows_into([{"source": "a", "target": "b"}], "b")

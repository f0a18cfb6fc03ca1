"""Flows as plain data: what concerns one cluster, and which topics a flow covers."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    flows_into,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import (
    read_flows,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors import views

ONE = {"source": "a", "target": "b", "topics": ["orders.*"]}
RAW = [
    ONE,
    {"source": "c", "target": "b", "topics": [".*"], "engine": "legacy", "streams": 4},
    {"source": "b", "target": "a", "topics": [".*"]},
    {"source": "d", "target": "b", "topics": [".*"], "enabled": False},
]


def test_plain_flows_are_flows_again() -> None:
    plain = [views.plain(flow) for flow in flows_into(read_flows(RAW), "b")]
    assert [flow["source"] for flow in plain] == ["a", "c"]
    assert plain[0]["groups"] == [".*"]
    assert plain[0]["config"] == {}
    assert "streams" not in plain[0]
    assert (plain[1]["streams"], plain[1]["consumer_config"]) == (4, {})
    assert [views.plain(flow) for flow in read_flows(plain)] == plain


class Lazy(dict[str, Any]):
    """A mapping as templates hand it on: nobody but Ansible can make another one of its kind."""

    def __init__(self) -> None:
        raise NotImplementedError("Direct construction of lazy containers is not supported.")


def test_a_flow_whose_properties_come_from_a_template_is_made_plain() -> None:
    config = Lazy.__new__(Lazy)
    config.update({"tasks.max": 3})
    (flow,) = read_flows([{**ONE, "config": config}])
    assert views.plain(flow)["config"] == {"tasks.max": 3}


def test_clusters_that_a_mirror_needs() -> None:
    assert views.clusters_needed(read_flows(RAW), "b") == ["a", "b", "c"]
    assert views.clusters_needed(read_flows(RAW), "d") == []


@pytest.mark.parametrize(
    ("engine", "position"),
    [("mirror_maker_2", {"offsets_topic": "mm2-offsets.a.internal"}), ("legacy", {"group": "streamops-mirror-a-b"})],
)
def test_where_its_position_is(engine: str, position: dict[str, str]) -> None:
    assert views.position(read_flows([{**ONE, "engine": engine}])[0]) == position

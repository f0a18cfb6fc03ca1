"""Who writes heartbeats: once for each flow that wants them, never into a source that is to stay untouched."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import (
    Flow,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import (
    read_flows,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.heartbeats import (
    emits,
    reverse_herders,
    wants_heartbeats,
)


def flows(*pairs: str, **changes: Any) -> list[Flow]:
    """`a>b` is a flow from a into b."""
    ends = [pair.split(">") for pair in pairs]
    return read_flows([{"source": one, "target": other, "topics": [".*"], **changes} for one, other in ends])


def test_one_way_needs_a_herder_back() -> None:
    one_way = flows("a>b")
    assert reverse_herders(one_way, "b") == ["a"]
    assert not emits(one_way, "a", "b")


def test_active_active_has_none_but_its_own() -> None:
    both = flows("a>b", "b>a")
    assert (reverse_herders(both, "a"), reverse_herders(both, "b")) == ([], [])
    assert emits(both, "a", "b")
    assert emits(both, "b", "a")


def test_a_hub_writes_into_each_of_its_sources() -> None:
    assert reverse_herders(flows("c>b", "a>b"), "b") == ["a", "c"]


def test_a_fan_out_has_one_herder_back_at_each_target() -> None:
    fan = flows("a>b", "a>c")
    assert reverse_herders(fan, "b") == ["a"]
    assert reverse_herders(fan, "c") == ["a"]


def test_a_source_stays_untouched() -> None:
    assert reverse_herders(flows("a>b", untouched_source=True), "b") == []
    assert reverse_herders(flows("a>b", heartbeats=False), "b") == []


def test_a_flow_back_that_is_not_run_by_mirror_maker_2_writes_none() -> None:
    for back in ({"enabled": False}, {"engine": "legacy"}):
        assert reverse_herders([*flows("a>b"), *flows("b>a", **back)], "b") == ["a"]


def test_a_flow_writes_only_what_the_flow_back_wants() -> None:
    silent = [*flows("a>b", heartbeats=False), *flows("b>a")]
    assert emits(silent, "a", "b")
    assert not emits(silent, "b", "a")
    assert reverse_herders(silent, "b") == reverse_herders(silent, "a") == []


def test_the_legacy_engine_has_no_heartbeats() -> None:
    assert not wants_heartbeats(flows("a>b", engine="legacy")[0])

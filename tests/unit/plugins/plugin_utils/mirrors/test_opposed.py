# SPDX-License-Identifier: GPL-3.0-or-later
"""Mirrors that go on with what the inventory has disabled since, as their processes tell it."""

from __future__ import annotations

from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.opposed import (
    Asked,
    asked,
    opposed_flows,
    still_running,
)


def flow(pair: str, **words: Any) -> Flow:
    """A flow between clusters of one letter; a pair in capitals is disabled."""
    source, target = pair.lower()
    return Flow(source, target, ("orders",), **{"policy": "identity", "enabled": pair.islower(), **words})


BACK = [flow("AB"), flow("ba")]
RUNS = {"a->b.enabled": "true", "a->b.topics": "orders"}


@pytest.mark.parametrize(
    ("flows", "opposed"),
    [
        (BACK, ["a->b"]),
        ([flow("ab"), flow("ba")], []),
        ([flow("AB"), flow("BA")], []),
        ([flow("AB"), flow("bc")], []),
        ([flow("ab"), flow("bc"), flow("CA")], ["c->a"]),
        ([flow("AB"), flow("bc"), flow("ca")], ["a->b"]),
        ([flow("AB", policy="default"), flow("ba", policy="default")], []),
        ([flow("AB", policy="default"), flow("ba")], ["a->b"]),
        ([flow("AB"), flow("ba", policy="default")], ["a->b"]),
        ([flow("AB", policy="default", engine="legacy"), flow("ba")], ["a->b"]),
        ([], []),
    ],
)
def test_a_disabled_flow_is_opposed_where_it_would_close_a_ring_that_keeps_names(
    flows: list[Flow], opposed: list[str]
) -> None:
    assert [one.pair for one in opposed_flows(flows)] == opposed


def test_a_pair_that_runs_on_by_another_engine_is_compared_by_its_engine() -> None:
    flows = [flow("AB", engine="legacy"), flow("ab"), flow("ba", policy="default")]
    assert [one.engine for one in opposed_flows(flows)] == ["legacy"]


@pytest.mark.parametrize(
    ("mirror", "why"),
    [
        (Asked("m1", "b", True, True, RUNS), "m1 still runs a->b, which is disabled"),
        (Asked("m1", "b", False), "m1 cannot be asked whether it still runs a->b"),
        (Asked("m1", "b", True, True, None), "m1 still runs a->b"),
    ],
)
def test_a_mirror_that_runs_a_disabled_flow_or_may_is_named_with_what_to_do(mirror: Asked, why: str) -> None:
    (sentence,) = still_running(BACK, [mirror])
    assert why in sentence
    assert "fix: " in sentence


@pytest.mark.parametrize(
    "mirror",
    [
        Asked("m1", "b", True),
        Asked("m1", "b", True, True, {"a->b.enabled": "false", "a->b.emit.heartbeats.enabled": "true"}),
        Asked("m1", "b", True, True, {"c->b.enabled": "true"}),
        Asked("m1", "b", True, True, {"bootstrap.servers": "a1:9092", "group.id": "mirror"}),
        Asked("m2", "a", True, True, {"b->a.enabled": "true"}),
        Asked("m3", "c", False),
    ],
)
def test_a_mirror_that_is_stopped_or_carries_something_else_is_no_hindrance(mirror: Asked) -> None:
    assert still_running(BACK, [mirror]) == []


def test_a_legacy_process_carries_the_legacy_flow_alone() -> None:
    legacy = [flow("AB", engine="legacy"), flow("ba")]
    assert still_running(legacy, [Asked("m1", "b", True, True, {"bootstrap.servers": "a1:9092"})])
    assert not still_running(legacy, [Asked("m1", "b", True, True, {"c->b.enabled": "true"})])


def test_what_node_info_answers_is_read_with_and_without_an_answer() -> None:
    item = {"host": "m1", "cluster": "b", "state_dir": "/run/m1"}
    reasons = [
        {"kind": "property", "name": "a->b.enabled", "from": "true", "to": None},
        {"kind": "record", "name": "process", "from": "damaged", "to": "a readable one"},
    ]
    results = [
        {"item": item, "process": {"running": True}, "restart_reasons": reasons},
        {"item": item, "process": {"running": False}, "restart_reasons": []},
        {"item": item, "process": {"running": True}, "restart_reasons": reasons[1:]},
        {"item": item, "unreachable": True, "msg": "no route"},
        {"item": item, "failed": False, "msg": "a module that failed"},
    ]
    assert asked(results) == [
        Asked("m1", "b", True, True, {"a->b.enabled": "true"}),
        Asked("m1", "b", True),
        Asked("m1", "b", True, True, None),
        Asked("m1", "b", False),
        Asked("m1", "b", False),
    ]

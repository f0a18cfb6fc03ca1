"""What a cluster is compared with: defaults, and every mistake by its place."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits
from page.expected import Expected, expected_of

NODE = {"host": "kafka1", "node_id": 1, "roles": ["broker"], "version": "4.3.1"}


def of(**options: Any) -> dict[str, Any]:
    return {"orders": options}


def test_what_is_left_out_is_compared_with_nothing_within_the_default_limits() -> None:
    assert expected_of({}, ["orders"]) == ({}, [])
    assert expected_of(of(), ["orders"]) == ({"orders": Expected([], Limits(), [])}, [])
    found, wrong = expected_of(of(nodes=[NODE], limits={"max_imbalance_percent": 20, "min_disk_free": 0.5}), ["orders"])
    assert wrong == []
    assert found["orders"] == Expected([NODE], Limits(max_imbalance_percent=20, min_disk_free=0.5), [])
    assert expected_of(of(groups=["a", "b"]), ["orders"]) == ({"orders": Expected([], Limits(), ["a", "b"])}, [])
    bare = {name: value for name, value in NODE.items() if name != "version"}
    for node in (bare, {**NODE, "version": None}, {**NODE, "roles": ["broker", "controller"], "node_id": 0}):
        assert expected_of(of(nodes=[node]), ["orders"])[1] == []


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (None, "expected is no object"),
        ([], "expected is no object"),
        ({"payments": {}}, '"payments", which is not in clusters'),
        ({"orders": None}, 'expected."orders": it is no object'),
        ({"orders": [NODE]}, 'expected."orders": it is no object'),
        (of(node=[]), '"node" is unknown'),
        (of(nodes=None), "nodes is no list"),
        (of(nodes={"kafka1": 1}), "nodes is no list"),
        (of(nodes=[NODE] * 1001), "nodes is no list of at most 1000"),
        (of(nodes=["kafka1"]), r"nodes\[0\]: it is no object"),
        (of(nodes=[NODE, {**NODE, "host": ""}]), r"nodes\[1\]: host"),
        (of(nodes=[{**NODE, "host": None}]), "host is null"),
        (of(nodes=[{**NODE, "host": "a\nb"}]), "host"),
        (of(nodes=[{**NODE, "host": "n" * 256}]), "host"),
        (of(nodes=[{**NODE, "node_id": "1"}]), "node_id"),
        (of(nodes=[{**NODE, "node_id": True}]), "node_id is true"),
        (of(nodes=[{**NODE, "node_id": -1}]), "node_id"),
        (of(nodes=[{**NODE, "node_id": 2**31}]), "node_id"),
        (of(nodes=[{**NODE, "roles": []}]), "roles is a list"),
        (of(nodes=[{**NODE, "roles": "broker"}]), "roles"),
        (of(nodes=[{**NODE, "roles": ["boss"]}]), "roles"),
        (of(nodes=[{**NODE, "roles": [["broker"]]}]), "roles"),
        (of(nodes=[{**NODE, "version": 4.3}]), "version"),
        (of(nodes=[{**NODE, "version": ""}]), "version"),
        (of(nodes=[{**NODE, "rack": "r1"}]), '"rack" is unknown'),
        (of(nodes=[NODE, {**NODE, "node_id": 2}]), 'host "kafka1" twice'),
        (of(nodes=[NODE, {**NODE, "host": "kafka2"}]), "node_id 1 twice"),
        (of(groups="orders"), "groups is no list"),
        (of(groups=["orders", 7]), "groups has 7. Name a group"),
        (of(groups=["orders", ""]), 'groups has "". Name a group'),
        (of(groups=["orders", "orders"]), 'groups has "orders" twice'),
        (of(groups=[str(number) for number in range(1001)]), "groups is no list of at most 1000"),
        (of(limits=None), "limits is no object"),
        (of(limits=[10]), "limits is no object"),
        (of(limits={"max_lag": 1}), '"max_lag", which is unknown'),
        (of(limits={"min_disk_free": -0.1}), "limits.min_disk_free"),
        (of(limits={"min_disk_free": "0.1"}), "limits.min_disk_free"),
        (of(limits={"min_disk_free": True}), "limits.min_disk_free"),
        (of(limits={"min_disk_free": float("nan")}), "limits.min_disk_free"),
        (of(limits={"min_disk_free": float("inf")}), "limits.min_disk_free"),
        (of(limits={"max_imbalance_percent": 10**400}), "limits.max_imbalance_percent"),
        (of(limits={"max_quorum_lag": 1.5}), "limits.max_quorum_lag is 1.5. Set a whole number"),
    ],
)
def test_what_is_wrong_is_named_with_its_place(given: Any, named: str) -> None:
    found, (wrong,) = expected_of(json.loads(json.dumps(given)), ["orders"])
    with pytest.raises(ValueError, match=named):
        raise ValueError(wrong)
    assert len(wrong) < 250
    assert found.get("orders", Expected()) == Expected()

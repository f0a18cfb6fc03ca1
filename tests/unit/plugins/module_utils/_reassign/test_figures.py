"""Figures of a plan: what brokers, racks and topics have before and after."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import plan_figures, planned
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.states import snapshot_of_file


def cluster(*replicas: tuple[int, ...]) -> Cluster:
    """Three brokers and the partitions of one topic."""
    brokers = tuple(BrokerSpec(number) for number in (1, 2, 3))
    count = len(replicas)
    return Cluster(brokers, ["t"], [0], [0] * count, list(range(count)), list(replicas))


def test_a_broker_that_an_assignment_empties_counts_in_the_spread() -> None:
    plan = plan_moves(cluster((1,), (2,), (3,)), Spec(assignment=[("t", 0, (2,))]))
    assert plan_figures(plan)["spread"] == {
        "from": {"replicas": 0, "leaders": 0, "topic": 0},
        "to": {"replicas": 2, "leaders": 2, "topic": 2},
    }


def test_a_drained_broker_that_is_empty_already_does_not_count_in_the_spread() -> None:
    plan = plan_moves(cluster((1,), (2,), (1,), (2,)), Spec(drain=(3,)))
    assert plan_figures(plan)["spread"]["to"] == {"replicas": 0, "leaders": 0, "topic": 0}


def test_bytes_are_told_beside_the_share_that_each_broker_has() -> None:
    found = replace(cluster((1,), (1,), (2,)), sizes=[10, 40, 10])
    plan = plan_moves(found, Spec(rebalance=True, balance_by="bytes", drain=(3,)))
    figures = plan_figures(plan)
    assert figures["bytes_spread"] == {"from": 1.6667, "to": 1.3333}
    assert figures["bytes_bound"] == 17
    assert figures["bytes_above"] == [
        {"broker": 1, "bytes": 40, "limit_bytes": 33, "why": "partition", "partition": "t-1"}
    ]


def test_without_sizes_nothing_is_told_of_bytes() -> None:
    figures = plan_figures(plan_moves(cluster((1,), (2,)), Spec(rebalance=True)))
    assert (figures["bytes_spread"], figures["bytes_bound"], figures["bytes_above"]) == (None, None, [])


SNAPSHOT = {
    "nodes": [{"id": 1}, {"id": 2}, {"id": 3}],
    "topics": [{"name": "t", "partitions": [{"partition": n, "replicas": [1, 2]} for n in range(6)]}],
}
DEFAULTS: dict[str, Any] = {"rack_rule": "strict", "leaders": "auto", "concurrency": 5, "throttle": None}


def test_a_plan_shows_what_changes_from_and_to() -> None:
    found = planned(SNAPSHOT, {**DEFAULTS, "replication_factor": {"t": "3"}}, registered_only=True)
    assert found["moves"] == found["bound"] == 6
    assert found["diff"]["before"]["t-0"] == [1, 2]
    assert found["diff"]["after"]["t-0"] == [1, 2, 3]
    assert found["schedule"]["rounds_bound"] == 2


def test_numbers_may_be_text_as_ansible_gives_them() -> None:
    assert planned(SNAPSHOT, {**DEFAULTS, "replace": {"1": "3"}}, registered_only=True)["moves"] == 6


def test_only_a_file_may_be_planned_for_brokers_that_are_not_there() -> None:
    added = {**DEFAULTS, "add": [{"id": 4, "rack": None}]}
    assert planned(SNAPSHOT, added, registered_only=False)["moves"] == 6
    with pytest.raises(RefusedError) as error:
        planned(SNAPSHOT, added, registered_only=True)
    assert error.value.violations == ["add: broker 4 is not registered; start it first"]


def test_a_file_is_a_snapshot_or_an_error_that_names_it(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.json"
    path.write_text(json.dumps(SNAPSHOT))
    assert planned(snapshot_of_file(str(path)), {**DEFAULTS, "drain": [1]}, registered_only=False)["moves"] == 6
    path.write_text("{")
    with pytest.raises(StreamopsError, match=r"snapshot .*snapshot\.json: cannot be read as JSON"):
        snapshot_of_file(str(path))

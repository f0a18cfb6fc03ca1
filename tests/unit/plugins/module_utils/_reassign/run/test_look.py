# SPDX-License-Identifier: GPL-3.0-or-later
"""Write rates from two looks; what is said of a reassignment when it has ended."""

from __future__ import annotations

import random
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import decided
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.look import (
    Sample,
    rows_of,
    verdict,
    with_coming,
    with_rates,
    write_rates,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import Schedule

KEY = ("t", 0)


@pytest.mark.parametrize(
    ("offsets", "sizes", "rate"),
    [
        ((100, 200), (1000, 2000), 100.0),
        ((100, 100), (1000, 1500), 0.0),  # Nothing was written: it grew by something else.
        ((100, 200), (2000, 1000), 50.0),  # Retention deleted meanwhile: 100 records of 5 bytes on the average.
        ((100, 200), (1000, 1000), 50.0),
        ((0, 0), (0, 0), 0.0),
    ],
)
def test_growth_counts_and_records_where_the_log_did_not_grow(
    offsets: tuple[int, int], sizes: tuple[int, int], rate: float
) -> None:
    first, second = (Sample(10.0 * n, {KEY: offsets[n]}, {KEY: sizes[n]}) for n in (0, 1))
    assert write_rates(first, second) == {KEY: rate}


def test_partitions_that_one_look_does_not_know_have_no_rate() -> None:
    assert write_rates(Sample(0, {}, {}), Sample(10, {KEY: 5}, {KEY: 5})) == {}


def test_rates_are_put_into_a_snapshot_without_touching_it() -> None:
    snapshot = {"nodes": [], "topics": [{"name": "t", "partitions": [{"partition": 0}, {"partition": 1}]}]}
    found = with_rates(snapshot, {KEY: 7.5})
    assert found["topics"][0]["partitions"] == [{"partition": 0, "write_rate": 7.5}, {"partition": 1}]
    assert snapshot["topics"][0]["partitions"] == [{"partition": 0}, {"partition": 1}]


def test_brokers_that_are_yet_to_be_started_take_part_in_a_plan_and_known_ones_stay_as_they_are() -> None:
    known = [{"id": b, "fenced": False, "rack": "a", "log_dirs": []} for b in (1, 2)]
    partitions = [{"partition": p, "leader": 1, "replicas": [1, 2], "isr": [1, 2]} for p in range(6)]
    snapshot = {"nodes": known, "topics": [{"name": "t", "partitions": partitions}]}
    found = with_coming(snapshot, [{"id": 2, "rack": "z"}, {"id": 3, "rack": "a"}])
    assert [(node["id"], node["rack"]) for node in found["nodes"]] == [(1, "a"), (2, "a"), (3, "a")]
    wish = {"rebalance": True, "concurrency": 5, "throttle": None, "disk_reserve": None}
    assert decided(snapshot, wish, registered_only=True)[0].moves == 0
    assert decided(found, wish, registered_only=True)[0].moves == 4
    assert with_coming(snapshot, []) == snapshot


# -- what is said at the end -------------------------------------------------------------------------------------

RESERVE = 0.15


def crowded(seed: int) -> dict[str, Any]:
    """A small cluster as cluster_info shows it: dead brokers, replicas that are behind, disks that are nearly full."""
    draw = random.Random(seed)
    ids = list(range(1, draw.randint(4, 8)))
    dead = {broker for broker in ids if draw.random() < 0.1}
    held = dict.fromkeys(ids, 0)
    topics = []
    for number in range(draw.randint(1, 3)):
        factor, partitions = draw.randint(1, min(3, len(ids))), []
        for index in range(draw.randint(1, 12)):
            replicas, size = draw.sample(ids, factor), draw.choice([10, 50, draw.randint(0, 300)])
            isr = [broker for broker in replicas if broker not in dead and draw.random() < 0.8] or replicas[:1]
            leader = next((broker for broker in isr if broker not in dead), None)
            row = {"partition": index, "replicas": replicas, "isr": isr, "leader": leader, "size_bytes": size}
            partitions.append(row)
            for broker in replicas:
                held[broker] += size
        topics.append({"name": f"t{number}", "partitions": partitions})
    nodes: list[dict[str, Any]] = []
    for broker in ids:
        used = held[broker] + draw.randint(0, 200)
        disk = {} if broker in dead else {"disk_used_bytes": used, "disk_total_bytes": used + draw.randint(0, 600)}
        nodes.append({"id": broker, "fenced": broker in dead, **disk})
    return {"nodes": nodes, "topics": topics}


def carried_out(snapshot: dict[str, Any], order: Schedule, record: Record) -> dict[str, Any]:
    """The cluster after all batches: every partition at its target and in sync, disks as full as that makes them."""
    targets = {row.key: row for row in record.rows}
    nodes = {node["id"]: dict(node) for node in snapshot["nodes"]}
    dead = {broker for broker, node in nodes.items() if node["fenced"]}
    topics = []
    for topic in snapshot["topics"]:
        partitions = []
        for one in topic["partitions"]:
            row = targets.get((topic["name"], one["partition"]))
            after = list(row.replicas) if row else one["replicas"]
            for brokers, sign in ((set(after) - set(one["replicas"]), 1), (set(one["replicas"]) - set(after), -1)):
                for broker in brokers - dead:
                    nodes[broker]["disk_used_bytes"] += sign * one["size_bytes"]
            isr = [broker for broker in after if broker not in dead]
            partitions.append({**one, "replicas": after, "isr": isr, "leader": isr[0] if isr else None})
        topics.append({**topic, "partitions": partitions})
    return {"nodes": list(nodes.values()), "topics": topics}


@pytest.mark.parametrize("options", [{"rebalance": True}, {"rebalance": True, "topic_spread": True}, {"drain": [1]}])
def test_a_run_that_reached_its_targets_has_succeeded_whatever_a_new_plan_says(options: dict[str, Any]) -> None:
    params = {**options, "concurrency": 3, "throttle": None, "disk_reserve": RESERVE}
    hints = refused = done = 0
    for seed in range(400):
        before = crowded(seed)
        try:
            plan, order = decided(before, params, registered_only=True)
        except RefusedError:
            continue
        record = Record(options, rows_of(plan, order))
        seen = verdict(carried_out(before, order, record), record, False, RESERVE)
        assert (seen["misplaced"], seen["misplaced_total"]) == ([], 0), seed
        hints += bool(seen["partitions_left"])
        refused += seen["partitions_left"] is None
        done += 1
    assert done > 50
    if "rebalance" in options:
        assert hints, "no cluster of these made a new plan find more to do, so the test shows nothing"
    if "topic_spread" in options:
        assert refused, "no cluster of these had no room for a new plan, so the test shows nothing"


def two_partitions(replicas: list[int]) -> dict[str, Any]:
    rows = [{"partition": n, "replicas": held, "isr": held} for n, held in enumerate(([1], replicas))]
    return {"nodes": [{"id": n} for n in (1, 2)], "topics": [{"name": "t", "partitions": rows}]}


def test_a_partition_that_was_changed_after_it_had_arrived_is_named_and_one_that_was_deleted_is_not() -> None:
    plan, order = decided(two_partitions([1]), {"rebalance": True, "concurrency": 1, "throttle": None}, True)
    record = Record({"rebalance": True}, rows_of(plan, order))
    (moved,) = record.rows
    seen = verdict(two_partitions([1]), record, False)
    assert (seen["misplaced"], seen["misplaced_total"], seen["partitions_left"]) == ([f"t-{moved.index}"], 1, 1)
    gone = {**two_partitions([1]), "topics": []}
    assert verdict(gone, record, False)["misplaced_total"] == 0


def test_while_others_move_partitions_no_new_plan_is_made() -> None:
    seen = verdict(two_partitions([1]), Record({"rebalance": True}, ()), True)
    assert (seen["moves_left"], seen["partitions_left"], seen["under_replicated"]) == (None, None, 0)

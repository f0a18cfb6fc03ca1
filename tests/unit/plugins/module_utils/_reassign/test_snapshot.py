"""Snapshots: what cluster_info returned is read, and every fault in it is told with its place."""

from __future__ import annotations

import contextlib
import copy
import json
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import Disk, LogDirs, log_dirs_of
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import (
    Broker,
    InFlight,
    Key,
    Partition,
    Snapshot,
    seen_moving,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import plan_figures
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.schedule import Limits, plan_and_schedule
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.snapshot import (
    MOST_FAULTS,
    cluster_of,
    compact,
    snapshot_of_text,
)
from tests.support.reassign_clusters import STRANGE

SNAPSHOT: dict[str, Any] = {
    "nodes": [
        {"id": 2, "rack": "b", "fenced": True},
        {"id": 1, "rack": "a", "disk_limit_bytes": 100, "disk_used_bytes": 10},
        {"id": 3, "state": "excluded", "weight": 1.5},
    ],
    "topics": [
        {"name": "b", "partitions": [{"partition": 0, "replicas": [1, 2], "isr": [1], "leader": 1, "size_bytes": 5}]},
        {
            "name": "a",
            "min_insync_replicas": 2,
            "partitions": [{"partition": 1, "replicas": [2]}, {"partition": 0, "replicas": [1]}],
        },
    ],
}


def test_a_broker_that_the_snapshot_shows_as_cordoned_gets_nothing() -> None:
    nodes = [{"id": 1, "cordoned": True}, {"id": 2, "cordoned": False}, {"id": 3, "cordoned": None}]
    nodes += [{"id": 4, "cordoned": True, "fenced": True}, {"id": 5, "cordoned": True, "state": "draining"}]
    cluster = cluster_of({"nodes": nodes, "topics": []})
    assert [broker.state for broker in cluster.brokers] == ["cordoned", "alive", "alive", "dead", "draining"]


def test_a_snapshot_becomes_ordered_columns() -> None:
    for data in (SNAPSHOT, json.loads(json.dumps(SNAPSHOT), object_hook=compact)):
        cluster = cluster_of(data)
        assert cluster.brokers == (
            BrokerSpec(1, "a", disk_limit=100, disk_used=10),
            BrokerSpec(2, "b", "dead"),
            BrokerSpec(3, None, "excluded", 1.5),
        )
        assert (cluster.topics, cluster.min_insync) == (["a", "b"], [2, 0])
        assert [cluster.name(p) for p in range(3)] == ["a-0", "a-1", "b-0"]
        assert cluster.replicas == [(1,), (2,), (1, 2)]
        assert (cluster.isr, cluster.sizes, cluster.write_rates) == ([(1,), (2,), (1,)], [0, 0, 5], None)


def test_what_cluster_info_returns_is_a_snapshot() -> None:
    seen = Snapshot(
        "id",
        1,
        (Broker(1, "h", 1, "a", False), Broker(2, "h", 2, "b", True)),
        (Partition("t", 0, None, (2, 1), (1,), 2, False),),
        None,
    )
    cluster = cluster_of(json.loads(json.dumps(describe(seen)), object_hook=compact))
    assert [broker.state for broker in cluster.brokers] == ["alive", "dead"]
    assert (cluster.replicas, cluster.isr, cluster.leaders, cluster.min_insync) == ([(2, 1)], [(1,)], [None], [2])


SEEN = Snapshot(
    "id",
    1,
    tuple(Broker(one, "h", one, None, False) for one in (1, 2, 3)),
    (Partition("t", 0, 1, (3, 2, 1), (1, 2), 2, False), Partition("t", 1, 2, (2, 3), (2, 3), 2, False)),
    None,
)
#: Of t-0 broker 3 gets what broker 1 loses.
MOVE = InFlight("t", 0, (3, 2, 1), frozenset({3}), frozenset({1}))


def read(**described: Any) -> Cluster:
    """What is planned on of a snapshot that was kept as a file."""
    return cluster_of(json.loads(json.dumps(describe(SEEN, **described)), object_hook=compact))


def test_a_partition_that_moves_is_as_it_is_when_its_move_has_ended() -> None:
    told = describe(SEEN, moving={("t", 0): MOVE})["topics"][0]["partitions"]
    assert [one.get("adding_replicas") for one in told] == [[3], None]
    assert told[0]["removing_replicas"] == [1]
    cluster = read(moving={("t", 0): MOVE})
    assert (cluster.replicas, cluster.leaders, cluster.isr) == ([(3, 2), (2, 3)], [3, 2], None)
    assert cluster.coming == {0: (3,)}


def test_no_plan_undoes_or_repeats_a_move_under_way() -> None:
    cluster = read(moving={("t", 0): MOVE})
    assert plan_moves(cluster, Spec(replication_factor={"t": 2})).changes == ()
    kept = [len(change.after) for change in plan_moves(cluster, Spec(rebalance=True)).changes]
    assert all(count == 2 for count in kept)
    assert plan_figures(plan_moves(cluster, Spec(rebalance=True)))["in_flight"] == ["t-0"]
    # The same of a snapshot as it was before moves were told: three replicas, one of which a plan would take away.
    assert plan_moves(read(), Spec(replication_factor={"t": 2})).deletions == 1
    assert read().coming == {}


@pytest.mark.parametrize(
    ("before", "after", "replicas", "moving"),
    [
        ({("t", 1)}, {("t", 1)}, (1, 2), True),
        # It began after the partitions were listed, and ended before and after they were.
        ({}, {("t", 1)}, (1, 2, 3), True),
        ({("t", 1)}, {}, (1, 2, 3), True),
        ({("t", 1)}, {}, (2, 3), False),
        # Cancelled: the partition is as it was, and nothing is told of it.
        ({("t", 1)}, {}, (1, 2), False),
        ({}, {}, (1, 2), False),
    ],
)
def test_moves_that_begin_or_end_while_a_snapshot_is_taken(
    before: set[Key], after: set[Key], replicas: tuple[int, ...], moving: bool
) -> None:
    move = InFlight("t", 1, (2, 3, 1), frozenset({3}), frozenset({1}))
    listed = [Partition("t", 1, 2, (2, 3, 1) if before and moving else replicas, (2,), 1, False)]
    found, flying = seen_moving(listed, dict.fromkeys(before, move), dict.fromkeys(after, move))
    assert ({*flying} == {("t", 1)}) is moving
    assert {*found[0].replicas} == ({1, 2, 3} if moving else {*replicas})


def test_what_is_on_its_way_takes_room_from_each_disk_that_may_get_it() -> None:
    found = describe(SEEN, moving={("t", 0): MOVE}, log_dirs={})
    disk = {"total_bytes": 150, "usable_bytes": 150, "replica_count": 1, "replica_bytes": 0}
    for node in found["nodes"]:
        node.update(disk_total_bytes=300, disk_used_bytes=0, log_dirs=[disk, {**disk, "usable_bytes": 149}])
    rows = found["topics"][0]["partitions"]
    rows[0]["size_bytes"] = rows[1]["size_bytes"] = 100
    rows[1].update(replicas=[2, 1], isr=[2, 1])
    # The 100 bytes that come to one of the disks of broker 3 leave no room for 100 more, whichever it is.
    spec = Spec(assignment=[("t", 1, (2, 3))])
    with pytest.raises(RefusedError, match="broker 3: would hold"):
        plan_and_schedule(cluster_of(found, 0.0), spec, Limits(5))
    del rows[0]["adding_replicas"], rows[0]["removing_replicas"]
    assert plan_and_schedule(cluster_of(found, 0.0), spec, Limits(5))[0].moves == 1


def test_a_snapshot_beside_a_failed_disk_moves_nothing_by_itself() -> None:
    # Directories that failed are left out of what a broker holds, and its replica there is not in sync.
    held = {1: LogDirs({("t", 0): 100}, 200, 100, (Disk(200, 100, 1, {("t", 0): 100}),)), 2: log_dirs_of([])}
    cluster = read(moving={("t", 0): MOVE}, log_dirs=held)
    assert (cluster.sizes, cluster.unsized) == ([100, 0], (1,))
    assert [broker.disk_unknown for broker in cluster.brokers] == [False, True, True]
    assert plan_moves(cluster, Spec(replication_factor={"t": 2})).changes == ()


def broken(path: list[Any], value: Any) -> dict[str, Any]:
    """The snapshot with one thing in it replaced."""
    data = copy.deepcopy(SNAPSHOT)
    here: Any = data
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (["nodes"], 3, "is not an object with lists of nodes and topics"),
        (["nodes", 0, "id"], "1", "has no id that is a whole number"),
        (["nodes", 0, "id"], 1, "broker 1 is listed more than once"),
        (["nodes", 0, "state"], "lost", "state 'lost' is not one of alive, new"),
        (["topics"], {}, "is not an object with lists of nodes and topics"),
        (["nodes", 0, "fenced"], "no", "nodes: broker 2: fenced 'no' is not true or false"),
        (["nodes", 0, "rack"], 0, "rack 0 is not a string"),
        (["nodes", 0, "weight"], 0, "weight 0 is not a number above 0; set state: excluded for a broker"),
        (["nodes", 0, "weight"], float("inf"), "weight inf is not a number above 0"),
        (["nodes", 0, "rack"], 7, "rack 7 is not a string; write it in quotes"),
        (["nodes", 0, "weight"], "much", "weight 'much' is not a number"),
        (["nodes", 1, "disk_limit_bytes"], -1, "must be whole numbers of bytes"),
        (["topics", 0, "name"], "a", "a topic is listed more than once"),
        (["topics", 0, "name"], None, "topics[0]: has no name"),
        (["topics", 0, "partitions"], None, "topic b: has no partitions; take the snapshot with include_partitions"),
        (["topics", 0, "partitions", 0, "partition"], None, "has no partition number"),
        (["topics", 1, "partitions", 0, "partition"], 0, "topic a: a partition is listed more than once"),
        (["topics", 0, "partitions", 0, "replicas"], [], "replicas [] are not a list of broker ids"),
        (["topics", 0, "partitions", 0, "replicas"], [1, 1], "replicas [1, 1] name a broker more than once"),
        (["topics", 0, "partitions", 0, "isr"], [9], "isr [9] is not a part of its replicas"),
        (["topics", 0, "partitions", 0, "isr"], 1, "topic b: partition 0: isr 1 is not a part of its replicas [1, 2]"),
        (["topics", 0, "partitions", 0, "leader"], 3, "leader 3 is neither null nor one of its replicas [1, 2]"),
        (["topics", 0, "partitions", 0, "leader"], "1", "leader '1' is neither null nor one of its replicas"),
        (["topics", 0, "partitions", 0, "partition"], -1, "has no partition number"),
        (["topics", 0, "partitions", 0, "replicas"], [-1], "replicas [-1] are not a list of broker ids"),
        (["topics", 0, "partitions", 0, "size_bytes"], "5 MB", "size_bytes '5 MB' is not a whole number of bytes"),
        (["topics", 0, "partitions", 0, "write_rate"], -1, "write_rate -1 is not a number of bytes per second"),
        (["topics", 0, "partitions", 0, "adding_replicas"], [3], "adding_replicas [3] are not a part of its replicas"),
        (["topics", 0, "partitions", 0, "removing_replicas"], 1, "removing_replicas 1 are not a part of its replicas"),
        (["topics", 0, "partitions", 0, "removing_replicas"], [1, 2], "removing_replicas [1, 2] are all of its"),
        (["topics", 1, "min_insync_replicas"], "2", "min_insync_replicas '2' is not a whole number"),
    ],
)
def test_a_fault_in_a_snapshot_is_told_with_its_place(path: list[Any], value: Any, why: str) -> None:
    for data in (broken(path, value), json.loads(json.dumps(broken(path, value)), object_hook=compact)):
        with pytest.raises(RefusedError) as error:
            cluster_of(data)
        assert why in "\n".join(error.value.violations)


def test_of_many_faults_some_are_told_and_the_others_counted() -> None:
    rows = [{"partition": n, "replicas": []} for n in range(MOST_FAULTS + 7)]
    with pytest.raises(RefusedError) as error:
        cluster_of({"nodes": [{"id": 1}], "topics": [{"name": "t", "partitions": rows}]})
    assert len(error.value.violations) == MOST_FAULTS + 1
    assert error.value.violations[-1] == "and 7 more like these"


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document, as the steps that lead there."""
    inner = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [path, *(place for step, found in inner for place in places(found, (*path, step)))]


@pytest.mark.parametrize("place", [place for place in places(SNAPSHOT) if place], ids=str)
def test_whatever_stands_in_any_place_is_read_or_refused(place: tuple[Any, ...]) -> None:
    for value in STRANGE:
        text = json.dumps(broken(list(place), value))
        for data in (json.loads(text), snapshot_of_text(text, "file")):
            with contextlib.suppress(RefusedError):
                cluster_of(data)


def test_a_text_that_is_not_json_is_refused_by_name() -> None:
    with pytest.raises(StreamopsError, match=r"snapshot old\.json: cannot be read as JSON"):
        snapshot_of_text("{", "old.json")

"""A cluster in a picture: the form of the report of a status, with the sizes of topics."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import InFlight, Key
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits, State
from ansible_collections.streamops.kafka.plugins.plugin_utils.reports.status_data import cluster_part
from page.cluster import cluster_of, given_of, moves_of
from page.expected import Expected

NODE = {"host": "kafka1", "node_id": 1, "roles": ["broker"]}
GROUPS = {"groups": [{"name": "g", "lag": 6}], "silent_brokers": [], "lag": 6, "lag_unknown": 0}


def topic(name: str, *sizes: int | None) -> dict[str, Any]:
    return {"name": name, "partitions": [{"partition": at, "size_bytes": size} for at, size in enumerate(sizes)]}


def health(*topics: dict[str, Any]) -> dict[str, Any]:
    return {"status": "OK", "findings": [], "cluster": {"cluster_id": "x", "nodes": [{"id": 1}], "topics": topics}}


def test_it_is_what_the_report_has_and_groups_are_the_same_objects() -> None:
    seen = health(topic("orders", 5, 7))
    expected = Expected([{**NODE, "version": "4.3.1"}], Limits())
    found = cluster_of("orders", ["kafka1:9092"], expected, seen, GROUPS)
    wanted = cluster_part("orders", ["kafka1:9092"], expected.nodes, seen, seen["cluster"], GROUPS)
    assert {**found, "topics": None} == {**wanted, "topics": None}
    assert found["groups"]["known"]
    assert found["groups"]["groups"][0] is GROUPS["groups"][0]
    assert found["topics"] == [{**wanted["topics"][0], "size_bytes": 12}]
    assert found["ensemble"] is None


def test_a_topic_of_which_a_part_is_unknown_has_no_size() -> None:
    topics = [topic("a", 5, None), topic("b"), {"name": "c", "partitions": [{"partition": 0}]}]
    found = cluster_of("orders", [], Expected(), health(*topics), GROUPS)
    assert [one["size_bytes"] for one in found["topics"]] == [None, 0, None]


def test_partitions_share_equal_lists_of_brokers() -> None:
    some = [{"partition": at, "size_bytes": 1, "replicas": [1, 2, 3], "isr": isr}
            for at, isr in enumerate(([1, 2, 3], [1, 2]))]  # fmt: skip
    found = cluster_of("orders", [], Expected(), health({"name": "a", "partitions": some}), GROUPS)
    first, second = found["topics"][0]["partitions"]
    assert [first, second] == some
    assert first["replicas"] is first["isr"] is second["replicas"]


def test_versions_are_those_of_the_inventory_as_far_as_it_names_them() -> None:
    given = given_of(Expected([{**NODE, "version": "4.3.1"}, {**NODE, "host": "kafka2", "node_id": 2}], Limits()))
    assert given["versions"] == {"kafka1": "4.3.1", "kafka2": None}
    assert cluster_of("orders", [], Expected([NODE]), health(), GROUPS)["inventory"] == [{**NODE, "version": None}]


INFO = {"topics": [{"name": "orders", "partitions": [{"partition": 0, "size_bytes": 900}]}, {"name": "untold"}]}


def flying(topic: str, index: int, replicas: list[int], adding: set[int], removing: set[int]) -> dict[Key, InFlight]:
    return {(topic, index): InFlight(topic, index, tuple(replicas), frozenset(adding), frozenset(removing))}


def moved(copied: dict[int, int], moving: dict[Key, InFlight], **more: Any) -> list[dict[str, Any]]:
    found = moves_of(State(INFO, in_flight=moving, copied=dict.fromkeys(moving, copied), **more))
    return list(found["partitions"])


def test_a_move_says_where_from_where_to_and_what_the_slowest_new_broker_has() -> None:
    moving = flying("orders", 0, [4, 5, 1, 2], {4, 5}, {1})
    assert moved({4: 700, 5: 300}, moving) == [
        {"topic": "orders", "partition": 0, "from": [1, 2], "to": [4, 5, 2], "adding": [4, 5], "removing": [1],
         "size_bytes": 900, "copied_bytes": 300},
    ]  # fmt: skip


def test_what_one_new_broker_has_not_told_is_unknown_and_so_is_a_size() -> None:
    assert moved({4: 700}, flying("orders", 0, [4, 5, 1], {4, 5}, {1}))[0]["copied_bytes"] is None
    gone = moved({4: 7}, flying("deleted", 3, [4, 1], {4}, {1}))[0]
    assert (gone["size_bytes"], gone["copied_bytes"]) == (None, 7)


def test_a_move_that_only_removes_copies_nothing() -> None:
    assert moved({}, flying("orders", 0, [1, 2], set(), {2}))[0]["copied_bytes"] is None


def test_no_move_and_no_answer_are_not_the_same() -> None:
    throttle = {"kind": "broker", "name": "4", "key": "k", "value": "v"}
    none = moves_of(State(INFO, in_flight={}, recorded=3, throttles=[throttle]))
    assert none == {"known": True, "partitions": [], "recorded": 3, "throttles": [throttle]}
    assert not moves_of(State(INFO, in_flight=None))["known"]
    assert not moves_of(State(None))["known"]

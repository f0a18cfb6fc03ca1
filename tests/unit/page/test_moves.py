"""Moves in a picture: where from and where to, what has been copied, and what is unknown."""

from __future__ import annotations

from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import InFlight, Key
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import State
from page.moves import moves_of

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

"""Where a reader goes on: at new partitions, behind topics that were made anew, and while a leader is silent."""

from __future__ import annotations

import json
import threading
import time
from collections import namedtuple
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from canary.board import Board
from canary.config import Way, config_of
from canary.event import Event, Place
from canary.read import Reader

WAY = {"path": "a->b", "origin": "a", "writer": "a->b", "source": "a", "topic": "t", "copy": "a.t"}
Record = namedtuple("Record", "topic partition value")


class Consumer:
    """Keeps what it is told: an assignment, positions, and records for the next poll."""

    def __init__(self) -> None:
        self.at: dict[Any, int] = {}
        self.seeks: list[tuple[str, int, int]] = []
        self.coming: list[Record] = []

    def assignment(self) -> set[Any]:
        return set(self.at)

    def assign(self, places: list[Any]) -> None:
        self.at = {place: self.at.get(place, -1) for place in places}

    def seek(self, place: Any, offset: int) -> None:
        self.at[place] = offset
        self.seeks.append((*place, offset))

    def position(self, place: Any, timeout_ms: int) -> int:
        return self.at[place]

    def poll(self, timeout_ms: int) -> dict[Any, list[Record]]:
        records, self.coming = self.coming, []
        for place in self.at:
            self.at[place] += sum((one.topic, one.partition) == place for one in records)
        return {None: records} if records else {}


@pytest.fixture
def board() -> Board:
    clusters = {name: {"bootstrap_servers": [f"{name}:9092"]} for name in "ab"}
    found = Board(config_of(json.dumps({"cluster": "b", "clusters": clusters, "routes": [WAY]})), 0.0)
    found.read("b", set(), 0.0)
    return found


@pytest.fixture
def reader(board: Board) -> Reader:
    return Reader("a", Connection(("a:9092",)), board, threading.Event())


def is_ready(board: Board) -> bool:
    return board.figures(0.0).routes[0].is_ready


def event(number: int) -> bytes:
    return Event("a->b", 0, Place(1, number), round(time.time() * 1000)).value


def test_a_log_is_read_from_its_beginning_and_ready_at_its_end(reader: Reader, board: Board) -> None:
    consumer = Consumer()
    reader._assign(consumer, {("t", 0): Log(3, 5)}, 0.0)
    reader._judge()
    assert not is_ready(board)
    consumer.coming = [Record("t", 0, event(0)), Record("t", 0, event(1))]
    reader._poll(consumer)
    reader._judge()
    assert consumer.seeks == [("t", 0, 3)]
    assert is_ready(board)
    assert board.figures(0.0).routes[0].total.written == 2


def test_a_topic_that_is_not_there_yet_is_read_when_it_comes(reader: Reader, board: Board) -> None:
    consumer = Consumer()
    reader._assign(consumer, {}, 0.0)
    reader._judge()
    assert is_ready(board)
    reader._assign(consumer, {("t", 0): Log(0, 1)}, 0.0)
    assert consumer.seeks == [("t", 0, 0)]


def test_a_reader_goes_on_where_it_was_when_partitions_come(reader: Reader) -> None:
    consumer = Consumer()
    reader._assign(consumer, {("t", 0): Log(0, 0)}, 0.0)
    consumer.coming = [Record("t", 0, event(0))]
    reader._poll(consumer)
    reader._assign(consumer, {("t", 0): Log(0, 1), ("t", 1): Log(0, 0)}, 0.0)
    assert sorted(consumer.seeks[1:]) == [("t", 0, 1), ("t", 1, 0)]


def test_a_new_connection_goes_on_where_the_old_one_was(reader: Reader) -> None:
    first, second = Consumer(), Consumer()
    reader._assign(first, {("t", 0): Log(0, 1)}, 0.0)
    first.coming = [Record("t", 0, event(0))]
    reader._poll(first)
    reader._assign(second, {("t", 0): Log(0, 1)}, 0.0)
    assert second.seeks == [("t", 0, 1)]


def test_a_new_connection_must_be_read_to_the_end_that_it_finds(reader: Reader, board: Board) -> None:
    """What came while there was none counts as not seen until it is read, also where the old end was not reached."""
    reader._begin()
    reader._assign(Consumer(), {("t", 0): Log(0, 1)}, 0.0)
    reader._begin()
    consumer = Consumer()
    reader._assign(consumer, {("t", 0): Log(0, 3)}, 0.0)
    consumer.coming = [Record("t", 0, event(0))]
    reader._poll(consumer)
    reader._judge()
    assert not is_ready(board)


def test_a_cluster_is_read_as_of_the_look_that_found_its_ends(reader: Reader, board: Board) -> None:
    """A broker that is gone brings nothing either: without a look nothing was read to its end."""
    consumer = Consumer()
    reader._assign(consumer, {("t", 0): Log(0, 1)}, 100.0)
    # The goal of the first look is not reached yet, so the second sets none.
    reader._assign(consumer, {("t", 0): Log(0, 1)}, 105.0)
    consumer.coming = [Record("t", 0, event(0))]
    reader._poll(consumer)
    reader._judge()
    assert board.figures(159.0).readable["a"]
    assert not board.figures(161.0).readable["a"]
    reader._assign(consumer, {("t", 0): Log(0, 1)}, 110.0)
    reader._judge()
    assert board.figures(169.0).readable["a"]


def test_a_log_that_ends_before_the_position_is_a_new_one(reader: Reader) -> None:
    consumer = Consumer()
    reader._assign(consumer, {("t", 0): Log(0, 2)}, 0.0)
    consumer.coming = [Record("t", 0, event(0)), Record("t", 0, event(1))]
    reader._poll(consumer)
    reader._assign(consumer, {("t", 0): Log(0, 1)}, 0.0)
    assert consumer.seeks[-1] == ("t", 0, 0)


def test_a_busy_log_does_not_move_its_goal_on(reader: Reader, board: Board) -> None:
    consumer = Consumer()
    reader._assign(consumer, {("t", 0): Log(0, 1)}, 0.0)
    reader._assign(consumer, {("t", 0): Log(0, 100)}, 0.0)
    consumer.coming = [Record("t", 0, event(0))]
    reader._poll(consumer)
    reader._judge()
    assert is_ready(board)


def test_a_silent_leader_leaves_the_others_read_and_the_cluster_unreadable(reader: Reader, board: Board) -> None:
    consumer = Consumer()
    reader._silent = "no leader of t-1 answers"
    reader._assign(consumer, {("t", 0): Log(0, 1)}, 0.0)
    consumer.coming = [Record("t", 0, event(0))]
    reader._poll(consumer)
    reader._judge()
    assert not is_ready(board)
    assert board.figures(0.0).whys["a"] == "no leader of t-1 answers"
    assert board.figures(0.0).routes[0].is_ready is False
    assert board.last_place(Way(**WAY), 0) == Place(1, 0)

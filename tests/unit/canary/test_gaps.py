"""What the watch of gaps knows between looks, some of which fail, and while others write where it keeps it."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gap import PURGED, Gap
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.gaps import (
    Mark,
    Marks,
    forgotten,
    marks,
)
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log, Seen
from canary import gaps
from canary.board import Board
from canary.config import config_of

WAY = {"path": "a->b", "origin": "a", "writer": "a->b", "source": "a", "topic": "t", "copy": "a.t"}
GIVEN = {
    "cluster": "b",
    "clusters": {name: {"bootstrap_servers": [f"{name}:9092"]} for name in "ab"},
    "routes": [WAY],
    "flows": [{"source": "a", "target": "b", "topics": ["orders"]}],
}
GAP = Gap(PURGED, "orders", 0, 60, 79, seen_at="then")
ONE = ("orders", 0)


class World:
    """The topic of the target, and what the next looks find: marks, or an error."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, stored: Marks) -> None:
        self.stored, self.looks, self.is_writable = stored, list[Any](), True
        self.kept_times, self.looked = list[str](), 0
        self.board = Board(config_of(json.dumps(GIVEN)), 0.0)
        (self.flow,) = config_of(json.dumps(GIVEN)).flows
        end = threading.Event()
        self.watch = gaps.GapWatch(self.flow, Connection(("a:1",)), Connection(("b:1",)), 10, self.board, end)
        monkeypatch.setattr(gaps, "Session", self.session)
        monkeypatch.setattr(gaps, "refuse_one_cluster", lambda *_all: None)
        monkeypatch.setattr(gaps, "kept", lambda _flow, _copy: self.stored)
        monkeypatch.setattr(gaps, "looked", self.look)
        monkeypatch.setattr(gaps, "keep", self.keep)

    @contextlib.contextmanager
    def session(self, _connection: Connection) -> Iterator[None]:
        yield None

    def look(self, _flow: Any, _origin: Any, _copy: Any, before: Marks, *_more: Any) -> Marks:
        found = self.looks.pop(0)
        if isinstance(found, Exception):
            raise found
        self.looked += 1
        return marks(Seen({ONE: Log(80, 100)}, {ONE: 100}, {}), before, found, f"look {self.looked}")

    def keep(self, _flow: Any, _copy: Any, known: Marks, before: Marks) -> bool:
        if not self.is_writable:
            raise OSError("too few replicas in sync")
        if before.as_data() != self.stored.as_data():
            return False
        self.stored = Marks.of_data(json.loads(json.dumps(known.as_data())))
        self.kept_times.append(known.looked.at if known.looked else "")
        return True

    def once(self, found: Any) -> None:
        self.looks.append(found)
        self.watch._once()

    @property
    def told(self) -> list[Gap] | None:
        (one,) = self.board.figures(1.0).flows
        return None if one.gaps is None else list(one.gaps)


def of(*found: Gap) -> Marks:
    return Marks({}, {ONE: Mark(100, 100, 100)}, found)


def test_gaps_from_before_are_known_though_the_first_look_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, of(GAP))
    with pytest.raises(OSError, match="away"):
        world.once(OSError("away"))
    assert world.told == [GAP]
    world.once([])
    assert world.told == [GAP]
    assert list(world.stored.gaps) == [GAP]


def test_what_somebody_forgot_stays_forgotten_though_the_next_look_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, of())
    world.once([GAP])
    assert world.told is not None
    assert [one.first for one in world.told] == [60]
    world.stored = forgotten(world.stored)
    with pytest.raises(OSError, match="away"):
        world.once(OSError("away"))
    world.once([])
    assert world.told == []
    assert [one.forgotten for one in world.stored.gaps] == [True]


def test_what_is_found_is_told_though_it_cannot_be_kept_and_is_kept_when_it_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(monkeypatch, of())
    world.is_writable = False
    with pytest.raises(OSError, match="too few"):
        world.once([GAP])
    assert world.told is not None
    assert [one.first for one in world.told] == [60]
    world.is_writable = True
    world.once([])
    assert [one.first for one in world.stored.gaps] == [60]
    assert [one.first for one in world.told or ()] == [60]


def test_what_the_last_look_saw_is_kept_once_when_a_look_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its source may be lost: nothing later will be known of it."""
    world = World(monkeypatch, of())
    for _number in range(3):
        world.once([])
    assert world.kept_times == ["look 1"], "a look that finds nothing is kept from time to time only"
    for _number in range(2):
        with pytest.raises(OSError, match="away"):
            world.once(OSError("away"))
        world.watch._keep_last_look()
    assert world.kept_times == ["look 1", "look 3"]


def test_the_last_look_is_not_kept_over_what_another_one_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(monkeypatch, of())
    world.once([])
    world.once([])
    world.stored = of(GAP)
    world.watch._keep_last_look()
    assert world.kept_times == ["look 1"]
    assert list(world.stored.gaps) == [GAP]

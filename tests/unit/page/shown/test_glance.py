"""What comes into the small tables of an overview, in which order, and what they are cut from."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from page.filed.shelf import Report, Shelved
from page.filed.told import Told
from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.known.rates import Rate, Rates
from page.shown.glance import ROWS, busiest, furthest_behind, overview
from page.shown.sheet import Link, State, state_of
from tests.support.status_seen import broker, hurt


def state(rates: Rates | None = None, **more: Any) -> State:
    """A cluster that was seen just now."""
    one = Picture(time.time(), 0.1, 1, 3, 0, {}, [], {**hurt(), **more})
    return state_of("orders", Seen(Polls(0.0, 2), one, rates=rates or Rates()), time.time(), 300)


def test_the_busiest_topics_are_those_that_grow_by_the_most_records() -> None:
    grows = {"b": Rate(2.0), "a": Rate(2.0), "still": Rate(0.0, 0.0), "unknown": Rate(None, 9.0), "most": Rate(3.0)}
    assert busiest(state(Rates(30, grows))) == ["most", "a", "b"]
    assert busiest(state()) == []


def test_groups_are_behind_by_what_is_known_of_them() -> None:
    groups = [{"name": "none", "lag": 0, "behind": 0}, {"name": "part", "lag": 5, "behind": None},
              {"name": "unknown", "lag": None},
              {"name": "b", "lag": 0, "behind": 7}, {"name": "a", "lag": 7}]  # fmt: skip
    assert [one["name"] for one in furthest_behind(state(groups={"groups": groups}))] == ["a", "b", "part"]
    assert furthest_behind(state(groups=None)) == []


@pytest.mark.parametrize(
    ("count", "more"), [(3, None), (ROWS, None), (ROWS + 1, "1 more broker"), (9, "4 more brokers")]
)
def test_what_is_cut_says_how_many_more_there_are(count: int, more: str | None) -> None:
    many = [broker(number, disk_used_bytes=number * 10**11, log_dirs=[]) for number in range(1, count + 1)]
    nodes = [{"host": f"kafka{one['id']}", "node_id": one["id"], "roles": ["broker"]} for one in many]
    first = overview(state(brokers=many, inventory=nodes), Shelved()).glances[0]
    assert [row[0].text for row in first.table.rows] == [str(one) for one in range(count, max(0, count - ROWS), -1)]
    assert first.more == (more and Link(more, "/clusters/orders/brokers"))


def test_the_last_operations_are_the_newest_of_this_cluster() -> None:
    told = Told(kind="move", result="done", said="moved 3 partitions", clusters=("orders",))
    one = Report("key", ("orders", "a.html"), 10, 100.0, replace(told, began=100.0))
    later = replace(one, key="later", parts=("orders", "b.html"), told=replace(told, began=200.0))
    other = replace(one, key="other", parts=("audit", "c.html"), told=replace(told, clusters=("audit",)))
    last = overview(state(), Shelved([one, later, other])).glances[3].table
    assert [(row[0].link, row[0].more) for row in last.rows] == [
        ("/clusters/orders/operations/later", "1970-01-01 00:03:20 UTC"),
        ("/clusters/orders/operations/key", "1970-01-01 00:01:40 UTC"),
    ]

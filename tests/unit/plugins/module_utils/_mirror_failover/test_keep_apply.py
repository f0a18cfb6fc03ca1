# SPDX-License-Identifier: GPL-3.0-or-later
"""The surplus of a partition is copied record by record, once, also after a kill, and read back."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.status import Log
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover import keep_apply as act

TOPIC = "_streamops_surplus.2026-11-30.orders"
SOURCE, TARGET = (SimpleNamespace(name=name, connection=SimpleNamespace(request_timeout=1)) for name in ("a", "b"))
KEEPING = act.Keeping(("orders", 1), 4, 12, TOPIC, 2, ("source a", "target b"))


def record(offset: int, value: str = "") -> Any:
    """Return a record."""
    text = (value or f"v{offset}").encode()
    return SimpleNamespace(offset=offset, key=None, value=text, headers=[("h", b"1")], timestamp=1_000 + offset)


@dataclass
class Clusters:
    """The log of the source, the topic that keeps its surplus, and what is done."""

    #: Offset 7 is a marker.
    log: list[Any] = field(default_factory=lambda: [record(at) for at in range(12) if at != 7])
    there: list[Any] | None = None
    made: list[Any] = field(default_factory=list)
    fails_at: int = -1
    start: int = 0

    def visit(self, session: Any, starts: Any, ends: Any, take: Any) -> None:
        """Give records; a connection that broke brings the first twice."""
        ((key, start),) = starts.items()
        log = self.log if session is SOURCE else self.there or []
        rows = [row for row in log if start <= row.offset < ends[key]]
        for row in [*rows[:1], *rows]:
            take(row)

    def make_topic(self, session: Any, spec: Any, _seconds: float) -> None:
        """Make the topic."""
        assert session is TARGET
        self.made.append(spec)
        self.there = []

    def produce(self, topic: str, value: Any, key: Any, partition: int, **more: Any) -> None:
        """Write a record."""
        rows = self.there
        assert (topic, partition) == (TOPIC, 1)
        assert rows is not None
        if self.fails_at == len(rows):
            more["on_delivery"](SimpleNamespace(name=lambda: "MSG_SIZE_TOO_LARGE", str=lambda: "too large"), None)
            return
        made = SimpleNamespace(value=value, key=key, headers=more["headers"], timestamp=more["timestamp"])
        made.offset = len(rows)
        rows.append(made)
        more["on_delivery"](None, None)


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Clusters:
    """Two clusters without Kafka."""
    made = Clusters()
    monkeypatch.setattr(act, "visit", made.visit)
    monkeypatch.setattr(act, "make_topic", made.make_topic)
    monkeypatch.setattr(act, "copies_for", lambda _session: 3)
    monkeypatch.setattr(act, "topic_values", lambda *_arguments: {"orders": {"max.message.bytes": "2000000"}})
    monkeypatch.setattr(act, "topics_at", lambda *_arguments: {} if made.there is None else {TOPIC: [0, 1]})
    monkeypatch.setattr(act, "edges", lambda *_arguments: {(TOPIC, 1): Log(made.start, len(made.there or []))})
    producer = SimpleNamespace(produce=made.produce, poll=lambda _seconds: 0, flush=lambda _seconds: 0)
    monkeypatch.setattr(act.Writer, "_made", lambda _self: producer)
    return made


def kept(clusters: Clusters) -> list[bytes]:
    """Return the values that are kept."""
    return [row.value for row in clusters.there or []]


def test_each_record_is_kept_once_with_all_that_it_has(clusters: Clusters) -> None:
    assert act.keep(SOURCE, TARGET, KEEPING) == 7
    assert kept(clusters) == [b"v4", b"v5", b"v6", b"v8", b"v9", b"v10", b"v11"]
    assert (clusters.there or [])[0].timestamp == 1_004
    assert (clusters.there or [])[0].headers == [("h", b"1")]
    (spec,) = clusters.made
    assert (spec.partitions, spec.replication_factor) == (2, 3)
    assert spec.config["retention.ms"] == "-1"
    # Another compression may make a record larger.
    assert spec.config["max.message.bytes"] == "100000000"
    # A second run finds it all there.
    assert act.keep(SOURCE, TARGET, KEEPING) == 7
    assert len(kept(clusters)) == 7


@pytest.mark.parametrize(
    ("of_source", "of_topic"), [("1", 100_000_000), ("90000000", 180_000_000), ("2147483647", 2_147_483_647)]
)
def test_the_topic_takes_larger_records_than_its_source(
    clusters: Clusters, monkeypatch: pytest.MonkeyPatch, of_source: str, of_topic: int
) -> None:
    monkeypatch.setattr(act, "topic_values", lambda *_arguments: {"orders": {"max.message.bytes": of_source}})
    act.keep(SOURCE, TARGET, KEEPING)
    assert clusters.made[0].config["max.message.bytes"] == str(of_topic)


@pytest.mark.parametrize("number", [0, 1, 3, 6])
def test_a_copy_that_was_cut_goes_on_without_doubling(clusters: Clusters, number: int) -> None:
    clusters.fails_at = number
    with pytest.raises(RequestFailedError, match="too large"):
        act.keep(SOURCE, TARGET, KEEPING)
    assert len(kept(clusters)) == number
    clusters.fails_at = -1
    assert act.keep(SOURCE, TARGET, KEEPING) == 7
    assert len(kept(clusters)) == len(set(kept(clusters))) == 7


def test_a_topic_with_other_content_is_refused_and_left_as_it_is(clusters: Clusters) -> None:
    for there in ([record(0, "other")], [record(at, f"v{at + 4}") for at in range(2)]):
        clusters.there = there
        before = kept(clusters)
        with pytest.raises(act.OtherContentError, match=r"orders-1: .* has other records in partition 1"):
            act.keep(SOURCE, TARGET, KEEPING)
        assert kept(clusters) == before
    clusters.there = []
    clusters.start = 3
    with pytest.raises(act.OtherContentError):
        act.keep(SOURCE, TARGET, KEEPING)


def test_more_than_the_surplus_is_other_content(clusters: Clusters) -> None:
    act.keep(SOURCE, TARGET, KEEPING)
    (clusters.there or []).append(record(7, "more"))
    with pytest.raises(act.OtherContentError):
        act.keep(SOURCE, TARGET, KEEPING)

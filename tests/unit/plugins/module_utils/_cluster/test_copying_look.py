# SPDX-License-Identifier: GPL-3.0-or-later
"""What is asked of a cluster to tell who copies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster import copying_look
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.attribution import FOLLOWER_REPLICAS
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.copying_look import look_at_copying
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker, Partition, Snapshot

SESSION: Any = None


def cluster(**in_sync: Sequence[int]) -> Snapshot:
    """Return a cluster of three brokers, the first of which leads a partition of each of these topics."""
    brokers = tuple(Broker(number, "h", 1, None, False) for number in (1, 2, 3))
    partitions = (Partition(topic, 0, 1, (1, 2, 3), tuple(isr), 2, False) for topic, isr in in_sync.items())
    return Snapshot("", None, brokers, tuple(partitions), None)


def test_throttles_are_asked_for_once_as_long_as_no_other_replica_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    described: list[list[str]] = []

    def values(_session: Any, topics: Iterable[str], _names: Iterable[str]) -> dict[str, dict[str, str]]:
        described.append(list(topics))
        return {"a": {FOLLOWER_REPLICAS: "0:3"}}

    monkeypatch.setattr(copying_look, "topic_values", values)
    monkeypatch.setattr(copying_look, "_rates", lambda _session, brokers: {(3, copying_look.FOLLOWER_RATE): 7})
    monkeypatch.setattr(copying_look, "replica_sizes", lambda _session, _broker, _partitions: {("a", 0): 5})
    first = look_at_copying(SESSION, cluster(a=(1, 2), b=(1, 2)))
    later = look_at_copying(SESSION, cluster(a=(1, 2), b=(1, 2, 3)), first)
    assert described == [["a", "b"]]
    assert later.throttled == first.throttled
    assert [throttle.rate for throttle in later.throttled.values()] == [7]
    look_at_copying(SESSION, cluster(a=(1,), b=(1, 2)), first)
    assert described == [["a", "b"], ["a", "b"]]
    assert look_at_copying(SESSION, cluster(a=(1, 2, 3)), first).throttled == {}
    assert len(described) == 2

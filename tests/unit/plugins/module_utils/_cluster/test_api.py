# SPDX-License-Identifier: GPL-3.0-or-later
"""How one broker's answer about a topic is read."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from kafka.errors import KafkaTimeoutError

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    _partitions,
    cordoned_brokers,
    finalized_features,
    list_brokers,
    live_brokers,
)


def answered(index: int, leader: int) -> SimpleNamespace:
    """A partition as the protocol gives it."""
    return SimpleNamespace(partition_index=index, leader_id=leader, replica_nodes=[1, 2, 3], isr_nodes=[1, 2])


def test_partitions_are_in_order_with_their_leader_copies_and_copies_in_sync() -> None:
    topic = SimpleNamespace(name="orders", is_internal=True, partitions=[answered(1, 2), answered(0, -1)])
    first, second = _partitions(topic)
    assert (first.topic, first.index, first.leader) == ("orders", 0, None)
    assert (second.index, second.leader, second.replicas, second.isr) == (1, 2, (1, 2, 3), (1, 2))
    assert first.internal


def test_a_live_broker_is_registered_and_not_fenced() -> None:
    session = Session(Connection(("a:1",)))
    described = [
        {"broker_id": 2, "host": "b", "port": 2, "rack": None, "is_fenced": True},
        {"broker_id": 1, "host": "a", "port": 1, "rack": "r", "is_fenced": False},
    ]
    session._python_client = SimpleNamespace(describe_cluster=lambda: {"brokers": described})
    assert [(broker.id, broker.fenced) for broker in list_brokers(session)] == [(1, False), (2, True)]
    assert live_brokers(session) == [1]


def test_features_are_the_levels_that_are_finalised_and_none_where_no_epoch_is_known() -> None:
    session = Session(Connection(("a:1",)))
    described = {
        "metadata.version": {"supported": (7, 30), "finalized": (7, 21), "finalized_epoch": 9},
        "group.version": {"supported": (0, 1)},
    }
    session._python_client = SimpleNamespace(describe_features=lambda: described)
    assert finalized_features(session) == {"metadata.version": 21}
    described["metadata.version"]["finalized_epoch"] = None
    assert finalized_features(session) is None


class Cordons(Session):
    """A cluster of this level, whose brokers answer with whether each of their log directories is cordoned."""

    def __init__(self, level: int | None, cordoned: Mapping[int, Sequence[bool]]) -> None:
        super().__init__(Connection(("a:1",)))
        about = {"supported": (7, 33), "finalized": (7, level), "finalized_epoch": None if level is None else 9}
        self._python_client = SimpleNamespace(describe_features=lambda: {"metadata.version": about})
        self._cordoned, self.reached = cordoned, list[int]()
        self._all_asked = threading.Barrier(max(len(cordoned), 1), timeout=20)

    def _inside(self) -> Any:
        return SimpleNamespace(broker=lambda node: node)

    def _exchange(self, request: Any, node: int | None, seconds: float | None = None) -> Any:
        assert node is not None
        self.reached.append(node)
        self._all_asked.wait()
        if not self._cordoned[node]:
            raise KafkaTimeoutError
        sizes = {"total_bytes": 10, "usable_bytes": 5, "topics": []}
        disks = [{**sizes, "is_cordoned": cordoned} for cordoned in self._cordoned[node]]
        return SimpleNamespace(results=[SimpleNamespace(to_dict=partial(dict, disk)) for disk in disks])


def test_all_brokers_are_asked_at_the_same_time_whether_they_are_cordoned_and_silent_ones_are_left_out() -> None:
    session = Cordons(30, {1: [True, True], 2: [True, False], 3: [], 4: [False]})
    assert cordoned_brokers(session, [4, 3, 2, 1]) == {1}
    assert sorted(session.reached) == [1, 2, 3, 4]
    assert cordoned_brokers(session, []) == frozenset()


@pytest.mark.parametrize("level", [29, None])
def test_no_broker_is_asked_where_the_cluster_knows_no_cordons(level: int | None) -> None:
    session = Cordons(level, {1: [True]})
    assert cordoned_brokers(session, [1]) == frozenset()
    assert session.reached == []

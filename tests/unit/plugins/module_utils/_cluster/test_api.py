# SPDX-License-Identifier: GPL-3.0-or-later
"""How one broker's answer about a topic is read."""

from __future__ import annotations

from types import SimpleNamespace

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    _partitions,
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

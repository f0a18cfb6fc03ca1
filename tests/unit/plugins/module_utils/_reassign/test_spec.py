# SPDX-License-Identifier: GPL-3.0-or-later
"""What a spec asks for where a cluster has no racks."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Cluster, Spec
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.plan import plan_moves


def cluster(*racks: str | None) -> Cluster:
    """Brokers 1, 2, ... in these racks; broker 1 leads both partitions."""
    brokers = tuple(BrokerSpec(n, rack) for n, rack in enumerate(racks, 1))
    return Cluster(brokers, ["t"], [0], [0, 0], [0, 1], [(1, 2), (1, 2)])


def test_what_grow_topic_asks_for_is_granted_where_there_are_no_racks() -> None:
    plan = plan_moves(cluster(None, None), Spec(fix_racks=True, leaders="balance", topics=("t",)))
    assert (plan.moves, plan.leader_changes) == (0, 1)


def test_racks_alone_are_not_fixed_where_there_are_none() -> None:
    with pytest.raises(RefusedError, match="fix_racks: no broker has a rack; set broker"):
        plan_moves(cluster(None, None), Spec(fix_racks=True))


def test_some_brokers_without_a_rack_are_refused() -> None:
    with pytest.raises(RefusedError, match="brokers 2 have none while others have one"):
        plan_moves(cluster("a", None), Spec(fix_racks=True, leaders="balance"))

# SPDX-License-Identifier: GPL-3.0-or-later
"""Reassignments as Kafka lists them: replicas of before and after together, the target first."""

from __future__ import annotations

from collections import namedtuple

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import in_flight_of, named

Place = namedtuple("Place", "topic partition")


def test_target_and_original_are_what_is_left_without_removing_and_without_adding() -> None:
    listed = {Place("t", 3): {"replicas": [4, 1, 2], "adding_replicas": [4], "removing_replicas": [2]}}
    found = in_flight_of(listed)["t", 3]
    assert (found.target, found.original, found.key) == ((4, 1), (1, 2), ("t", 3))
    assert found.touched == {1, 2, 4}


def test_partitions_are_named_in_order() -> None:
    assert named([("b", 2), ("a", 10), ("a", 9)]) == ["a-9", "a-10", "b-2"]

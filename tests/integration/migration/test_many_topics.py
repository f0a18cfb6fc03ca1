# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster with 2,000 topics goes to KRaft and one step back: how long each look, step and copy takes is noted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import pytest

from tests.support.migration import STEPS, Way, phase_behind
from tests.support.modules import run_module

pytestmark = pytest.mark.full

TOPICS = 2000
#: Topics that one request makes.
BATCH = 200


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """A server of ZooKeeper, three brokers with many topics, and controllers in the inventory."""
    with Way.begun(tmp_path_factory.mktemp("many"), servers=1) as made:
        for first in range(0, TOPICS, BATCH):
            names = [f"many{number}" for number in range(first, first + BATCH)]
            topics = [{"name": name, "partitions": 1, "replication_factor": 3} for name in names]
            created = run_module("streamops.kafka.topics", {**made.connection, "topics": topics})
            assert not created["failed"], created
        made.add_controllers()
        made.cluster.playbook().ok()
        yield made


@pytest.fixture
def noted(record_property: Callable[[str, object], None]) -> Callable[[str, float], None]:
    """Keep the seconds of something for the report, and print them."""

    def note(what: str, began: float) -> None:
        seconds = round(time.monotonic() - began, 1)
        record_property(what, seconds)
        print(f"{what} with {TOPICS} topics: {seconds} s")

    return note


def is_whole(way: Way) -> None:
    """Check that each topic is there with all its replicas."""
    counts = run_module("streamops.kafka.cluster_info", way.connection)["counts"]
    assert (counts["under_replicated"], counts["offline"]) == (0, 0)
    assert counts["topics"] >= TOPICS


def test_there_and_one_step_back_under_load(way: Way, noted: Callable[[str, float], None]) -> None:
    began = time.monotonic()
    assert way.phase() == "not_begun"
    noted("look", began)
    for goal in STEPS:
        began = time.monotonic()
        with way.under_load():
            assert phase_behind(way.next()) == goal
        noted(f"step to {goal}", began)
        is_whole(way)
    began = time.monotonic()
    with way.under_load():
        assert phase_behind(way.back()) == "copied"
    noted("step back to copied", began)
    is_whole(way)


def test_and_to_the_end(way: Way, noted: Callable[[str, float], None]) -> None:
    assert phase_behind(way.next()) == "dual_write_kraft"
    began = time.monotonic()
    with way.under_load():
        assert phase_behind(way.next(kafka_migration_confirmed="finalised")) == "finalised"
    noted("step to finalised", began)
    is_whole(way)

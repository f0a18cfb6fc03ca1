# SPDX-License-Identifier: GPL-3.0-or-later
"""A failover with names that are kept, the flow back, and the failover back: each record is once in both clusters.

Both clusters next to each other, and by a line of 20 ms each way with exactly once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_failover.look import running
from tests.support.both_ways import (
    BACK,
    PARTITIONS,
    RECORDS,
    THERE,
    TOPIC,
    arrives_once,
    both_ways,
    enable,
    logs,
    write,
)
from tests.support.cluster import said, until
from tests.support.mirrored import MIRROR, Mirrored
from tests.support.modules import run_module

pytestmark = pytest.mark.full


@pytest.fixture(scope="module", params=["near", "far"])
def mirrored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """One node and a mirror in each cluster, and the flow from dc_a to dc_b."""
    is_far = request.param == "far"
    with both_ways(tmp_path_factory.mktemp("failback"), is_far) as cluster:
        assert (f":{cluster.port('a1', MIRROR)}" in cluster.start_files("mirror1")) == is_far
        yield cluster


def step(cluster: Mirrored, pair: str, stage: str) -> str:
    """Take a step of a failover, which leads to this stage; what it says."""
    given = (f"kafka_failover={pair}", "kafka_failover_step=next", "kafka_failover_operator=alice")
    words = [word for text in (*given, "kafka_failover_writers_stopped=true") for word in ("-e", text)]
    output = said(cluster.playbook("playbooks/mirror_failover.yml", *words).ok())
    assert f"Failover {pair}, {stage}" in output
    return output


def turn(cluster: Mirrored, pair: str, back: str) -> None:
    """Take all steps until the target is open."""
    for stage in ("fenced", "drained", "moved"):
        step(cluster, pair, stage)
    assert f"Flow back {back} begins at the ends of now: {PARTITIONS} partitions" in step(cluster, pair, "turned")


def exchange(cluster: Mirrored, pair: str, there: bool) -> None:
    """Disable the flow, end its failover, and enable the flow back."""
    enable(cluster, False, False)
    cluster.playbook().ok()
    step(cluster, pair, "done")
    enable(cluster, there, not there)
    cluster.playbook().ok()


def partitions_of_keys(cluster: Mirrored, place: str, source: str) -> dict[bytes, set[int]]:
    """In which partitions of the topic of positions each key of the connector that copies records stands."""
    places: dict[bytes, set[int]] = {}
    for number, log in logs(cluster, place, f"mm2-offsets.{source}.internal").items():
        for record in log:
            if record.key().startswith(b'["MirrorSourceConnector"') and b'"topic":"orders"' in record.key():
                places.setdefault(record.key(), set()).add(number)
    return places


def running_by(cluster: Mirrored, flow: dict[str, Any]) -> int:
    """How many mirrors run a flow now, as its target tells it."""
    with Session(Connection(tuple(cluster.servers(flow["target"])))) as session:
        number, unknown = running(Flow(flow["source"], flow["target"], (TOPIC,)), session)
    assert unknown == []
    return number


def test_each_record_is_once_in_both_clusters_after_a_failover_and_the_way_back(mirrored: Mirrored) -> None:
    write(mirrored, "dc_a", 0)
    arrives_once(mirrored, "dc_b", RECORDS)

    turn(mirrored, "dc_a->dc_b", "dc_b->dc_a")
    write(mirrored, "dc_b", RECORDS)
    exchange(mirrored, "dc_a->dc_b", there=False)
    arrives_once(mirrored, "dc_a", 2 * RECORDS)
    assert (running_by(mirrored, THERE), running_by(mirrored, BACK)) == (0, 1)
    # What MirrorMaker writes itself has the bytes and the place of what the step has written.
    keys = partitions_of_keys(mirrored, "dc_a", "dc_b")
    assert len(keys) == PARTITIONS
    assert all(len(places) == 1 for places in keys.values()), keys

    # The first flow has run before: its positions are moved forward.
    turn(mirrored, "dc_b->dc_a", "dc_a->dc_b")
    write(mirrored, "dc_a", 2 * RECORDS)
    exchange(mirrored, "dc_b->dc_a", there=True)
    arrives_once(mirrored, "dc_b", 3 * RECORDS)
    arrives_once(mirrored, "dc_a", 3 * RECORDS)

    # Heartbeats have a group of their own, so nobody runs what the flow back has left.
    group = {"bootstrap_servers": mirrored.servers("dc_a"), "groups": ["dc_b-heartbeats-mm2"], "offsets": False}

    def has_member() -> bool:
        """Whether the herder for heartbeats is in its group."""
        (found,) = run_module("streamops.kafka.group_info", group)["groups"]
        return bool(found["member_count"])

    until(has_member, "the herder for heartbeats", 120)
    assert (running_by(mirrored, THERE), running_by(mirrored, BACK)) == (1, 0)

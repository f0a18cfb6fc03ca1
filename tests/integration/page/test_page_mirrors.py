"""The newest records of mirrored topics, from a real broker that stands for both ends of a flow."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import TOPIC, alter_configs
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from page.core.exposition import exposition
from page.expected import Expected
from page.flow_metrics import FlowMetrics
from page.known.behind import (
    ALIVE,
    BEHIND,
    EMPTY,
    FEWER,
    IN_STEP,
    MISSING,
    NO_RECORD,
    NOT_COMPARABLE,
    SILENT,
    beat_of,
    rows_of,
)
from page.known.picture import Picture
from page.poll import BoundedSession, take
from tests.support.cluster import free_port_base
from tests.support.groups import make_topic
from tests.support.lone_broker import LoneBroker
from tests.support.metrics import missing

FLOW = Flow("a", "b", (".*",), ("not[.].*",))
HOUR = 3_600_000


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("mirrors"), free_port_base())
    one.format("MkU3OEVBNTcwNTJENDM2Qk")
    one.start()
    try:
        yield one
    finally:
        one.kill()


def write(broker: LoneBroker, topic: str, ages: list[int], partition: int = 0, transactional: bool = False) -> None:
    """Write a record for each age (ms before now) into a partition."""
    settings = {"bootstrap.servers": ",".join(broker.bootstrap_servers), "compression.type": "lz4"}
    producer = Producer({**settings, **({"transactional.id": topic} if transactional else {})})
    if transactional:
        producer.init_transactions(60)
        producer.begin_transaction()
    now = round(time.time() * 1000)
    for age in ages:
        producer.produce(topic, b"v", partition=partition, timestamp=now - age)
    assert producer.flush(60) == 0
    if transactional:
        producer.commit_transaction(60)


def seen(broker: LoneBroker, cluster: str) -> Picture:
    connection = Connection.from_params({"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 30})
    return take(cluster, connection, Expected(), 120, flows=[FLOW])


def test_both_ends_tell_how_far_a_mirror_is_behind_without_a_record_read(broker: LoneBroker) -> None:
    for topic, partitions in {
        "step": 2, "a.step": 2, "late": 2, "a.late": 2, "none": 1, "fewer": 3, "a.fewer": 2, "blank": 1, "a.blank": 1,
        "idle": 1, "a.idle": 1, "append": 1, "a.append": 1, "marked": 1, "a.marked": 1, "not.this": 1,
        "a.heartbeats": 1,
    }.items():  # fmt: skip
        make_topic(broker.bootstrap_servers, topic, partitions)
    connection = Connection.from_params({"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 30})
    with BoundedSession(connection, 60) as session:
        alter_configs(session, TOPIC, {"a.append": {"message.timestamp.type": "LogAppendTime"}})
    # The newest record is not the last one of its log.
    write(broker, "step", [HOUR, 0, 2 * HOUR])
    write(broker, "a.step", [HOUR, 5_000])
    write(broker, "late", [HOUR], 0)
    write(broker, "late", [HOUR], 1)
    write(broker, "a.late", [HOUR], 0)
    write(broker, "a.late", [3 * HOUR], 1)
    write(broker, "blank", [0])
    write(broker, "append", [0])
    write(broker, "a.append", [HOUR])
    write(broker, "marked", [HOUR])
    write(broker, "a.marked", [HOUR], transactional=True)
    write(broker, "a.heartbeats", [2_000])

    source, target = seen(broker, "a"), seen(broker, "b")
    found = {one["topic"]: one for one in rows_of(FLOW, source, target)}
    assert {name: one["state"] for name, one in found.items() if not name.startswith("a.")} == {
        "step": IN_STEP, "late": BEHIND, "none": MISSING, "fewer": FEWER, "blank": EMPTY, "idle": NO_RECORD,
        "append": NOT_COMPARABLE, "marked": IN_STEP,
    }  # fmt: skip
    assert 4 <= found["step"]["behind_seconds"] <= 20
    assert 7190 <= found["late"]["behind_seconds"] <= 7210
    assert found["late"]["partition"] == 1
    # A marker counts as a record of now, so that a mirror that writes exactly once would always be in step.
    marked = target.newest.times["a.marked"][0]
    assert isinstance(marked, int)
    assert marked > time.time() * 1000 - 60_000, "markers do not count"
    assert beat_of(FLOW, target).state == ALIVE
    # The newest records, and whether the topic that keeps drills is not there or only not shown.
    assert target.requests - 2 == take("b", connection, Expected(), 120).requests

    families = FlowMetrics([FLOW]).families({"a": source, "b": target}.get)
    assert missing("page with mirrors", [exposition(families)]) == set()

    beat = beat_of(Flow("none", "b", (".*",)), target)
    assert (beat.state, beat.at) == (SILENT, None)

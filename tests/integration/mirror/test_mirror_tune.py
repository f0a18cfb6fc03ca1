# SPDX-License-Identifier: GPL-3.0-or-later
"""A run of a tuning between two real clusters by a real MirrorMaker 2, and what is refused and left behind."""

from __future__ import annotations

import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import LOAD, Flow
from ansible_collections.streamops.kafka.plugins.module_utils._mirror_tune.names import copy_topic
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tune_properties import tune_properties
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tune_result import cores_used
from tests.support.cluster import free_port_base, until
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module

MEGABYTES = 60


@dataclass
class Pair:
    """Clusters a and b, and a folder for the mirror of a run."""

    release: Path
    folder: Path
    a: LoneBroker
    b: LoneBroker

    def tune(self, state: str, check: bool = False, **options: Any) -> dict[str, Any]:
        """What the module mirror_tune returns for the flow a->b."""
        arguments = {
            "bootstrap_servers": self.b.bootstrap_servers,
            "source_connection": {"bootstrap_servers": self.a.bootstrap_servers},
            "source": "a",
            "target": "b",
            "topics": ["orders"],
            "load_bytes": MEGABYTES * 1_000_000,
            "tasks": [1, 2],
            "options": [],
            "rounds": 1,
            "state": state,
            **options,
        }
        return run_module("streamops.kafka.mirror_tune", arguments, check=check)

    def process(self, state: str, **options: Any) -> dict[str, Any]:
        """What the module mirror_tune_process returns."""
        arguments = {"state": state, "directory": str(self.folder / "tune"), "heap_bytes": 512 << 20, **options}
        return run_module("streamops.kafka.mirror_tune_process", arguments)

    def start(self, number: int, tasks: int, seconds: int = 120) -> None:
        """The mirror of a run runs."""
        clusters = {name: {"bootstrap_servers": one.bootstrap_servers, "brokers": 1} for name, one in self.brokers}
        options = {"refresh_seconds": 60, "offset_flush_seconds": 10, "rebalance_delay_seconds": 0}
        flow = Flow("a", "b", ("orders",))
        properties = tune_properties(flow, number, tasks, {}, clusters, options, "4.3.1")
        found = self.process("started", properties=to_text(properties), release_dir=str(self.release), seconds=seconds)
        assert not found["failed"], found

    @property
    def brokers(self) -> list[tuple[str, LoneBroker]]:
        """Both, by name."""
        return [("a", self.a), ("b", self.b)]

    def topics(self) -> dict[str, list[str]]:
        """Names of topics by cluster, without Kafka's own and that of heartbeats, which every MirrorMaker makes."""
        return {
            name: sorted(set(admin(broker).list_topics(timeout=30).topics) - {"heartbeats", "__consumer_offsets"})
            for name, broker in self.brokers
        }


def admin(broker: LoneBroker) -> AdminClient:
    """The administrator of a cluster."""
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers[0]})


def create(broker: LoneBroker, name: str, partitions: int) -> None:
    """Creates a topic."""
    client = admin(broker)  # Its futures end with it.
    for future in client.create_topics([NewTopic(name, partitions, 1)]).values():
        future.result(30)


@pytest.fixture(scope="module")
def pair(kafka_release: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Both clusters run; the source has the flow's topic of three partitions."""
    release, folder, port = kafka_release("4.3.1"), tmp_path_factory.mktemp("mirror_tune"), free_port_base()
    brokers = [LoneBroker(release, folder / name, port + 10 * number) for number, name in enumerate("ab")]
    found = Pair(release, folder, *brokers)
    try:
        for broker in brokers:
            broker.format(urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))
            broker.start()
        create(found.a, "orders", 3)
        yield found
    finally:
        found.process("stopped")
        for broker in brokers:
            broker.kill()


def test_the_plan_tells_bounds_and_changes_nothing(pair: Pair) -> None:
    before = pair.topics()
    found = pair.tune("planned")
    assert not found["failed"], found
    assert found["plan"]["partitions"] == 3
    # With 40 bytes of each record of 1000 beside its value.
    assert found["plan"]["bytes"] == {"source": MEGABYTES * 1_040_000, "target": 2 * MEGABYTES * 1_040_000}
    assert found["asked"]["tasks"] == [1, 2]
    assert pair.tune("loaded", check=True)["changed"]
    assert pair.topics() == before


def test_more_than_the_disks_hold_is_refused(pair: Pair) -> None:
    found = pair.tune("loaded", load_bytes=10**12)
    assert found["failed"]
    assert "must stay free" in found["msg"]
    assert pair.topics() == {"a": ["orders"], "b": []}


def test_a_topic_with_records_of_others_is_refused_and_kept(pair: Pair) -> None:
    create(pair.a, LOAD, 1)
    producer = Producer({"bootstrap.servers": pair.a.bootstrap_servers[0]})
    producer.produce(LOAD, b"an order", b"order 1")
    assert producer.flush(30) == 0
    try:
        for state in ("planned", "loaded", "absent"):
            found = pair.tune(state)
            assert found["failed"]
            assert f"records that no tuning wrote: {LOAD}" in found["msg"]
        assert LOAD in pair.topics()["a"]
    finally:
        client = admin(pair.a)
        for future in client.delete_topics([LOAD]).values():
            future.result(30)
        until(lambda: LOAD not in pair.topics()["a"], "the deletion")


@pytest.mark.full
def test_a_run_is_measured_and_nothing_is_left(pair: Pair) -> None:
    loaded = pair.tune("loaded")
    assert not loaded["failed"], loaded
    assert loaded["records"] == MEGABYTES * 1000
    looked = pair.process("looked", addresses=pair.a.bootstrap_servers)
    assert looked["cores"] >= 1
    assert 0 < looked["round_trip"] < 1
    pair.start(1, tasks=2)
    measured = pair.tune("measured", run=1, partitions=3, records=loaded["records"])
    stopped = pair.process("stopped")
    assert measured["records"] == loaded["records"], (measured, stopped["complaints"])
    assert stopped["ran"]
    used = cores_used(stopped["samples"], stopped["samples"][0][0], stopped["samples"][-1][0])
    assert 0 < used["own"] <= used["busy"]
    assert copy_topic(1) in pair.topics()["b"]
    assert not pair.tune("absent", run=1)["failed"]
    assert pair.topics()["b"] == []
    assert not pair.tune("absent")["failed"]
    assert pair.topics() == {"a": ["orders"], "b": []}
    assert not (pair.folder / "tune").exists()


@pytest.mark.full
def test_what_a_killed_run_left_ends_by_itself_and_the_next_run_removes_it(pair: Pair) -> None:
    create(pair.a, LOAD, 1)
    create(pair.b, copy_topic(9), 1)
    pair.start(9, tasks=1, seconds=1)
    pid = int((pair.folder / "tune" / "pid").read_text().split()[0])
    until(lambda: not running(pid), "the mirror to end by itself", timeout=30)
    pair.start(10, tasks=1)
    assert running(int((pair.folder / "tune" / "pid").read_text().split()[0]))
    assert pair.process("stopped")["ran"]
    loaded = pair.tune("loaded", load_bytes=1_000_000)
    assert not loaded["failed"], loaded
    assert copy_topic(9) not in pair.topics()["b"]
    assert not pair.tune("absent")["failed"]
    assert pair.topics() == {"a": ["orders"], "b": []}


def running(pid: int) -> bool:
    """Whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False

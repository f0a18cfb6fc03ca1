# SPDX-License-Identifier: GPL-3.0-or-later
"""isr_wait against real brokers: one that stays away, one that returns, none at all."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_topics
from ansible_collections.streamops.kafka.plugins.module_utils._gate.isr import uncommitted
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import ends_at
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import TopicSpec, create_topics, delete_topics
from tests.support.cluster import Cluster, free_port_base
from tests.support.modules import run_module
from tests.support.moves import administering

TOPIC = "isr-orders"


def wait(cluster: Cluster, check: bool = False, **options: Any) -> dict[str, Any]:
    """Return the result of a wait with short intervals."""
    arguments = {"bootstrap_servers": cluster.bootstrap_servers, "interval": 2, "sample_interval": 0.5, **options}
    return run_module("streamops.kafka.isr_wait", arguments, check=check)


@pytest.fixture(scope="module")
def orders(combined: Cluster) -> Iterator[str]:
    """A topic of thirty partitions, more than a failure lists, on all three brokers."""
    topics = {"bootstrap_servers": combined.bootstrap_servers, "allow_delete": True}
    wanted = {"name": TOPIC, "partitions": 30, "replication_factor": 3}
    assert not run_module("streamops.kafka.topics", {**topics, "topics": [wanted]})["failed"]
    yield TOPIC
    run_module("streamops.kafka.topics", {**topics, "topics": [{"name": TOPIC, "state": "absent"}]})


@pytest.fixture(scope="module")
def story(combined: Cluster, orders: str) -> dict[str, dict[str, Any]]:
    """Stop kafka3 and let it return: the results of a wait that times out, of a look, and of one that is rewarded."""
    broker = combined.identities["kafka3"]
    combined.stop("kafka3")
    # stuck_after 0: what does not move is stuck at once, however slow the machine.
    timed_out = wait(combined, scope="topics", topics=[orders], timeout=5, stuck_after=0)
    looked = wait(combined, check=True, scope="own", broker=broker)
    back = threading.Timer(8, combined.start, ["kafka3"])
    back.start()
    try:
        returned = wait(combined, scope="own", broker=broker, timeout=120)
    finally:
        back.join()
    assert wait(combined, timeout=120)["in_sync"]
    return {"timed out": timed_out, "looked": looked, "returned": returned}


def test_a_cluster_in_sync_is_seen_in_several_observations_in_a_row(combined: Cluster, orders: str) -> None:
    found = wait(combined, scope="topics", topics=[orders], consecutive=4)
    assert not found["changed"]
    assert (found["in_sync"], found["wait_state"], found["partitions_done"]) == (True, "in_sync", 30)
    assert found["history"][-1]["good_observations"] >= 4


def test_a_stopped_broker_times_out_with_the_partitions_and_why(
    combined: Cluster, orders: str, story: dict[str, dict[str, Any]]
) -> None:
    found, broker = story["timed out"], combined.identities["kafka3"]
    assert found["failed"]
    assert (found["partitions_not_done"], len(found["partitions"])) == (30, 20)
    assert all(p["missing"] == [broker] for p in found["partitions"])
    assert found["brokers"] == {str(broker): "fenced"}
    assert found["wait_state"] == "stuck"
    assert f"broker {broker} is fenced: stopped" in found["msg"]
    assert f"{orders}-" in found["msg"]
    assert "and 10 more partitions" in found["msg"]
    assert len(found["history"]) == min(3, found["looks"])


@pytest.mark.full
def test_check_mode_looks_once_and_never_fails_for_a_wait(story: dict[str, dict[str, Any]]) -> None:
    found = story["looked"]
    assert (found["failed"], found["in_sync"], found["looks"]) == (False, False, 1)
    assert found["partitions_not_done"] >= 30


def test_a_broker_that_returns_ends_the_wait(story: dict[str, dict[str, Any]]) -> None:
    found = story["returned"]
    assert found["in_sync"], found
    states = [row["wait_state"] for row in found["history"]]
    assert states[0] == "waiting"
    assert states[-1] == "in_sync"
    assert found["partitions_done"] == found["partitions_total"] >= 30


def test_a_topic_that_does_not_exist_is_missed(combined: Cluster) -> None:
    found = wait(combined, scope="topics", topics=["isr-nobody"], timeout=2)
    assert found["failed"]
    assert "topic isr-nobody does not exist" in found["msg"]


@pytest.mark.full
def test_a_cluster_unreachable_from_the_beginning_is_a_clear_error() -> None:
    server = f"127.0.0.1:{free_port_base()}"
    arguments = {"bootstrap_servers": [server], "timeout": 300, "interval": 1, "start_timeout": 2}
    found = run_module("streamops.kafka.isr_wait", arguments)
    assert found["failed"]
    assert "no bootstrap server answered" in found["msg"]
    assert found["elapsed"] < 60
    looked = run_module("streamops.kafka.isr_wait", arguments, check=True)
    assert (looked["failed"], looked["wait_state"], looked["looks"]) == (True, "unreachable", 1)
    assert "no bootstrap server answered" in looked["msg"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"bootstrap_servers": ["127.0.0.1"]}, "'127.0.0.1' is not of the form host:port"),
        (
            {"bootstrap_servers": ["127.0.0.1:99999"]},
            "'127.0.0.1:99999' is not of the form host:port with a port from 1",
        ),
        (
            {"bootstrap_servers": ["127.0.0.1:9"], "sasl_username": "me", "sasl_password": "s3cret"},
            "sasl_username and sasl_password would not be used",
        ),
    ],
)
def test_bad_options_of_the_connection_are_refused_before_anything_connects(options: Any, said: str) -> None:
    for module in ("isr_wait", "cluster_info"):
        found = run_module(f"streamops.kafka.{module}", options, check=True)
        assert found["failed"]
        assert said in found["msg"]
        assert "s3cret" not in str(found)


@pytest.mark.full
def test_a_session_that_knew_a_broker_before_it_froze_asks_the_others(combined: Cluster, orders: str) -> None:
    with Session(Connection(tuple(combined.bootstrap_servers), request_timeout=10)) as session:
        list_topics(session)  # librdkafka has its connections now, and draws one of them for each look.
        for node in combined.nodes:
            with combined.frozen(node):
                for _look in range(3):
                    assert orders in list_topics(session)


@pytest.mark.full
def test_records_that_a_follower_does_not_copy_are_seen_long_before_the_isr_shrinks(
    combined: Cluster, orders: str
) -> None:
    """replica.lag.time.max.ms is 30 s; acks=all stands still meanwhile."""
    producer = Producer({"bootstrap.servers": ",".join(combined.bootstrap_servers), "acks": "1"})
    with Session(Connection(tuple(combined.bootstrap_servers), request_timeout=10)) as session:
        led = [(one.topic, one.index) for one in list_topics(session)[orders] if one.leader == 1]
        before, committed, _denied = ends_at(session, 1, led)
        assert before == committed
        with combined.frozen("kafka3"):
            for _topic, index in led:
                producer.produce(orders, b"x", partition=index)
            assert producer.flush(30) == 0
            ends, committed, _denied = ends_at(session, 1, led)
            seen = {key: (end, committed[key]) for key, end in ends.items()}
            time.sleep(1)
            _ends, later, _denied = ends_at(session, 1, led)
            isrs = {one.isr for one in list_topics(session)[orders] if one.leader == 1}
        assert uncommitted(seen, later) == sorted(led)
        assert {len(isr) for isr in isrs} == {3}
        deadline = time.monotonic() + 60
        while uncommitted(seen, ends_at(session, 1, led)[1]):
            assert time.monotonic() < deadline, "the follower went on, and what it copied is not committed"
    assert wait(combined, timeout=120)["in_sync"]


def give_back(cluster: Cluster, node: str) -> dict[str, Any]:
    """Have a broker lead what it prefers, once it has taken records of each codec."""
    broker = cluster.identities[node]
    assert wait(cluster, scope="own", broker=broker, timeout=120)["in_sync"]
    options = {"bootstrap_servers": cluster.bootstrap_servers, "broker": broker, "proves": True, "timeout": 30}
    return run_module("streamops.kafka.leader_election", options)


def led(cluster: Cluster, broker: int) -> set[tuple[str, int]]:
    """What a broker leads."""
    with administering(cluster) as admin:
        partitions = [one for found in list_topics(admin).values() for one in found]
    return {(one.topic, one.index) for one in partitions if one.leader == broker}


@pytest.fixture
def proof(combined: Cluster) -> Iterator[str]:
    """A topic as a proof has it, with a leader on each broker."""
    name = "__streamops_prove_codecs"
    ids = sorted(combined.identities.values())
    placed = [ids[at:] + ids[:at] for at in range(len(ids))]
    with administering(combined) as admin:
        assert create_topics(admin, [TopicSpec(name, len(ids), len(ids), {}, placed)]) == {name: None}
    yield name
    with administering(combined) as admin:
        delete_topics(admin, [name])


def test_a_broker_takes_a_record_of_each_codec_before_it_leads_again(
    combined: Cluster, orders: str, proof: str
) -> None:
    found = give_back(combined, "kafka3")
    assert (found["failed"], found["not_proven"]) == (False, ""), found
    assert found["codecs"] == ["none", "gzip", "snappy", "lz4", "zstd"]


def test_a_broker_that_cannot_load_a_codec_leads_no_more_than_one_partition(
    combined: Cluster, orders: str, proof: str, tmp_path: Path
) -> None:
    mount = ["mount", "-t", "tmpfs", "-o", "noexec", "tmpfs", str(tmp_path)]
    if os.geteuid() or subprocess.run(mount, check=False).returncode:
        pytest.skip("this machine does not let this user mount")
    broker = combined.identities["kafka3"]
    options = combined.directory / "config" / "kafka3" / "current" / "jvm.options"
    before = options.read_text()
    try:
        combined.stop("kafka3")
        options.write_text(f"-Djava.io.tmpdir={tmp_path}\n{before}")
        combined.start("kafka3")
        refused = give_back(combined, "kafka3")
        assert "broker 3: write a record with compression snappy to __streamops_prove_codecs-2" in refused["msg"], (
            refused
        )
        assert "mounted noexec" in refused["msg"]
        # Kafka itself gives leaders back every five minutes.
        assert led(combined, broker) <= {(proof, 2)}
    finally:
        combined.stop("kafka3")
        options.write_text(before)
        combined.start("kafka3")
        subprocess.run(["umount", str(tmp_path)], check=True)
    assert give_back(combined, "kafka3")["not_proven"] == ""
    assert len(led(combined, broker)) > 1

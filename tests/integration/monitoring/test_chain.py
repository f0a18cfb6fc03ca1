# SPDX-License-Identifier: GPL-3.0-or-later
"""What people are told of a state, from the cluster to the receiver: each mouth, in bounds, and back."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from tests.support.chain import EVALUATIONS, POLLS, Chain, TimeLine, running
from tests.support.cluster import until
from tests.support.groups import commit, produce
from tests.support.power import Disk, disk
from tests.support.runs import paused
from tests.support.states import CRITICAL, table
from tests.support.trio import IDS


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[Chain]:
    """All of it; the plays take turns on it."""
    with running(kafka_release("4.3.1"), tmp_path_factory.mktemp("chain")) as made:
        create(made, "orders", [[1, 2, 3], [2, 3, 1], [3, 1, 2]], 2)
        yield made


def create(chain: Chain, name: str, replicas: list[list[int]], least: int) -> None:
    """Create a topic with these replicas of each partition, and min.insync.replicas."""
    config = {"min.insync.replicas": str(least)}
    topic = NewTopic(name, num_partitions=len(replicas), replica_assignment=replicas, config=config)
    client = AdminClient({"bootstrap.servers": ",".join(chain.trio.bootstrap_servers)})
    client.create_topics([topic])[name].result(60)


def leaders(client: AdminClient, topic: str) -> list[int]:
    """Return the leader of each partition, -1 where it has none; nothing while a broker does not know it yet."""
    partitions = client.list_topics(topic, 10).topics[topic].partitions
    return [partition.leader for partition in partitions.values()]


def told_in_time(line: TimeLine) -> None:
    """Check the bounds of a play: polls for what the page says, and evaluations for alerts and their notification."""
    # pytest shows it with -rP: the time line of a state.
    print(line)
    late = {mouth: polls for mouth, (polls, _) in line.at.items() if mouth in ("page", "health", "metric")}
    assert max(late.values()) <= POLLS, str(line)
    alerts, told = line.at["alerts"][1], line.at["told"][1]
    page = line.at["metric"][1]
    assert max(alerts, told) <= page + EVALUATIONS, str(line)


@contextlib.contextmanager
def killed(chain: Chain, *nodes: int) -> Iterator[None]:
    """Kill these nodes, start them again however the play ends, and wait until all is at rest."""
    chain.rests()
    chain.trio.kill(*nodes)
    try:
        yield
    finally:
        chain.trio.start(*nodes)
    chain.rests()


@pytest.mark.parametrize(
    ("row", "frozen"),
    [
        ("broker frozen", [2]),
        ("two of three combined nodes frozen", [1, 3]),
        ("all brokers down", [1, 2, 3]),
    ],
)
def test_nodes_that_are_frozen_are_told_and_told_again_when_they_go_on(
    chain: Chain, row: str, frozen: list[int]
) -> None:
    chain.rests()
    with contextlib.ExitStack() as stack:
        for node in frozen:
            stack.enter_context(chain.trio.paused(node))
        line = chain.plays(table()[row])
        assert chain.status().get("status") == table()[row].says["status"]
        told_in_time(line)
    chain.trio.at_its_best()
    chain.rests()


@pytest.mark.parametrize(
    ("row", "stopped"),
    [("one broker down", [3]), ("two of three combined nodes down", [2, 3]), ("all brokers down", [1, 2, 3])],
)
def test_nodes_that_are_killed_are_told_and_told_again_when_they_are_back(
    chain: Chain, row: str, stopped: list[int]
) -> None:
    with killed(chain, *stopped):
        line = chain.plays(table()[row])
        assert chain.status().get("status") == table()[row].says["status"]
        told_in_time(line)
        if len(stopped) == len(IDS):
            # Nobody is in sync for certain once all have crashed, so who starts first leads by an unclean election
            # (KIP-966), which stands until somebody has looked.
            chain.standing = frozenset(("KafkaUncleanElection",))


def test_a_topic_without_a_leader_is_told(chain: Chain) -> None:
    create(chain, "single", [[3]], 1)
    client = AdminClient({"bootstrap.servers": ",".join(chain.trio.bootstrap_servers)})
    with killed(chain, 3):
        # A killed broker leads until its session ends (broker.session.timeout.ms): bounds count from there.
        until(lambda: leaders(client, "single") == [-1], "no leader", 60)
        told_in_time(chain.plays(table()["the only replica of a topic down"]))
    client.delete_topics(["single"])["single"].result(60)
    chain.rests()


@pytest.mark.full
def test_a_dead_node_is_told_while_55_groups_stand_still(chain: Chain) -> None:
    chain.rests()
    servers, groups = chain.trio.bootstrap_servers, [f"group-{number:02}" for number in range(55)]
    create(chain, "read", [[1, 2, 3]], 2)
    produce(servers, "read", 1, 10)
    for offset in (3, 4):
        # Prometheus has to see a commit to see later that none follows.
        for group in groups:
            commit(servers, group, {("read", 0): offset})
        query = f'query?query=kafka_consumergroup_current_offset{{topic="read"}}=={offset}'
        until(lambda query=query: len(chain.watch.ask(query)["result"]) == len(groups), f"offset {offset}", 120)
    until(lambda: len(chain.watch.summaries("KafkaGroupStopped")) == len(groups), "all groups to have stopped", 300)
    until(lambda: "KafkaGroupStopped" in chain.receiver.firing(), "what groups do to be told", 120)
    chain.trio.kill(3)
    try:
        told_in_time(chain.plays(table()["one broker down"]))
    finally:
        chain.trio.start(3)
    client = AdminClient({"bootstrap.servers": ",".join(servers)})
    client.delete_topics(["read"])["read"].result(60)
    assert not [one for one in client.delete_consumer_groups(groups).values() if one.exception(60)]
    chain.rests()


@pytest.mark.full
def test_a_prometheus_that_stands_still_ends_the_watchdog(chain: Chain) -> None:
    chain.rests()
    until(lambda: "KafkaWatchdog" in chain.receiver.firing(), "the watchdog to arrive", 120)
    with paused(chain.watch.pid):
        until(lambda: "KafkaWatchdog" not in chain.receiver.firing(), "the watchdog to end", 300)
    until(lambda: "KafkaWatchdog" in chain.receiver.firing(), "the watchdog to arrive again", 120)


@pytest.mark.full
def test_a_receiver_that_refuses_is_told_by_the_watchdog_that_stops(chain: Chain) -> None:
    until(lambda: "KafkaWatchdog" in chain.watch.firing(), "the watchdog")
    with killed(chain, 3):
        with chain.receiver.refusing():
            chain.watch.fires("KafkaNodeDown", "KafkaAlertsLost", timeout=300)
            until(lambda: "KafkaWatchdog" not in chain.watch.firing(), "the watchdog to stop", 300)
        until(lambda: "KafkaNodeDown" in chain.receiver.firing(), "what was refused to arrive", 300)
    until(lambda: "KafkaWatchdog" in chain.watch.firing(), "the watchdog to go on", 300)
    chain.rests()


def test_a_page_that_is_silent_takes_no_alert_back_and_is_told_itself(chain: Chain) -> None:
    with killed(chain, 3):
        chain.plays(table()["one broker down"])
        before = chain.watch.firing() & CRITICAL
        with chain.page.paused():
            chain.watch.fires("KafkaWatcherDown", *before, timeout=300)
            assert before <= chain.receiver.firing()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Disk]:
    """A disk of its own for the data of node 3."""
    try:
        with disk(tmp_path / "chain" / "nodes" / "3" / "data", 1600) as made:
            yield made
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"this machine lets no test mount a file system: {error}")


def fill(place: Path, left: int) -> Path:
    """Fill a disk up to so many bytes, and return the file that does."""
    ballast = place / f"ballast-{left}"
    with contextlib.suppress(OSError), ballast.open("wb") as file:  # ENOSPC
        file.write(b"x" * max(0, shutil.disk_usage(place).free - left))
    return ballast


@pytest.mark.full
def test_a_full_disk_is_told_before_and_after_its_broker_stops(
    tmp_path: Path, small: Disk, kafka_release: Callable[[str], Path]
) -> None:
    """The play of a full disk, on a chain of its own: the disk is mounted before the node is formatted."""
    release = kafka_release("4.3.1")
    # Far less than the disks of this machine have, and more than is left on the small one.
    with running(release, tmp_path / "chain", enough_disk_free_bytes=200 << 20) as chain:
        create(chain, "orders", [[1, 2, 3], [2, 3, 1], [3, 1, 2]], 2)
        chain.rests()
        nearly = fill(small.place, 80 << 20)
        full = table()["disk nearly full"]
        told_in_time(chain.plays(full))
        assert chain.status().get("status") == full.says["status"]
        # Nothing can be written any more: the broker has no other log directory, and ends.
        rest = fill(small.place, 0)
        produce(chain.trio.bootstrap_servers, "orders", 3, 5_000)
        told_in_time(chain.plays(table()["one broker down"]))
        assert chain.status().get("status") == table()["one broker down"].says["status"]
        # Room again, without a file of Kafka touched.
        nearly.unlink()
        rest.unlink()
        chain.trio.start(3)
        chain.rests()

"""What one poll of the page costs, beside asking for each end of each partition by a request of its own.

    .venv/bin/python benchmarks/poll.py --release DIR [--partitions 1000 5000 10000] [--groups 200] [--polls 3]

Starts one broker of that release on loopback in a new directory, and ends it. Its topics have 100 partitions each, its
groups have committed in 20 partitions each. For each number of partitions: seconds of a poll (median), its requests,
and CPU seconds of the poller and of the broker for one poll. Beside it the same client asks for both ends of every
partition one by one, which is what kafka_exporter does at each scrape (sarama's Client.GetOffset).
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "collections"), str(ROOT)]

from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import topics_at
from ansible_collections.streamops.kafka.plugins.module_utils._logs.api import Leaders, log_ends
from benchmarks.flight import cpu_times
from page.core.exposition import exposition
from page.expected import Expected
from page.known.metrics import families_of
from page.poll import BoundedSession, take
from tests.support.cluster import free_port_base, until
from tests.support.groups import commit
from tests.support.lone_broker import LoneBroker

EACH = 100
READ = 20
_TICKS = os.sysconf("SC_CLK_TCK")


def cpu(pid: int) -> float:
    """CPU seconds of a process so far."""
    return cpu_times(Path(f"/proc/{pid}/stat").read_text(), _TICKS)[1]


def timed(broker: int, work: Callable[[], Any]) -> tuple[float, float, float, Any]:
    """Wall seconds of a piece of work, CPU seconds of this process and of the broker, and what it returned."""
    before, began, own = cpu(broker), time.monotonic(), time.process_time()
    found = work()
    return time.monotonic() - began, time.process_time() - own, cpu(broker) - before, found


def grow(servers: list[str], partitions: int) -> None:
    """Make topics until there are so many partitions, each with a leader."""
    admin = AdminClient({"bootstrap.servers": ",".join(servers)})
    wanted = {f"bench-{number:04d}" for number in range(partitions // EACH)}
    missing = sorted(wanted - set(admin.list_topics(timeout=60).topics))
    new = [NewTopic(name, EACH, 1) for name in missing]
    for made in admin.create_topics(new, operation_timeout=120).values() if new else ():
        made.result(180)

    def led() -> bool:
        topics = admin.list_topics(timeout=60).topics
        return all(
            name in topics and all(one.leader >= 0 for one in topics[name].partitions.values()) for name in wanted
        )

    until(led, "leaders of all partitions", 300)


def one_by_one(connection: Connection) -> int:
    """Ask for both ends of every partition by a request of its own; the number of requests."""
    session = BoundedSession(connection, 3600)
    with session:
        topics = topics_at(session, None, None)
        led = {(one.topic, one.index): one.leader for some in topics.values() for one in some}
        for key in led:
            log_ends(session, Leaders(led, frozenset()), [key])
        return session.requests


def main() -> None:
    """Measure, and print a table."""
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--release", type=Path, required=True)
    words.add_argument("--partitions", type=int, nargs="+", default=[1000, 5000, 10000])
    words.add_argument("--groups", type=int, default=200)
    words.add_argument("--polls", type=int, default=3)
    asked = words.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-poll-") as directory:
        broker = LoneBroker(asked.release, Path(directory), free_port_base())
        broker.format("MkU3OEVBNTcwNTJENDM2Qk")
        broker.start()
        try:
            measure(broker, asked)
        finally:
            broker.kill()


def measure(broker: LoneBroker, asked: argparse.Namespace) -> None:
    """Print a line for each number of partitions."""
    pid = broker.pid
    assert pid is not None
    connection = Connection(tuple(broker.bootstrap_servers), request_timeout=60)
    grow(broker.bootstrap_servers, min(asked.partitions))
    for number in range(asked.groups):
        commit(broker.bootstrap_servers, f"group-{number:04d}", {("bench-0000", index): 0 for index in range(READ)})
    print("| partitions | poll | requests | CPU of the poller | of the broker | metrics | one by one | requests |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for partitions in asked.partitions:
        grow(broker.bootstrap_servers, partitions)
        time.sleep(5)
        runs = [timed(pid, lambda: take("bench", connection, Expected(), 600)) for _ in range(asked.polls)]
        wall, own, others = (statistics.median(run[at] for run in runs) for at in range(3))
        picture = runs[-1][3]
        size = len(exposition([families_of("bench", picture, 10_000_000)]))
        slow, _own, slow_broker, requests = timed(pid, lambda: one_by_one(connection))
        print(
            f"| {partitions:,} | {wall:.2f} s | {picture.requests} | {own:.2f} s | {others:.2f} s "
            f"| {size / 1e6:.1f} MB | {slow:.1f} s, {slow_broker:.1f} s of the broker | {requests:,} |",
            flush=True,
        )


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Times what flush.messages and flush.ms of a topic cost: acks=all on three combined nodes of this machine.

    benchmarks/flush.py [--rounds 3] [--records 20000]

Three topics of the same cluster (as it comes, flush.ms=1000, flush.messages=1) are written in turns: many records in
flight for the rate, then one after the other for the time until each is acknowledged. Prints markdown; the plain topic
of the same round is 1.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from confluent_kafka import Producer

from tests.support.cluster import Cluster, free_port_base
from tests.support.modules import run_module

TOPICS = {"plain": {}, "each-second": {"flush.ms": "1000"}, "each-record": {"flush.messages": "1"}}
#: Bytes of a record, and records that are sent one after the other.
SIZE, ALONE = 100, 200


def producer(cluster: Cluster) -> Producer:
    """A producer that asks for all acknowledgements."""
    servers = ",".join(cluster.bootstrap_servers)
    return Producer({"bootstrap.servers": servers, "acks": "all", "enable.idempotence": True, "linger.ms": 5})


def rate(writer: Producer, topic: str, records: int) -> float:
    """Records a second with many in flight."""
    begin = time.monotonic()
    for _ in range(records):
        writer.produce(topic, value=b"x" * SIZE)
        writer.poll(0)
    assert writer.flush(300) == 0, "not all records were acknowledged"
    return records / (time.monotonic() - begin)


def delay(writer: Producer, topic: str) -> float:
    """The median of milliseconds from a record to its acknowledgement, one record at a time."""
    found = []
    for _ in range(ALONE):
        begin = time.monotonic()
        writer.produce(topic, value=b"x" * SIZE)
        assert writer.flush(60) == 0, "a record was not acknowledged"
        found.append((time.monotonic() - begin) * 1000)
    return statistics.median(found)


def main() -> None:
    """Install, write in turns, report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", type=int, default=20000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="flush-benchmark") as folder:
        cluster = Cluster(ROOT / "inventories" / "local", Path(folder) / "c", free_port_base())
        try:
            cluster.playbook().ok()
            rows = [{"name": n, "partitions": 6, "replication_factor": 3, "config": c} for n, c in TOPICS.items()]
            made = run_module(
                "streamops.kafka.topics", {"bootstrap_servers": cluster.bootstrap_servers, "topics": rows}
            )
            assert not made["failed"], made
            writer = producer(cluster)
            for topic in TOPICS:
                rate(writer, topic, 1000)  # Connections, and brokers that have just started.
            rates = [{topic: rate(writer, topic, options.records) for topic in TOPICS} for _ in range(options.rounds)]
            delays = [{topic: delay(writer, topic) for topic in TOPICS} for _ in range(options.rounds)]
        finally:
            cluster.destroy()
    print("\n| topic | records/s | plain = 1, by round | ms to the acknowledgement | plain = 1, by round |")
    print("| --- | --- | --- | --- | --- |")
    for topic, config in TOPICS.items():
        name = next((f"`{key}={value}`" for key, value in config.items()), "as it comes")
        cells = [f"{statistics.median(one[topic] for one in rates):,.0f}", ratios(rates, topic)]
        cells += [f"{statistics.median(one[topic] for one in delays):.1f}", ratios(delays, topic)]
        print(f"| {name} | {' | '.join(cells)} |")


def ratios(rounds: list[dict[str, float]], topic: str) -> str:
    """What a topic had in each round, as a part of what the plain one had."""
    return ", ".join(f"{one[topic] / one['plain']:.2f}" for one in rounds)


if __name__ == "__main__":
    main()

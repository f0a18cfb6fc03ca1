#!/usr/bin/env python3
"""How long a partition is silent while all nodes of a cluster restart, one after the other.

    .venv/bin/python benchmarks/roll.py [--partitions 12] [--rate 400] [--rounds 2]

Three combined nodes, one topic with replication factor 3 and min.insync.replicas 2, a producer with acks=all that
writes to all partitions in turn. The silence of a partition is the longest time between two acknowledgements, so it is
never less than partitions / rate; the slowest record is the longest time from its production to its acknowledgement,
which says more where partitions are many. Compared in one run, round by round: each node stopped and started with
nothing else (its leaders stay away), then rolling_restart.yml with all leaders back at once
(kafka_leaders_step_seconds=0), and the same in growing steps. Figures of a busy machine say little: compare those of
one run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from confluent_kafka import Producer

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.cluster import Cluster, free_port_base, until
from tests.support.modules import run_module

TOPIC = "rolled"


@contextmanager
def silence(servers: list[str], partitions: int, rate: int) -> Iterator[tuple[dict[int, float], list[float]]]:
    """Produce until the block ends; then what clients felt of it, in seconds.

    Each partition's longest time between two acknowledgements, and the time of each record until it was acknowledged.
    """
    longest: dict[int, float] = {}
    waited: list[float] = []
    last: dict[int, float] = {}
    stop = threading.Event()
    options = {"bootstrap.servers": ",".join(servers), "acks": "all", "enable.idempotence": True, "linger.ms": 0}
    producer = Producer({**options, "delivery.timeout.ms": 300000})

    def acknowledged(sent: float, error: object, message: object) -> None:
        if error is not None:
            raise SystemExit(f"a record was not written: {error}")
        now, partition = time.monotonic(), message.partition()  # type: ignore[attr-defined]
        waited.append(now - sent)
        longest[partition] = max(longest.get(partition, 0.0), now - last.get(partition, now))
        last[partition] = now

    def write() -> None:
        begun, number = time.monotonic(), 0
        while not stop.is_set():
            on_delivery = partial(acknowledged, time.monotonic())
            producer.produce(TOPIC, b"x" * 100, partition=number % partitions, on_delivery=on_delivery)
            number += 1
            producer.poll(max(0.0, begun + number / rate - time.monotonic()))

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    time.sleep(10)
    longest.clear()
    waited.clear()
    yield longest, waited
    stop.set()
    thread.join()
    producer.flush()


def in_sync(cluster: Cluster) -> None:
    """Wait until every replica is in sync."""
    options = {"bootstrap_servers": cluster.bootstrap_servers, "scope": "cluster", "timeout": 300}
    found = run_module("streamops.kafka.isr_wait", options, timeout=320)
    if found.get("failed"):
        raise SystemExit(found["msg"])


def bare(cluster: Cluster) -> None:
    """Stop and start each node."""
    for node in cluster.nodes:
        cluster.stop(node)
        cluster.start(node)
        in_sync(cluster)


def rolled(step_seconds: int) -> Callable[[Cluster], None]:
    """Return a roll by the playbook."""

    def roll(cluster: Cluster) -> None:
        cluster.playbook("playbooks/rolling_restart.yml", kafka_leaders_step_seconds=step_seconds, timeout=3600).ok()

    return roll


def main() -> None:
    """Run the comparison and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, default=12)
    parser.add_argument("--rate", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    kinds = {"bare stop and start": bare, "all leaders at once": rolled(0), "in growing steps": rolled(1)}
    cluster = Cluster(ROOT / "inventories" / "local", Path(tempfile.mkdtemp(prefix="roll-")), free_port_base())
    print("| round | what | median silence of a partition | longest | slowest record | wall |")
    print("| --- | --- | --- | --- | --- | --- |")
    try:
        cluster.playbook().ok()
        wish = {"name": TOPIC, "partitions": options.partitions, "replication_factor": 3}
        config = {"min.insync.replicas": "2"}
        made = run_module(
            "streamops.kafka.topics",
            {"bootstrap_servers": cluster.bootstrap_servers, "topics": [{**wish, "config": config}]},
        )
        if made.get("failed"):
            raise SystemExit(made["msg"])
        for number in range(options.rounds):
            for name, work in kinds.items():
                until(lambda: all(cluster.alive(node) for node in cluster.nodes), "all nodes to run")
                run_module("streamops.kafka.leader_election", {"bootstrap_servers": cluster.bootstrap_servers})
                with silence(cluster.bootstrap_servers, options.partitions, options.rate) as (longest, waited):
                    began = time.monotonic()
                    work(cluster)
                    wall = time.monotonic() - began
                    time.sleep(3)
                found = sorted(longest.values())
                felt = f"{statistics.median(found):.2f} s | {found[-1]:.2f} s | {max(waited):.2f} s"
                print(f"| {number + 1} | {name} | {felt} | {wall:.0f} s |", flush=True)
    finally:
        cluster.destroy()


if __name__ == "__main__":
    main()

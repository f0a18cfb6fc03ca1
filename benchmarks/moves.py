#!/usr/bin/env python3
"""Moves on a live cluster of 3 -> 4 -> 3 brokers: bytes, predicted and real time, and what a producer feels meanwhile.

    .venv/bin/python benchmarks/moves.py [--megabytes 100] [--throttle 20000000]

Installs a cluster of its own on loopback and removes it. Each of 12 partitions holds so many megabytes, with two
replicas. Broker 4 is added and gets its share, then it is drained, each under the throttle (bytes a second) and with
an acks=all producer of 1,000 records a second at work. `at the throttle` is the physical limit: what the busiest broker
has to send or receive, over the throttle. The last row is the same producer while nothing moves.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from tests.support.cluster import Cluster, free_port_base, hosts_file, local_variables, until
from tests.support.modules import run_module
from tests.support.moves import fill
from tests.support.traffic import Ledger, producing, read_all

TOPIC, PARTITIONS, QUIET = "moved", 12, 20.0


def inventory(directory: Path) -> Path:
    """Three combined nodes and a fourth broker."""
    three: dict[str, dict[str, Any]] = {f"kafka{n}": {"kafka_node_id": n, "kafka_rack": f"r{n}"} for n in (1, 2, 3)}
    four = {**three, "kafka4": {"kafka_node_id": 4, "kafka_rack": "r4"}}
    return hosts_file(directory, {"kraft_controllers": three, "kafka_brokers": four}, local_variables())


class Gaps:
    """The longest time without a new acknowledgement, looked at every 5 ms."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger, self._known, self._since, self.longest = ledger, 0, time.monotonic(), 0.0

    def look(self) -> None:
        """Take one look."""
        now, count = time.monotonic(), len(self._ledger.acknowledged)
        if count > self._known:
            self._known, self._since = count, now
        self.longest = max(self.longest, now - self._since)


def move(cluster: Cluster, **options: Any) -> dict[str, Any]:
    """Run the module to its end."""
    given = {"bootstrap_servers": cluster.bootstrap_servers, "interval": 1, "state": "applied", **options}
    found = run_module("streamops.kafka.reassignment", given)
    if found["failed"]:
        raise SystemExit(found["msg"])
    return found


def watched(cluster: Cluster, work: Any) -> tuple[Any, float]:
    """Does something in the background while a producer writes; returns what it returned, and the longest gap."""
    with producing(cluster.bootstrap_servers, TOPIC, rate=1000) as ledger, ThreadPoolExecutor(1) as pool:
        until(lambda: len(ledger.acknowledged) > 1000, "the producer to be under way")
        gaps, future = Gaps(ledger), pool.submit(work)
        while not future.done():
            gaps.look()
            time.sleep(0.005)
        result = future.result()
    lost = ledger.lost(read_all(cluster.bootstrap_servers, TOPIC))
    if lost or ledger.failed:
        raise SystemExit(f"{len(lost)} records lost, {len(ledger.failed)} sends failed")
    return result, gaps.longest


def show(what: str, found: dict[str, Any], gap: float, throttle: int) -> None:
    """One row of the table."""
    busiest = max(max(one["bytes_in"], _sent(found, one["id"])) for one in found["brokers"])
    # The clock of the module begins before the write rate is measured.
    real = found["elapsed"] - found["sampled"]
    predicted = found["schedule"]["seconds"]
    print(
        f"| {what} | {found['moves']} (M* {found['bound']}) | {found['bytes'] / 1e6:.0f} | {busiest / throttle:.1f} "
        f"| {predicted:.1f} | {real:.1f} | {real / predicted:.2f} | {gap * 1000:.0f} |",
        flush=True,
    )


def _sent(found: dict[str, Any], broker: int) -> float:
    """What a broker sends: copies come from the leader, which is the first replica of before."""
    return float(sum(change["bytes"] for change in found["changes"] if change["from"][0] == broker))


def main() -> None:
    """Installs, measures, removes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=100, help="of each partition")
    parser.add_argument("--throttle", type=int, default=20_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="moves-benchmark") as folder:
        topics = [
            {"name": TOPIC, "partitions": PARTITIONS, "replication_factor": 2, "config": {"min.insync.replicas": 1}}
        ]
        variables = {"kafka_topics": topics}
        cluster = Cluster(inventory(Path(folder) / "inventory"), Path(folder) / "cluster", free_port_base(), variables)
        try:
            cluster.playbook().ok()
            move(cluster, drain=[4], rack_rule="none")
            fill(cluster, TOPIC, PARTITIONS, options.megabytes)
            print("| what | moves | MB | at the throttle s | predicted s | real s | ratio | longest gap ms |")
            print("| --- | --- | --- | --- | --- | --- | --- | --- |")
            for what, wish in (("3 -> 4 brokers", {"add": [{"id": 4}]}), ("4 -> 3 brokers", {"drain": [4]})):
                wanted = {**wish, "throttle": options.throttle, "sample_seconds": 5}
                found, gap = watched(cluster, lambda wanted=wanted: move(cluster, **wanted))
                show(what, {**found, "sampled": 5}, gap, options.throttle)
            _nothing, gap = watched(cluster, lambda: time.sleep(QUIET))
            print(f"| nothing moves, {QUIET:.0f} s | 0 | 0 | | | | | {gap * 1000:.0f} |")
        finally:
            cluster.destroy()


if __name__ == "__main__":
    main()

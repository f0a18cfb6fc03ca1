"""What a replica costs a broker: file handles, mapped areas and heap, empty and with data.

    .venv/bin/python benchmarks/capacity.py --bootstrap HOST:PORT,... --under DIRECTORY [--topics 5] [--partitions 200]

Needs a cluster of this machine to spare whose brokers keep their properties below DIRECTORY (./quickstart: .run/local);
creates topics that start with bench- with one replica of each partition on every broker, and deletes them. Each line is
the mean of all brokers: replicas, then per replica the file handles, the mapped areas and the bytes of live heap that
came since the line before. Live heap is what is left after a full collection (jcmd GC.run, GC.heap_info).
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import NewTopic

PREFIX = "bench-capacity-"


def brokers(under: Path) -> list[int]:
    """List the process ids of the brokers whose properties file is below a directory."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        words = path.read_bytes().decode(errors="replace").split("\0")
        if "kafka.Kafka" in words and str(under) in words[words.index("kafka.Kafka") + 1]:
            found.append(int(path.parent.name))
    return found


def cost(pid: int) -> tuple[int, int, int]:
    """Return file handles, mapped areas and bytes of live heap of a process."""
    subprocess.run(["jcmd", str(pid), "GC.run"], check=True, capture_output=True, timeout=60)
    heap = subprocess.run(["jcmd", str(pid), "GC.heap_info"], check=True, capture_output=True, text=True, timeout=60)
    used = sum(int(number) for number in re.findall(r"heap .*?used (\d+)K", heap.stdout)) * 1024
    process = Path(f"/proc/{pid}")
    return len(list((process / "fd").iterdir())), (process / "maps").read_text().count("\n"), used


def mean(pids: list[int]) -> list[float]:
    """Return the means of all brokers."""
    return [statistics.mean(column) for column in zip(*map(cost, pids), strict=True)]


def main() -> None:
    """Print one line a step."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bootstrap", required=True)
    parser.add_argument("--under", required=True, type=Path)
    parser.add_argument("--topics", type=int, default=5)
    parser.add_argument("--partitions", type=int, default=200)
    options = parser.parse_args()
    pids = brokers(options.under.resolve())
    if not pids:
        sys.exit(f"no broker of this machine has its properties below {options.under}")
    servers = options.bootstrap.split(",")
    admin = KafkaAdminClient(bootstrap_servers=servers)
    names = [f"{PREFIX}{number}" for number in range(options.topics)]
    replicas = options.topics * options.partitions
    before = mean(pids)
    print(f"{len(pids)} brokers; before: {before[0]:.0f} handles, {before[1]:.0f} areas, {before[2] / 1e6:.1f} MB live")
    try:
        for name in names:
            admin.create_topics([NewTopic(name, options.partitions, len(pids))])
        time.sleep(20)
        empty = mean(pids)
        tell("empty", replicas, before, empty)
        producer = KafkaProducer(bootstrap_servers=servers)
        for name in names:
            for partition in range(options.partitions):
                producer.send(name, b"x" * 1000, partition=partition)
        producer.flush(120)
        producer.close()
        time.sleep(5)
        tell("with a record", replicas, before, mean(pids))
    finally:
        admin.delete_topics(names)
        admin.close()


def tell(what: str, replicas: int, before: list[float], after: list[float]) -> None:
    """Print what each replica of this step costs."""
    handles, areas, heap = ((now - then) / replicas for now, then in zip(after, before, strict=True))
    print(f"{replicas} replicas {what}: {handles:.2f} handles, {areas:.2f} areas, {heap / 1e3:.1f} kB each")


if __name__ == "__main__":
    main()

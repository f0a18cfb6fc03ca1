#!/usr/bin/env python3
"""The audit of a mirror, beside a plain Spark count of the same records in the same session.

    .venv/bin/python benchmarks/mirror_audit.py [--records 1000000] [--rounds 3]      (up to 10,000,000 records)

One cluster of one node on loopback is source and target: six partitions with records of 100 bytes, keys and a header,
and a copy of them (KafkaCopy.java). Count and audit take turns, so that load and caches strike both alike. The rows are
Spark in one process with two cores, and a standalone cluster of which one or two workers of one core each are used.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession

from spark_validation.core.progress import Progress
from spark_validation.core.read import reader
from spark_validation.core.result import Result
from spark_validation.core.session import open_session
from spark_validation.mirror.config import Arguments, parse
from spark_validation.mirror.job import MirrorAudit
from tests.support.cluster import free_port_base
from tests.support.lone_broker import LoneBroker
from tests.support.mirror_copies import positions
from tests.support.releases import unpacked
from tests.support.spark import connector_jars
from tests.support.spark_cluster import SparkCluster

PARTITIONS, SIZE = 6, 100
#: Records of each side. Their times reach back three hours, and both topics take 3 GB of the temporary directory. Spark
#: needs no more memory for them than for a few: what it keeps are the sums of 1,000 cells of a minute.
MOST = 10_000_000
SOURCE, COPY, OFFSETS = "bench", "dc_a.bench", "mm2-offsets.dc_a.internal"


@dataclass
class Bench:
    """A cluster that holds a topic and its mirror."""

    directory: Path
    server: str
    records: int

    def fill(self, release: Path) -> None:
        """Writes the source, copies it, and says that a mirror has come to its end."""
        admin = AdminClient({"bootstrap.servers": self.server})
        shapes = {SOURCE: {}, COPY: {}, OFFSETS: {"cleanup.policy": "compact"}}
        wishes = [
            NewTopic(name, num_partitions=PARTITIONS, replication_factor=1, config=config)
            for name, config in shapes.items()
        ]
        for made in admin.create_topics(wishes).values():
            made.result(30)
        producer = Producer(
            {"bootstrap.servers": self.server, "linger.ms": 20, "queue.buffering.max.messages": 1000000}
        )
        # One record a millisecond, all in the past: a broker refuses times more than an hour ahead
        # (message.timestamp.after.max.ms), and keeps a record for a week.
        began = int(time.time() * 1000) - self.records
        for number in range(self.records):
            while True:
                try:
                    producer.produce(
                        SOURCE,
                        os.urandom(SIZE),
                        b"key-%d" % (number % 1000),
                        number % PARTITIONS,
                        timestamp=began + number,
                        headers=[("trace", b"%d" % number)],
                    )
                    break
                except BufferError:
                    producer.poll(0.1)
        assert producer.flush(120) == 0
        if (written := sum(self.ends(SOURCE).values())) != self.records:
            raise SystemExit(f"{SOURCE} has {written} of {self.records} records; the broker refused the others")
        self._copy(release)
        positions(self.server, OFFSETS, "dc_a", SOURCE, {index: end - 1 for index, end in self.ends(SOURCE).items()})

    def _copy(self, release: Path) -> None:
        file = self.directory / "client.properties"
        file.write_text(f"bootstrap.servers={self.server}\n")
        program = ROOT / "benchmarks" / "KafkaCopy.java"
        words = ["java", "-Xmx512m", "-cp", str(release / "libs" / "*"), str(program), str(file), str(file)]
        command = [*words, SOURCE, COPY, str(self.records)]
        subprocess.run(command, check=True, stderr=subprocess.DEVNULL, timeout=120 + self.records / 5000)

    def ends(self, topic: str) -> dict[int, int]:
        """The next offset of each partition."""
        consumer = Consumer({"bootstrap.servers": self.server, "group.id": "benchmark"})
        places = [TopicPartition(topic, index) for index in range(PARTITIONS)]
        found = {place.partition: consumer.get_watermark_offsets(place, timeout=30)[1] for place in places}
        consumer.close()
        return found

    def arguments(self) -> Arguments:
        """What the role gives the job."""
        side = {"bootstrap_servers": [self.server]}
        return parse(
            {
                "run_id": "benchmark",
                "output_dir": str(self.directory),
                "wait_seconds": 30,
                "source": {"alias": "dc_a", **side},
                "target": {"alias": "dc_b", **side},
                "position": {"offsets_topic": OFFSETS},
                "topics": [{"source": SOURCE, "target": COPY}],
            }
        )

    def count(self, session: SparkSession) -> None:
        """Reads both topics and counts."""
        ranges = {topic: {index: (0, end) for index, end in self.ends(topic).items()} for topic in (SOURCE, COPY)}
        assert reader(session, self.arguments().source)(ranges).count() == 2 * self.records

    def audit(self, session: SparkSession) -> None:
        """The whole job, without its report."""
        progress = Progress(self.directory / "progress.jsonl")
        result = Result("mirror_audit", "audit", "benchmark", 0)
        MirrorAudit(session, self.arguments(), progress, result).run()
        progress.close()
        judged = result.to_dict()
        assert judged["verdict"] == "pass", judged["checks"]
        assert judged["figures"]["total"]["records"] == self.records


def timed(work: Callable[[], None]) -> float:
    """Seconds that a call takes."""
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def row(bench: Bench, name: str, rounds: int) -> None:
    """Count and audit in turns after one of each that nobody measures, as a row of a table."""
    session = open_session("benchmark")
    counts, audits = [], []
    for turn in range(rounds + 1):
        took = timed(lambda: bench.count(session)), timed(lambda: bench.audit(session))
        if turn:
            counts.append(took[0])
            audits.append(took[1])
    session.stop()
    count, audit = statistics.median(counts), statistics.median(audits)
    each = ", ".join(f"{plain / full:.2f}" for plain, full in zip(counts, audits, strict=True))
    rates = f"{2 * bench.records / count:,.0f} | {2 * bench.records / audit:,.0f}"
    print(f"| {name} | {2 * bench.records:,} | {rates} | {count / audit:.2f} | {each} |", flush=True)


def main() -> None:
    """Start, fill, measure, remove. A row is a process of its own, since a Java machine has one Spark master."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--row", nargs=3, help=argparse.SUPPRESS, metavar=("NAME", "SERVER", "DIRECTORY"))
    options = parser.parse_args()
    if not 1 <= options.records <= MOST:
        parser.error(f"--records {options.records}: give 1 to {MOST}. Nothing was started.")
    if options.row:
        name, server, directory = options.row
        row(Bench(Path(directory), server, options.records), name, options.rounds)
        return
    with tempfile.TemporaryDirectory(prefix="mirror-audit-benchmark") as folder:
        directory = Path(folder)
        release, port = unpacked("4.3.1", directory), free_port_base()
        broker = LoneBroker(release, directory / "broker", port)
        broker.format(urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))
        broker.start()
        spark = SparkCluster(directory)
        try:
            bench = Bench(directory, broker.bootstrap_servers[0], options.records)
            bench.fill(release)
            spark.start()
            print("| Spark | records on both sides | count, records/s | audit, records/s | ratio | by round |")
            print("| --- | --- | --- | --- | --- | --- |", flush=True)
            masters = {"one process, two cores": ("local[2]", "2")}
            masters |= {f"{n} of two workers, a core each": (spark.master, f"{n}") for n in (1, 2)}
            for name, (master, cores) in masters.items():
                words = ["--row", name, bench.server, folder, "--records", str(options.records)]
                started = {
                    **os.environ,
                    "PYSPARK_PYTHON": sys.executable,
                    "PYSPARK_DRIVER_PYTHON": sys.executable,
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "PYTHONPATH": str(ROOT),
                    "PYSPARK_SUBMIT_ARGS": f"--master {master} --conf spark.cores.max={cores} "
                    f"--conf spark.executor.memory=700m --jars {','.join(connector_jars())} pyspark-shell",
                }
                script = [sys.executable, str(Path(__file__).resolve()), *words, "--rounds", str(options.rounds)]
                subprocess.run(script, env=started, check=True)
        finally:
            spark.stop()
            broker.kill()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Mirrored records a second, beside what one plain consumer and producer reach in the same run.

    .venv/bin/python benchmarks/mirror.py [--records 1000000] [--rounds 1]

Two clusters of one node each on loopback, six partitions, one MirrorMaker of two cores that starts anew for each row.
near: records of 100 bytes, a quarter of them and all of them, by a plain copy (KafkaCopy.java), by a mirror as this
collection sets it, and by one with exactly once. far: records of 1,000 bytes, a fifth as many, over a line of 100 ms
there and back (toxiproxy), from six partitions and from one; MirrorMaker as Kafka delivers it stands beside ours.
The clock is the target's: from the first batch that it appended to the last (message.timestamp.type LogAppendTime), so
that starts are left out. What arrived is counted.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text, value_text
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import read_flows
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.properties import mirror_properties
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tuning import CONSUMER, PRODUCER
from tests.support.cluster import free_port_base, until
from tests.support.line import Line, laid
from tests.support.lone_broker import LoneBroker
from tests.support.mirror import MirrorProcess
from tests.support.releases import unpacked

VERSION, TARGET = "4.3.1", "dc_b"
#: Milliseconds that each way of the long line takes.
ONE_WAY = 50


@dataclass
class Bench:
    """Two clusters, the line between them, and what rows need."""

    release: Path
    directory: Path
    source: LoneBroker
    target: LoneBroker
    line: Line
    far: str
    rest_port: int
    runs: int = 0

    def fill(self, topic: str, partitions: int, records: int, size: int) -> None:
        """Makes a topic of the source with so many records of so many bytes."""
        make(self.source, topic, partitions)
        tool = str(self.release / "bin" / "kafka-producer-perf-test.sh")
        words = ["--topic", topic, "--num-records", str(records), "--record-size", str(size), "--throughput", "-1"]
        servers = f"bootstrap.servers={self.source.bootstrap_servers[0]}"
        subprocess.run([tool, *words, "--producer-props", servers, "acks=all"], check=True, stdout=subprocess.DEVNULL)

    @contextmanager
    def run(self, partitions: int, topic: str) -> Iterator[tuple[str, str]]:
        """An alias of the source that is new, so that a mirror begins at the start, and the topic to be filled."""
        self.runs += 1
        alias = f"run{self.runs}"
        copy = f"{alias}.{topic}"
        make(self.target, copy, partitions, **{"message.timestamp.type": "LogAppendTime"})
        yield alias, copy
        delete(self.target, copy)

    def timed(self, kind: str, topic: str, partitions: int, records: int, near: bool) -> float:
        """One row: records a second."""
        server = self.source.bootstrap_servers[0] if near else self.far
        with self.run(partitions, topic) as (alias, copy):
            if kind == "plain copy":
                self.copied(server, topic, copy, records)
                count, seconds = read(self.target, copy)
            else:
                count, seconds = self.mirrored(PROPERTIES[kind](self, alias, server, topic), alias, copy, records)
        if count != records:
            raise SystemExit(f"{kind}: {count} records arrived, {records} were written")
        return records / seconds

    def copied(self, server: str, topic: str, copy: str, records: int) -> None:
        """By one consumer and one producer, tuned as those of a mirror of ours."""
        files = []
        for name, given, where in (("in", CONSUMER, server), ("out", PRODUCER, self.target.bootstrap_servers[0])):
            files.append(self.directory / f"{name}.properties")
            files[-1].write_text(to_text({**given, "bootstrap.servers": where}))
        program = ROOT / "benchmarks" / "KafkaCopy.java"
        words = ["java", "-Xmx512m", "-cp", str(self.release / "libs" / "*"), str(program), *map(str, files)]
        subprocess.run([*words, topic, copy, str(records)], check=True, stderr=subprocess.DEVNULL)

    def mirrored(self, properties: dict[str, Any], alias: str, copy: str, records: int) -> tuple[int, float]:
        """By a MirrorMaker of its own: what arrived, and the seconds."""
        texts = {key: value_text(key, value) for key, value in properties.items()}
        mirror = MirrorProcess(self.release, texts, self.directory / alias)
        mirror.start()
        try:
            with closing(Sizes(self.target, copy)) as sizes:
                until(lambda: not mirror.alive or sizes.settled(records), "the records in the target", timeout=240)
            if not mirror.alive:
                raise SystemExit(f"the mirror ended by itself:\n{mirror.log()[-3000:]}")
            return read(self.target, copy)
        finally:
            mirror.kill()


class Sizes:
    """How much is in a topic, looked at four times a second."""

    def __init__(self, broker: LoneBroker, topic: str) -> None:
        self._consumer, self._topic = client(broker), topic
        partitions = self._consumer.list_topics(topic, timeout=30).topics[topic].partitions
        self._places = [TopicPartition(topic, number) for number in partitions]
        self._known, self._since = 0, time.monotonic()

    def settled(self, records: int) -> bool:
        """Whether so many are there, and no more have come for two seconds (marks of transactions count too)."""
        time.sleep(0.25)
        found = sum(self._consumer.get_watermark_offsets(place, timeout=30)[1] for place in self._places)
        if found != self._known:
            self._known, self._since = found, time.monotonic()
        return found >= records and time.monotonic() - self._since > 2

    def close(self) -> None:
        """Ends it."""
        self._consumer.close()


def client(broker: LoneBroker) -> Consumer:
    """A reader of committed records."""
    settings = {"group.id": "benchmark", "enable.auto.commit": False, "enable.partition.eof": True}
    servers = broker.bootstrap_servers[0]
    return Consumer({**settings, "bootstrap.servers": servers, "isolation.level": "read_committed"})


def read(broker: LoneBroker, topic: str) -> tuple[int, float]:
    """How many records a topic has, and the seconds between the first and the last that was appended."""
    with closing(client(broker)) as consumer:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        count, first, last, left = 0, float("inf"), 0, len(partitions)
        while left:
            for message in consumer.consume(10000, timeout=1):
                if message.error() is not None:
                    left -= 1
                    continue
                stamp = message.timestamp()[1]
                count, first, last = count + 1, min(first, stamp), max(last, stamp)
        return count, (last - first) / 1000


def administrator(broker: LoneBroker) -> AdminClient:
    """Creates and deletes topics; says nothing about answers that nobody waits for any more."""
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers[0], "log_level": 5})


def make(broker: LoneBroker, topic: str, partitions: int, **config: str) -> None:
    """A topic of one copy."""
    admin = administrator(broker)
    wish = NewTopic(topic, num_partitions=partitions, replication_factor=1, config=config)
    admin.create_topics([wish])[topic].result(30)
    until(lambda: topic in admin.list_topics(timeout=30).topics, f"topic {topic}")


def delete(broker: LoneBroker, topic: str) -> None:
    """Takes a copy away, so that disks stay as they are."""
    admin = administrator(broker)
    with suppress(KafkaException):
        admin.delete_topics([topic])[topic].result(30)


def ours(bench: Bench, alias: str, server: str, topic: str, exactly_once: str = "disabled") -> dict[str, Any]:
    """The file that the role writes for one mirror of two cores; heartbeats would only be noise here."""
    flow = {"source": alias, "target": TARGET, "topics": [topic], "heartbeats": False, "exactly_once": exactly_once}
    servers = {alias: [server], TARGET: bench.target.bootstrap_servers}
    clusters = {name: {"bootstrap_servers": where, "brokers": 1} for name, where in servers.items()}
    seconds = {"refresh_seconds": 60, "offset_flush_seconds": 10, "rebalance_delay_seconds": 0}
    options = {**seconds, "nodes": 1, "rest": {"listener": f"http://127.0.0.1:{bench.rest_port}"}}
    return mirror_properties(read_flows([flow]), TARGET, clusters, options, VERSION)


def kafkas(bench: Bench, alias: str, server: str, topic: str) -> dict[str, Any]:
    """MirrorMaker as it comes, except for what a cluster of one node asks for."""
    copies = ("", "offset-syncs.topic.", "checkpoints.topic.", "heartbeats.topic.")
    storage = ("offset.storage.", "config.storage.", "status.storage.")
    return {
        "clusters": [alias, TARGET],
        f"{alias}.bootstrap.servers": server,
        f"{TARGET}.bootstrap.servers": bench.target.bootstrap_servers,
        f"{alias}->{TARGET}.enabled": True,
        f"{alias}->{TARGET}.topics": topic,
        "sync.topic.acls.enabled": False,
        **{f"{what}replication.factor": 1 for what in copies + storage},
    }


PROPERTIES: dict[str, Callable[..., dict[str, Any]]] = {
    "mirror": ours,
    "mirror, exactly once": lambda *given: ours(*given, exactly_once="enabled"),
    "Kafka's defaults": kafkas,
}


@contextmanager
def bench(directory: Path) -> Iterator[Bench]:
    """Both clusters up, and the line between them."""
    base, release = free_port_base(), unpacked(VERSION, directory)
    away = f"PLAINTEXT://127.0.0.1:{base},CONTROLLER://127.0.0.1:{base + 1},LINE://"
    listeners = {
        "listeners": f"{away}127.0.0.2:{base + 2}",
        "advertised.listeners": f"PLAINTEXT://127.0.0.1:{base},LINE://127.0.0.1:{base + 2}",
        "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,LINE:PLAINTEXT",
    }
    source = LoneBroker(release, directory / "source", base, **listeners)
    target = LoneBroker(release, directory / "target", base + 10)
    far = f"127.0.0.1:{base + 2}"
    with laid(directory, far, f"127.0.0.2:{base + 2}", base + 20) as line:
        line.delay(ONE_WAY)
        try:
            for broker in (source, target):
                broker.format(urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))
                broker.start()
            yield Bench(release, directory, source, target, line, far, base + 21)
        finally:
            source.kill()
            target.kill()


def rows(bench: Bench, topic: str, partitions: int, records: int, size: int, kinds: list[str], rounds: int) -> None:
    """All kinds of one setting in turns, as rows of a table; the first kind is what the ratio is to."""
    near = size == 100
    bench.fill(topic, partitions, records, size)
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            found[kind].append(bench.timed(kind, topic, partitions, records, near))
    plain = statistics.median(found[kinds[0]])
    for kind, rates in found.items():
        rate = statistics.median(rates)
        each = ", ".join(f"{one / first:.2f}" for one, first in zip(rates, found[kinds[0]], strict=True))
        way = "near" if near else f"{2 * ONE_WAY} ms"
        print(
            f"| {way} | {partitions} | {records:,} x {size} B | {kind} | {rate:,.0f} | {rate * size / 1e6:.1f} "
            f"| {rate / plain:.2f} | {each} |",
            flush=True,
        )


def main() -> None:
    """Starts, measures, removes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    options = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="mirror-benchmark") as folder, bench(Path(folder)) as both:
        print("| line | partitions | records | what | records/s | MB/s | ratio to the plain copy | by round |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        near = ["plain copy", "mirror", "mirror, exactly once"]
        for records in (options.records // 4, options.records):
            rows(both, f"near{records}", 6, records, 100, near, options.rounds)
        far = ["plain copy", "Kafka's defaults", "mirror"]
        for partitions in (6, 1):
            rows(both, f"far{partitions}", partitions, options.records // 5, 1000, far, options.rounds)
    print(f"{time.monotonic() - begun:.0f} s in all")


if __name__ == "__main__":
    main()

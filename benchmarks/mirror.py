#!/usr/bin/env python3
"""Mirrored records a second, beside what one plain consumer and producer reach in the same run.

    .venv/bin/python benchmarks/mirror.py [--records 1000000] [--rounds 1] [--only SETTINGS...] [--profile DIRECTORY]

Two clusters of one node each on loopback, six partitions, one MirrorMaker of two cores that starts anew for each row.
near: records of 100 bytes, a quarter of them and all of them, by a plain copy (KafkaCopy.java), by a mirror as this
collection sets it, and by one with exactly once. far: records of 1,000 bytes, a fifth as many, over a line of 100 ms
there and back (toxiproxy), from six partitions and from one; MirrorMaker as Kafka delivers it stands beside ours.
The clock is the target's: from the first batch that it appended to the last (message.timestamp.type LogAppendTime), so
that starts are left out. What arrived is counted.

--only: near and with all records alone, the plain copy, the mirror, and a row for each word such as
producer.linger.ms=0,tasks.max=1 (mirror_settings.py); `candidates` stands for all of its CANDIDATES, no word for none.
--profile: each plain copy and each mirror runs with Java Flight Recorder and leaves its recording and a summary of the
measured span (flight.py) in the directory; the summaries are printed behind the table. Such a run is slower: take no
figures from its table. A mirror of 3,000,000 records runs for half a minute, enough for a few thousand samples.
"""

from __future__ import annotations

import argparse
import re
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
import uuid
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "collections")]

from confluent_kafka import Consumer, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic

from ansible_collections.streamops.kafka.plugins.module_utils._core.properties import to_text, value_text
from ansible_collections.streamops.kafka.plugins.module_utils._mirror.reading import read_flows
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.properties import mirror_properties
from ansible_collections.streamops.kafka.plugins.plugin_utils.mirrors.tuning import CONSUMER, PRODUCER
from benchmarks.mirror_settings import CANDIDATES, Settings, read_settings
from benchmarks.recording import Recording
from tests.support.cluster import free_port_base, until
from tests.support.line import Line, laid
from tests.support.lone_broker import LoneBroker
from tests.support.mirror import MirrorProcess
from tests.support.releases import unpacked

VERSION, TARGET = "4.3.1", "dc_b"
#: Milliseconds that each way of the long line takes.
ONE_WAY = 50
PLAIN, MIRROR, DEFAULTS = "plain copy", "mirror", "Kafka's defaults"
#: Rows of mirrors of ours that have a name instead of their settings.
NAMED = {MIRROR: Settings(), "mirror, exactly once": Settings(exactly_once="enabled")}


@dataclass(frozen=True)
class Span:
    """Records that a topic took, and when it appended the first and the last of them (milliseconds of the epoch)."""

    records: int
    first: int
    last: int

    @property
    def seconds(self) -> float:
        """Return how long that took."""
        return (self.last - self.first) / 1000


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
    #: Where profiles are kept; without it none are made.
    profiles: Path | None = None
    runs: int = 0

    def fill(self, topic: str, partitions: int, records: int, size: int, compression: str) -> None:
        """Makes a topic of the source with so many records of so many bytes, compressed so."""
        make(self.source, topic, partitions)
        tool = str(self.release / "bin" / "kafka-producer-perf-test.sh")
        words = ["--topic", topic, "--num-records", str(records), "--record-size", str(size), "--throughput", "-1"]
        servers = f"bootstrap.servers={self.source.bootstrap_servers[0]}"
        properties = ["--producer-props", servers, "acks=all", f"compression.type={compression}"]
        subprocess.run([tool, *words, *properties], check=True, stdout=subprocess.DEVNULL)

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
            name = f"{self.runs:02}-{topic}-{re.sub('[^A-Za-z0-9.]+', '_', kind)}"
            recording = Recording(self.directory, name) if self.profiles else None
            if kind == PLAIN:
                self.copied(server, topic, copy, records, recording)
                span = read(self.target, copy)
            elif kind == DEFAULTS:
                span = self.mirrored(kafkas(self, alias, server, topic), Settings(), alias, copy, records, recording)
            else:
                settings = settings_of(kind)
                properties = settings.applied(ours(self, alias, server, topic, settings.exactly_once), alias, TARGET)
                span = self.mirrored(properties, settings, alias, copy, records, recording)
        if span.records != records:
            raise SystemExit(f"{kind}: {span.records} records arrived, {records} were written")
        if self.profiles and recording:
            recording.keep(span.first, span.last, self.profiles)
        return records / span.seconds

    def copied(self, server: str, topic: str, copy: str, records: int, recording: Recording | None) -> None:
        """By one consumer and one producer, tuned as those of a mirror of ours."""
        files = []
        for name, given, where in (("in", CONSUMER, server), ("out", PRODUCER, self.target.bootstrap_servers[0])):
            files.append(self.directory / f"{name}.properties")
            files[-1].write_text(to_text({**given, "bootstrap.servers": where}))
        program = ROOT / "benchmarks" / "KafkaCopy.java"
        recorded = [recording.option] if recording else []
        words = ["java", "-Xmx512m", *recorded, "-cp", str(self.release / "libs" / "*"), str(program)]
        command = [*words, *map(str, files), topic, copy, str(records)]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with recording.watching(process.pid) if recording else nullcontext():
                code = process.wait(timeout(records))
        finally:
            process.kill()
            process.wait(30)
        if code:
            raise SystemExit(
                f"the plain copy of {topic} failed with code {code}; run it by hand: {shlex.join(command)}"
            )

    def mirrored(
        self,
        properties: dict[str, Any],
        settings: Settings,
        alias: str,
        copy: str,
        records: int,
        recording: Recording | None,
    ) -> Span:
        """By a MirrorMaker of its own: what arrived, and when."""
        texts = {key: value_text(key, value) for key, value in properties.items()}
        java = " ".join(filter(None, [settings.java, recording.option if recording else ""]))
        mirror = MirrorProcess(self.release, texts, self.directory / alias, settings.heap, java)
        mirror.start()
        try:
            with (
                closing(Sizes(self.target, copy)) as sizes,
                recording.watching(mirror.pid or 0) if recording else nullcontext(),
            ):
                arrived = partial(sizes.settled, records)
                until(lambda: not mirror.alive or arrived(), "the records in the target", timeout=timeout(records))
            if not mirror.alive:
                raise SystemExit(f"the mirror ended by itself:\n{mirror.log()[-3000:]}")
            span = read(self.target, copy)
            if recording:
                mirror.terminate()
            return span
        finally:
            mirror.kill()


def timeout(records: int) -> float:
    """Return the seconds after which a copy of so many records is given up: a start, and 5,000 records a second."""
    return 240 + records / 5000


def settings_of(kind: str) -> Settings:
    """Return the settings of a row of a mirror of ours; raises ValueError for words that are none."""
    return NAMED.get(kind) or read_settings(kind)


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


def read(broker: LoneBroker, topic: str) -> Span:
    """How many records a topic has, and when the first and the last was appended."""
    with closing(client(broker)) as consumer:
        partitions = consumer.list_topics(topic, timeout=30).topics[topic].partitions
        consumer.assign([TopicPartition(topic, number, 0) for number in partitions])
        count, stamps, left = 0, set[int](), len(partitions)
        while left:
            for message in consumer.consume(10000, timeout=1):
                if message.error() is not None:
                    left -= 1
                    continue
                count += 1
                stamps.add(message.timestamp()[1])
        return Span(count, min(stamps), max(stamps))


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
    options = {**seconds, "nodes": 1, "rest_url": f"http://127.0.0.1:{bench.rest_port}"}
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


@contextmanager
def bench(directory: Path, profiles: Path | None) -> Iterator[Bench]:
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
            yield Bench(release, directory, source, target, line, far, base + 21, profiles)
        finally:
            source.kill()
            target.kill()


@dataclass(frozen=True)
class Load:
    """What is mirrored: partitions, records and their bytes, over which line, and how the source compressed them."""

    partitions: int
    records: int
    size: int
    near: bool
    compression: str = "none"


def rows(bench: Bench, load: Load, kinds: Sequence[str], rounds: int) -> None:
    """All kinds of one load in turns, as rows of a table; the first kind is what the ratio is to."""
    topic = f"{'near' if load.near else 'far'}-{load.partitions}-{load.records}-{load.compression}"
    bench.fill(topic, load.partitions, load.records, load.size, load.compression)
    found: dict[str, list[float]] = {kind: [] for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            found[kind].append(bench.timed(kind, topic, load.partitions, load.records, load.near))
    plain = statistics.median(found[kinds[0]])
    for kind, rates in found.items():
        rate = statistics.median(rates)
        each = ", ".join(f"{one / first:.2f}" for one, first in zip(rates, found[kinds[0]], strict=True))
        way = "near" if load.near else f"{2 * ONE_WAY} ms"
        packed = "" if load.compression == "none" else f", {load.compression}"
        print(
            f"| {way} | {load.partitions} | {load.records:,} x {load.size} B{packed} | {kind} | {rate:,.0f} "
            f"| {rate * load.size / 1e6:.1f} | {rate / plain:.2f} | {each} |",
            flush=True,
        )


def chosen(only: Sequence[str], records: int) -> dict[Load, list[str]]:
    """Return the rows of --only by their loads: records that are packed otherwise have a plain copy of their own."""
    words = [word for given in only for word in (CANDIDATES if given == "candidates" else (given,))]
    loads: dict[Load, list[str]] = {Load(6, records, 100, True): [PLAIN, MIRROR]}
    for word in words:
        load = Load(6, records, 100, True, settings_of(word).source)
        kinds = loads.setdefault(load, [PLAIN])
        kinds += [] if word in kinds else [word]
    return loads


def whole_table(records: int) -> dict[Load, list[str]]:
    """Return the rows without --only."""
    near = [Load(6, count, 100, True) for count in (records // 4, records)]
    far = [Load(partitions, records // 5, 1000, False) for partitions in (6, 1)]
    return {
        **{load: [PLAIN, *NAMED] for load in near},
        **{load: [PLAIN, DEFAULTS, MIRROR] for load in far},
    }


def main() -> None:
    """Starts, measures, removes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", nargs="*", metavar="SETTINGS")
    parser.add_argument("--profile", type=Path, metavar="DIRECTORY")
    options = parser.parse_args()
    try:
        loads = whole_table(options.records) if options.only is None else chosen(options.only, options.records)
    except ValueError as error:
        parser.error(f"--only: {error}")
    if options.profile:
        options.profile.mkdir(parents=True, exist_ok=True)
        if any(options.profile.iterdir()):
            parser.error(f"--profile: {options.profile} is not empty; give a new directory. Nothing was started.")
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="mirror-benchmark") as folder,
        bench(Path(folder), options.profile) as both,
    ):
        print("| line | partitions | records | what | records/s | MB/s | ratio to the plain copy | by round |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for load, kinds in loads.items():
            rows(both, load, kinds, options.rounds)
    for file in sorted(options.profile.glob("*.md")) if options.profile else ():
        print(f"\n## {file.stem}\n\n{file.read_text()}")
    print(f"{time.monotonic() - begun:.0f} s in all")


if __name__ == "__main__":
    main()

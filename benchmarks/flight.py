"""What a JVM did in a measured span: its recording of Java Flight Recorder and the CPU times of its threads. Pure.

The recording has samples of threads that run Java code, each 10 ms (settings `profile`), and none of the collector and
of the compilers: what these cost is in the CPU times, which the kernel counts. A sample in native code may be one of a
thread that waits; those of known waits are left out, and the rest has a table of its own.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

#: How many rows a table has at most.
TOP = 25
#: Milliseconds that an event of a wait has at least (settings `profile`).
WAIT_MS = 10
#: How names of threads begin, and their group. The kernel keeps 15 characters of a name, so none is longer, and knows
#: the thread main by the name of the program, java.
THREADS = {
    "task-thread-": "task",
    "kafka-producer-": "producer network",
    "main": "main",
    "java": "main",
    "GC Thread": "GC",
    "G1 ": "GC",
    "VM Thread": "GC",
    "C1 ": "JIT",
    "C2 ": "JIT",
    "Sweeper": "JIT",
    "JFR ": "recorder",
}
#: Threads that carry records, so that a wait of theirs is one of the mirror. All others wait for work.
_CARRIERS = ("task", "consumer poll", "producer network", "main")
_POLL = "Consumer.poll"
#: How names of methods begin, and the package that a sample counts for; the first that fits wins.
PACKAGES = {
    "org.apache.kafka.common.compress.": "compression",
    "net.jpountz.": "compression",
    "com.github.luben.": "compression",
    "org.xerial.snappy.": "compression",
    "java.util.zip.CRC32": "checksums",
    "org.apache.kafka.connect.mirror.": "connect.mirror",
    "org.apache.kafka.connect.": "connect",
    "org.apache.kafka.clients.consumer.": "clients.consumer",
    "org.apache.kafka.clients.producer.": "clients.producer",
    "org.apache.kafka.clients.": "clients",
    "org.apache.kafka.common.metrics.": "common.metrics",
    "org.apache.kafka.common.record.": "common.record",
    "org.apache.kafka.common.": "common",
    "KafkaCopy.": "the plain copy itself",
}
_NATIVE_WAITS = ("EPoll.wait", "Net.accept", "Net.poll", "Inet6AddressImpl")
#: What a JVM puts behind the class of a lambda, other in each run.
_LAMBDA = re.compile(r"(?<=\$\$Lambda)(?:[$+/]\w+)*(?:\.(?:0x)?[0-9a-f]{6,})?")


@dataclass(frozen=True)
class Event:
    """An event of a recording, as benchmarks/FlightEvents.java writes it; `frames` begin at the top."""

    kind: str
    thread: str
    amount: float
    type: str
    frames: tuple[str, ...]

    @property
    def part(self) -> str:
        """Return what it is a part of: the group of its thread, or the poll of a consumer, which runs in a task."""
        return "consumer poll" if any(frame.endswith(_POLL) for frame in self.frames) else group(self.thread)

    @property
    def top(self) -> str:
        """Return the uppermost frame; empty without frames."""
        return self.frames[0] if self.frames else ""

    @property
    def own(self) -> str:
        """Return the uppermost frame of Kafka, of a compression or of the plain copy; without any the top."""
        return next((frame for frame in self.frames if _package(frame)), self.top)


@dataclass(frozen=True)
class ThreadTimes:
    """The CPU seconds of each thread of a process by its id, with its name, at a time (seconds of the epoch)."""

    at: float
    threads: Mapping[int, tuple[str, float]]


@dataclass(frozen=True)
class Profile:
    """All that is known of a JVM in the span from `first` to `last` (seconds of the epoch)."""

    first: float
    last: float
    events: Sequence[Event]
    times: Sequence[ThreadTimes] = ()


def read_events(lines: Iterable[str]) -> list[Event]:
    """Read the lines of FlightEvents.java; raises ValueError for a line that is none of them."""
    events = []
    for line in lines:
        parts = line.rstrip("\n").split("\t")
        if len(parts) != 5:
            raise ValueError(f"no event of FlightEvents.java: {line!r}")
        frames = tuple(_LAMBDA.sub("", frame) for frame in parts[4].split(";") if frame)
        events.append(Event(parts[0], parts[1], float(parts[2]), _LAMBDA.sub("", parts[3]), frames))
    return events


def cpu_times(stat: str, ticks: int) -> tuple[str, float]:
    """Return name and CPU seconds of a process or a thread; `ticks` are a second.

    stat -- its file, /proc/PID/stat or /proc/PID/task/TID/stat (proc(5))
    """
    name, _bracket, rest = stat.partition("(")[2].rpartition(")")
    values = rest.split()
    return name, (int(values[11]) + int(values[12])) / ticks


def group(thread: str) -> str:
    """Return the group of a thread by its name, whole or the 15 characters of it that the kernel keeps."""
    return next((name for start, name in THREADS.items() if thread.startswith(start)), "other")


def cpu_by_group(times: Sequence[ThreadTimes], first: float, last: float) -> tuple[dict[str, float], float]:
    """Return the CPU seconds of each group of threads, and the seconds between the two looks that they are from.

    These are the last look before the span and the first one after it, or what comes next to them. What a thread used
    after the last look at it is not known. Without two looks there is nothing to return.
    """
    if len(times) < 2:
        return {}, 0.0
    inside = [
        max((number for number, look in enumerate(times) if look.at <= first), default=0),
        min((number for number, look in enumerate(times) if look.at >= last), default=len(times) - 1),
    ]
    looks = times[inside[0] : inside[1] + 1]
    seconds: dict[str, float] = defaultdict(float)
    for before, after in pairwise(looks):
        for thread, (name, used) in after.threads.items():
            seconds[group(name)] += used - before.threads.get(thread, (name, 0.0))[1]
    return dict(seconds), looks[-1].at - looks[0].at


def summary(profile: Profile) -> str:
    """Return the tables of a profile as Markdown."""
    samples = [event for event in profile.events if event.kind == "sample"]
    owned = [event for event in samples if _package(event.own)]
    native = [event for event in profile.events if event.kind == "native" and not _waits(event)]
    made = [event for event in profile.events if event.kind == "allocation"]
    pauses = [event.amount for event in profile.events if event.kind == "collection"]
    waits = [
        event
        for event in profile.events
        if event.kind == "lock" or (event.kind in ("park", "wait") and event.part in _CARRIERS)
    ]
    tables = [
        f"{profile.last - profile.first:.1f} s, {len(samples)} samples of running Java code; {len(pauses)} collections "
        f"paused {sum(pauses):.0f} ms.",
        _cpu(profile),
        _shares("Samples by part", samples, lambda event: event.part),
        _shares("Samples by package", samples, lambda event: _package(event.own) or "others"),
        _shares("Frames, by self", samples, lambda event: event.top),
        _shares("Frames of Kafka and compression, with what they call elsewhere", owned, lambda event: event.own),
        _reached(samples),
        _shares("Native frames that are no known wait", native, lambda event: f"{event.top} in {event.own}"),
        _shares("Allocated bytes", made, lambda event: f"{event.type} in {event.own}", lambda event: event.amount),
        _waited(waits),
    ]
    return "\n\n".join(table for table in tables if table) + "\n"


def _package(frame: str) -> str:
    return next((package for start, package in PACKAGES.items() if frame.startswith(start)), "")


def _waits(event: Event) -> bool:
    return any(wait in event.top for wait in _NATIVE_WAITS)


def _cpu(profile: Profile) -> str:
    seconds, span = cpu_by_group(profile.times, profile.first, profile.last)
    whole = sum(seconds.values())
    if not whole:
        return ""
    head = ["| Threads | CPU seconds | cores | share |", "| --- | --- | --- | --- |"]
    rows = [
        f"| {name} | {used:.2f} | {used / span:.2f} | {used / whole:.0%} |"
        for name, used in sorted(seconds.items(), key=lambda item: -item[1])
    ]
    return "\n".join([*head, *rows, f"| all, in {span:.1f} s | {whole:.2f} | {whole / span:.2f} | |"])


def _shares(
    title: str,
    events: Sequence[Event],
    name: Callable[[Event], str],
    weigh: Callable[[Event], float] = lambda _event: 1,
) -> str:
    weights: dict[str, float] = defaultdict(float)
    for event in events:
        weights[name(event)] += weigh(event)
    return _table(title, weights, sum(weights.values()))


def _table(title: str, weights: Mapping[str, float], whole: float) -> str:
    if not weights or not whole:
        return ""
    largest = sorted(weights.items(), key=lambda item: -item[1])[:TOP]
    rows = [f"| {what} | {weight:,.0f} | {weight / whole:.1%} |" for what, weight in largest]
    return "\n".join([f"| {title} | of {whole:,.0f} | share |", "| --- | --- | --- |", *rows])


def _reached(samples: Sequence[Event]) -> str:
    """Return the table of methods of Kafka by the samples that they, or what they called, were seen in."""
    counts = Counter(frame for event in samples for frame in set(event.frames) if _package(frame))
    return _table("Methods of Kafka, with all that they call", counts, len(samples))


def _waited(events: Sequence[Event]) -> str:
    rows: dict[tuple[str, str, str, str], list[float]] = defaultdict(list)
    for event in events:
        rows[event.kind, event.part, event.type, event.own].append(event.amount)
    longest = sorted(rows.items(), key=lambda item: -sum(item[1]))[:TOP]
    head = [f"| Waits of {WAIT_MS} ms and more | by | for | in | times | ms |", "| --- | --- | --- | --- | --- | --- |"]
    lines = [f"| {' | '.join(what)} | {len(each)} | {sum(each):,.0f} |" for what, each in longest]
    return "\n".join([*head, *lines]) if lines else f"No wait of {WAIT_MS} ms and more."

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a tuning of a mirror will do, how fast each run was, and when it must not begin. Pure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._core.names import capped
from .._core.progress import duration
from .grid import OPTIONS, TASKS, most_runs

#: Seconds that a mirror may take until its first record is in the target, and that it takes to stop.
START_SECONDS, STOP_SECONDS = 120, 30
#: A broker deletes the files of a topic a minute after the topic (file.delete.delay.ms), and a run takes ten seconds
#: at least. So copies of earlier runs are still on the disks.
COPIES_ON_DISK = 7
#: Bytes of a record of the load beside its value: its key (names.MARK and a number of up to 11 digits) and what the
#: format of Kafka adds to a record in a batch.
RECORD_OVERHEAD = 40
#: Of what a broker holds, for indexes, and for replicas that racks spread less evenly.
MARGIN = 1.2
#: Share of a disk that stays free, whatever the tuning needs.
FREE_SHARE = 0.05
#: More partitions than this cannot show anything: no more tasks are tried.
MOST_PARTITIONS = 64
#: The word for no options: an empty text is the same as not given.
NOTHING = "none"
#: Replicas of the load and of its copies, where a cluster has as many brokers.
COPIES = 3
#: The smallest load that says something, and the largest that one key press may write.
LEAST_BYTES, MOST_BYTES = 1_000_000, 1_000_000_000_000


@dataclass(frozen=True)
class Asked:
    """What the operator asked for.

    load_bytes -- bytes of the values of the load. run_seconds -- longest time that one run copies.
    partitions -- 0 takes as many as the topics of the flow have.
    """

    load_bytes: int
    record_bytes: int = 1000
    run_seconds: int = 120
    partitions: int = 0
    tasks: tuple[int, ...] = TASKS
    options: tuple[str, ...] = tuple(OPTIONS)
    rounds: int = 3


@dataclass(frozen=True)
class Disk:
    """A log directory of a broker at one end (source or target); None where the broker does not tell."""

    end: str
    broker: int
    total: int | None
    usable: int | None


@dataclass(frozen=True)
class Seen:
    """What both clusters told: partitions of the flow's topics, brokers that are alive, disks, own topics that are
    there by end, and those of them that hold records of another writer."""

    flow_partitions: int
    brokers: Mapping[str, int]
    disks: Sequence[Disk]
    left: Mapping[str, Sequence[str]]
    foreign: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Plan:
    """What will be done at most: partitions and records of the load, runs, seconds in all.

    bytes -- by end, of all replicas together, with what is deleted but still on disk. broker_bytes -- by end, of them
    on one broker.
    """

    partitions: int
    records: int
    runs: int
    seconds: int
    bytes: Mapping[str, int]
    broker_bytes: Mapping[str, int]


def plan_of(asked: Asked, seen: Seen) -> Plan:
    """The bounds of a tuning."""
    partitions = asked.partitions or max(1, min(seen.flow_partitions, MOST_PARTITIONS))
    runs = most_runs(asked.tasks, asked.options, asked.rounds)
    records = max(1, asked.load_bytes // asked.record_bytes)
    size = records * (asked.record_bytes + RECORD_OVERHEAD)
    replicas = {end: max(1, min(COPIES, count)) for end, count in seen.brokers.items()}
    topics = {"source": 1, "target": min(runs, COPIES_ON_DISK)}
    # The load may take as long to write as a run to copy it.
    seconds = asked.run_seconds + runs * (START_SECONDS + asked.run_seconds + STOP_SECONDS)
    # A broker holds whole partitions, and the fullest one of each topic may be the same.
    fullest = {end: math.ceil(partitions * replicas[end] / count) for end, count in seen.brokers.items()}
    return Plan(
        partitions,
        records,
        runs,
        seconds,
        {end: size * replicas[end] * topics[end] for end in topics},
        {end: round(size * topics[end] * fullest[end] / partitions) for end in topics},
    )


def refusals(asked: Asked, seen: Seen) -> list[str]:
    """Return why the tuning must not begin, a sentence each."""
    return [*_of_asked(asked), *_of_topics(seen), *(_of_disks(plan_of(asked, seen), seen) if seen.disks else ())]


def _of_asked(asked: Asked) -> Iterator[str]:
    if not LEAST_BYTES <= asked.load_bytes <= MOST_BYTES:
        yield f"mirror_tune_bytes is {asked.load_bytes:,}; allowed are {LEAST_BYTES:,} to {MOST_BYTES:,}."
    if not 16 <= asked.record_bytes <= 1_000_000:
        yield f"mirror_tune_record_bytes is {asked.record_bytes:,}; allowed are 16 to 1,000,000."
    if not 0 <= asked.partitions <= MOST_PARTITIONS:
        yield f"mirror_tune_partitions is {asked.partitions}; allowed are 0 (as the flow has) to {MOST_PARTITIONS}."
    if not 5 <= asked.run_seconds <= 3600:
        yield f"mirror_tune_seconds is {asked.run_seconds}; allowed are 5 to 3,600."
    if not 1 <= asked.rounds <= 10:
        yield f"mirror_tune_rounds is {asked.rounds}; allowed are 1 to 10."
    if not asked.tasks or min(asked.tasks) < 1 or max(asked.tasks) > 256:
        yield f"mirror_tune_tasks is {list(asked.tasks)}; allowed are numbers from 1 to 256, at least one."
    if unknown := [name for name in asked.options if name not in OPTIONS]:
        yield f"mirror_tune_options has {', '.join(unknown)}; allowed are {', '.join(OPTIONS)}."


def _of_topics(seen: Seen) -> Iterator[str]:
    for end, names in seen.foreign.items():
        if names:
            yield (
                f"topics of the {end} have records that no tuning wrote: {capped(sorted(names), 5)}. A tuning would "
                "delete them. Find out what writes there, and delete or rename these topics first."
            )


def _of_disks(plan: Plan, seen: Seen) -> Iterator[str]:
    for disk in seen.disks:
        where = f"broker {disk.broker} of the {disk.end}"
        if disk.total is None or disk.usable is None:
            yield f"{where} does not report its disk size, so free space is unknown."
            continue
        need = round(plan.broker_bytes[disk.end] * MARGIN)
        left = round(disk.total * FREE_SHARE)
        if disk.usable - need < left:
            yield (
                f"{where} has {disk.usable / 1e9:.1f} GB free on a disk; the tuning needs {need / 1e9:.1f} GB there, "
                f"and {left / 1e9:.1f} GB must stay free. Lower mirror_tune_bytes, or free disk space."
            )


def lines(asked: Asked, seen: Seen, plan: Plan, flow: str) -> list[str]:
    """The plan in lines for people."""
    left = sum(len(names) for names in seen.left.values())
    return [
        f"Flow         {flow}: its topics are not touched; a copy of it has topics that begin with _streamops_tune_",
        f"Load         {asked.load_bytes / 1e6:,.0f} MB in {plan.records:,} records of {asked.record_bytes:,} bytes, "
        f"{plan.partitions} partitions",
        f"Tasks        {', '.join(map(str, asked.tasks))}, {asked.rounds} times each",
        f"Then         {', '.join(asked.options) or 'nothing'} at the knee",
        f"At most      {plan.runs} runs, {duration(plan.seconds)}, {plan.bytes['source'] / 1e9:,.2f} GB on the disks "
        f"of the source, {plan.bytes['target'] / 1e9:,.2f} GB on those of the target",
        *([f"Left         {left} topics of an earlier tuning, which are deleted first"] if left else []),
    ]


def asked_of(params: Mapping[str, Any]) -> Asked:
    """Return what the options of the module mirror_tune ask for."""
    return Asked(
        load_bytes=params["load_bytes"],
        record_bytes=params["record_bytes"],
        run_seconds=params["run_seconds"],
        partitions=params["partitions"],
        tasks=tuple(sorted(set(params["tasks"]))),
        options=tuple(dict.fromkeys(name for name in params["options"] if name != NOTHING)),
        rounds=params["rounds"],
    )


#: A run that copied for a shorter time says nothing: a look comes four times a second.
LEAST_SECONDS = 2.0


class Look(NamedTuple):
    """When (seconds since 1970, by the clock of the control node) and how many records were in the copy."""

    at: float
    records: int


def rate_of(looks: Sequence[Look], expected: int, record_bytes: int) -> dict[str, Any]:
    """Return {records, seconds, first_at, last_at, bytes_per_second} from the first record to the last one seen.

    What was there at the first look with records does not count, since its time is not known. While some of the
    expected records are missing, time counts up to the last look: a task that failed, or a mirror that died, is no
    faster for that. bytes_per_second is None where the run copied for less than LEAST_SECONDS.
    """
    arrived = [look for look in looks if look.records]
    if not arrived:
        return {"records": 0, "seconds": 0.0, "first_at": None, "last_at": None, "bytes_per_second": None}
    first, last = arrived[0], arrived[-1]
    if last.records >= expected:
        last = next(look for look in arrived if look.records == last.records)
    seconds, records = last.at - first.at, last.records - first.records
    enough = seconds >= LEAST_SECONDS and records > 0
    return {
        "records": last.records,
        "seconds": round(seconds, 3),
        "first_at": first.at,
        "last_at": last.at,
        "bytes_per_second": round(records * record_bytes / seconds) if enough else None,
    }


def is_over(looks: Sequence[Look], records: int, run_seconds: float, start_seconds: float, now: float) -> bool:
    """Say whether a run has nothing more to show: all has arrived, or its time is over (by the clock of the looks)."""
    arrived = [look for look in looks if look.records]
    if not arrived:
        return bool(looks) and now - looks[0].at >= start_seconds
    return arrived[-1].records >= records or now - arrived[0].at >= run_seconds

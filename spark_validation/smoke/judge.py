"""From what was seen to checks: every rule by which a run passes or fails, as pure functions of plain numbers."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from spark_validation.core.result import FAIL, INCONCLUSIVE, INFO, PASS, Check, none_of, noted
from spark_validation.smoke import latency
from spark_validation.smoke.geometry import ATTEMPTS, WRITERS
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.observed import (
    CORRUPT,
    EXAMPLES,
    FOREIGN,
    MISROUTED,
    OK,
    OTHER_RUN,
    TOMBSTONE,
    Findings,
    Found,
    LaneSeen,
    Observation,
    PartitionSeen,
)
from spark_validation.smoke.topic import Partition


def suspect_lanes(ledger: Ledger, seen: Observation) -> dict[int, int]:
    """Lanes (number -> records it must hold) that are not proved whole and in order by the one pass."""
    by_lane: dict[int, list[LaneSeen]] = defaultdict(list)
    for lane in seen.lanes:
        if lane.kind <= MISROUTED:
            by_lane[lane.lane].append(lane)
    return {
        lane.number: size
        for lane, size in ledger.shape.lanes(ledger.final_attempts)
        if not _whole(by_lane[lane.number], size)
    }


def _whole(parts: list[LaneSeen], size: int) -> bool:
    if len(parts) != 1 or parts[0].kind != OK:
        return False
    part = parts[0]
    return (part.records, part.least, part.most, part.backwards) == (size, 0, size - 1, 0)


def leftovers(ledger: Ledger, seen: Observation) -> dict[int, int]:
    """Lanes (number -> records found) of attempts that Spark threw away before it accepted a later one."""
    return _unledgered(ledger, seen, leftover=True)


def stranger_lanes(ledger: Ledger, seen: Observation) -> dict[int, int]:
    """Lanes (number -> records found) that carry this run's id but that no writer of this run can have written."""
    return _unledgered(ledger, seen, leftover=False)


def _unledgered(ledger: Ledger, seen: Observation, leftover: bool) -> dict[int, int]:
    known = {lane.number for lane, _attempt in ledger.shape.lanes(ledger.final_attempts)}
    found: dict[int, int] = defaultdict(int)
    for lane in seen.lanes:
        if lane.kind > MISROUTED or lane.lane in known:
            continue
        writer, attempt = lane.lane // ATTEMPTS % WRITERS, lane.lane % ATTEMPTS
        partition = lane.lane // (ATTEMPTS * WRITERS)
        thrown_away = attempt < ledger.final_attempts.get(writer, 0) and partition < ledger.shape.partitions
        if thrown_away == leftover:
            found[lane.lane] += lane.records
    return dict(found)


# Checks that pass when no such record was found: name -> title, and what to do otherwise.
_NONE_OF = {
    "lost": (
        "No acknowledged record is lost",
        "acknowledged records are gone: look for unclean leader elections, disks, min.insync.replicas, retention",
    ),
    "duplicated": (
        "No record stands twice",
        "an idempotent producer must not repeat: something copied records into the topic",
    ),
    "out_of_order": (
        "The order of every writer is kept",
        "records of one writer changed places within a partition",
    ),
    "misrouted": (
        "Every record is in the topic and partition it was sent to",
        "a client put records elsewhere than it was asked to (kafka-clients before 3.9.2: CVE-2026-35554)",
    ),
    "corrupt": (
        "Every record's checksum is right",
        "bytes changed after sending: look at disks, memory and anything that rewrites records",
    ),
    "phantom": (
        "Nothing stands in the range that no validation wrote",
        "another client writes to this topic; if that is meant, give the run a topic of its own",
    ),
    "tombstone": (
        "No record lost its value",
        "another client wrote records without value to this topic",
    ),
}


def judge_records(ledger: Ledger, seen: Observation, exact: Findings, unreadable: str) -> list[Check]:
    """The checks on the records themselves. `unreadable`: why a part of the range cannot be judged, or empty."""
    kinds = seen.kinds()
    strangers = sum(stranger_lanes(ledger, seen).values())
    strange, odd = replace(exact.strange, total=strangers), _odd(kinds, exact)
    phantom = _joined(strange, exact.unknown, odd[FOREIGN])
    lost = _none("lost", exact.lost)
    if unreadable and lost.status == FAIL:
        lost = Check(**{**lost.__dict__, "status": INCONCLUSIVE, "suggests": unreadable})
    return [
        lost,
        _none("duplicated", exact.duplicated),
        _none("out_of_order", exact.out_of_order),
        _none("misrouted", odd[MISROUTED]),
        _none("corrupt", odd[CORRUPT]),
        _none("phantom", phantom),
        _none("tombstone", odd[TOMBSTONE]),
        _coverage(ledger, seen),
        _leftovers(leftovers(ledger, seen)),
        noted("other_runs", "Records of other runs that wrote meanwhile", "records", kinds[OTHER_RUN], []),
    ]


def _odd(kinds: Mapping[int, int], exact: Findings) -> dict[int, Found]:
    """Return what was found of each kind of odd record; their number is that of the one pass."""
    return {
        kind: replace(exact.odd.get(kind, Found()), total=kinds[kind])
        for kind in (MISROUTED, CORRUPT, FOREIGN, TOMBSTONE)
    }


def _joined(*parts: Found) -> Found:
    """Findings of one check as one, with one place for each partition."""
    places: dict[int, dict[str, Any]] = {}
    for place in (place for part in parts for place in part.places):
        known = places.setdefault(place["partition"], {**place, "records": 0})
        known["records"] += place["records"]
        known["first"], known["last"] = min(known["first"], place["first"]), max(known["last"], place["last"])
    return Found(
        sum(part.total for part in parts),
        [example for part in parts for example in part.examples],
        [places[index] for index in sorted(places)],
    )


def _none(name: str, found: Found) -> Check:
    title, advice = _NONE_OF[name]
    return none_of(name, title, "records", found.total, found.examples[:EXAMPLES], advice, places=found.places)


def _coverage(ledger: Ledger, seen: Observation) -> Check:
    answered = {lane.partition for lane in seen.lanes if lane.kind == OK}
    silent = sorted(set(range(ledger.shape.partitions)) - answered)
    return _missing_some(
        "coverage",
        "Every partition took and returned records",
        "partitions",
        ledger.shape.partitions,
        [{"partition": index} for index in silent],
        FAIL,
        "nothing of this run could be read from these partitions",
    )


def _leftovers(lanes: dict[int, int]) -> Check:
    total = sum(lanes.values())
    return Check(
        "attempt_leftovers",
        "Records of failed Spark attempts",
        INFO,
        expected=0,
        actual=total,
        difference=total,
        unit="records",
        suggests="Spark tasks failed and were retried; their records are neither loss nor duplicates" if total else "",
    )


def judge_latency(seen: Observation, limit_ms: int | None) -> Check:
    """Append time minus send time. Without a limit it informs; times that the broker did not set cannot be judged."""
    p99 = latency.percentile(seen.latency, 99.0)
    skewed = seen.latency[latency.SKEWED]
    status, suggests = (INFO if limit_ms is None else PASS), ""
    if seen.create_time:
        status = INFO if limit_ms is None else INCONCLUSIVE
        suggests = "the topic keeps the client's time: set message.timestamp.type=LogAppendTime"
    elif skewed * 100 > sum(seen.latency.values()):
        status = INFO if limit_ms is None else INCONCLUSIVE
        suggests = f"{skewed} records were appended before they were sent: the clocks differ, check chrony"
    elif limit_ms is not None and (p99 is None or p99 > limit_ms):
        status, suggests = FAIL, "appends are slower than the limit: look at disks, replication and load of the brokers"
    return Check(
        "latency",
        "Append latency, 99th percentile",
        status,
        expected=limit_ms,
        actual=p99,
        threshold=limit_ms,
        unit="ms",
        difference=None if limit_ms is None or p99 is None else p99 - limit_ms,
        suggests=suggests,
    )


def judge_stream(batch: Mapping[int, PartitionSeen], stream: Mapping[int, PartitionSeen], seconds: float) -> Check:
    """The streaming read must have seen the same records as the batch read, in any order."""
    differing = [index for index in sorted(set(batch) | set(stream)) if batch.get(index) != stream.get(index)]
    examples = [
        {"partition": index, "batch": _records(batch.get(index)), "stream": _records(stream.get(index))}
        for index in differing[:EXAMPLES]
    ]
    read, again = (sum(seen.records for seen in side.values()) for side in (batch, stream))
    if not read and not again:
        return Check(
            "stream_agrees",
            "A streaming read sees the same records",
            INCONCLUSIVE,
            expected="at least 1",
            actual=0,
            unit="records",
            suggests="neither read found a record, so nothing was compared",
            seconds=seconds,
        )
    return Check(
        "stream_agrees",
        "A streaming read sees the same records",
        FAIL if differing else PASS,
        expected=read,
        actual=again,
        difference=again - read,
        threshold=0,
        unit="records",
        examples=examples,
        examples_total=len(differing),
        suggests="counts or contents differ between two reads of one range: replicas may differ" if differing else "",
        seconds=seconds,
    )


def _records(seen: PartitionSeen | None) -> int:
    return seen.records if seen else 0


def judge_layout(partitions: Sequence[Partition], brokers: Mapping[int, bool], wanted: int | None) -> list[Check]:
    """Every partition needs a leader, every broker must be up, and lead at least one. `brokers`: id -> is it alive?

    What is wrong with the cluster fails. A broker that is well and leads nothing is only not proved: inconclusive.
    """
    orphans = [partition.index for partition in partitions if partition.leader is None]
    down = sorted(broker for broker, alive in brokers.items() if not alive)
    checks = [
        _missing_some(
            "leaders",
            "Every partition has a leader",
            "partitions",
            len(partitions),
            [{"partition": index} for index in orphans],
            FAIL,
            "a broker is down and no in-sync replica is left for these partitions",
        ),
        _missing_some(
            "alive",
            "Every broker is up",
            "brokers",
            len(brokers),
            [{"broker": broker} for broker in down],
            FAIL,
            f"the cluster knows {_named(down)}, which takes no part now: start it, then run again",
        ),
        _leading(partitions, sorted(set(brokers) - set(down))),
    ]
    if wanted is not None:
        same = wanted == len(partitions)
        checks.append(
            Check(
                "partitions",
                "The topic has the partitions wanted",
                PASS if same else FAIL,
                expected=wanted,
                actual=len(partitions),
                difference=len(partitions) - wanted,
                threshold=0,
                unit="partitions",
                suggests="" if same else "the topic was changed by another client",
            )
        )
    return checks


def _leading(partitions: Sequence[Partition], live: list[int]) -> Check:
    leaders = {partition.leader.id for partition in partitions if partition.leader}
    idle = [broker for broker in live if broker not in leaders]
    preferred = {broker: [part for part in partitions if part.replicas[:1] == (broker,)] for broker in idle}
    behind = [b for b in idle if preferred[b] and not any(b in partition.isr for partition in preferred[b])]
    waiting = [b for b in idle if preferred[b] and b not in behind]
    unplaced = [b for b in idle if not preferred[b]]
    reasons = [
        (behind, "behind", "{} is not in sync with the partitions that it should lead: see why it does not catch up"),
        (waiting, "not elected", "{} is well but did not get its leadership back: elect preferred leaders, run again"),
        (
            unplaced,
            "not placed",
            "{} is well, but no partition of this topic has it as its preferred leader: give the topic more partitions "
            "or move one there",
        ),
    ]
    return _missing_some(
        "brokers",
        "Every broker leads a partition of this topic",
        "brokers",
        len(live),
        [{"broker": broker, "why": why} for brokers, why, _advice in reasons for broker in brokers],
        FAIL if behind else INCONCLUSIVE,
        "; ".join(advice.format(_named(brokers)) for brokers, _why, advice in reasons if brokers),
    )


def _missing_some(
    name: str, title: str, unit: str, expected: int, missing: list[dict[str, Any]], status: str, suggests: str
) -> Check:
    """A check that passes when nothing is missing of what is expected."""
    return Check(
        name,
        title,
        status if missing else PASS,
        expected=expected,
        actual=expected - len(missing),
        difference=len(missing),
        threshold=0,
        unit=unit,
        examples=missing[:EXAMPLES],
        examples_total=len(missing),
        suggests=suggests if missing else "",
    )


def _named(brokers: list[int]) -> str:
    shown = ", ".join(str(broker) for broker in brokers[:EXAMPLES])
    return f"broker {shown}" + (" and others" if len(brokers) > EXAMPLES else "")


def judge_range(wanted: dict[int, tuple[int, int]], held: dict[int, tuple[int, int]], over: bool) -> Check:
    """Does the topic still hold the frozen offsets? `over`: its retention has run out since."""
    short = {index: _missing(offsets, held.get(index, (0, 0))) for index, offsets in sorted(wanted.items())}
    short = {index: count for index, count in short.items() if count}
    total = sum(end - start for start, end in wanted.values())
    status = PASS if not short else INCONCLUSIVE if over else FAIL
    suggests = {
        PASS: "",
        INCONCLUSIVE: "the retention of the topic is over: what it removed cannot be judged any more",
        FAIL: "offsets are gone before their time: topic deleted, recreated or truncated, or its retention lowered",
    }[status]
    return Check(
        "range",
        "The frozen offsets can be read",
        status,
        expected=total,
        actual=total - sum(short.values()),
        difference=sum(short.values()),
        threshold=0,
        unit="offsets",
        suggests=suggests,
        examples=[{"partition": index, "offsets_missing": short[index]} for index in list(short)[:EXAMPLES]],
        examples_total=len(short),
        places=[_gone(index, wanted[index], held.get(index, (0, 0))) for index in short],
    )


def _gone(index: int, wanted: tuple[int, int], held: tuple[int, int]) -> dict[str, Any]:
    """Between which of the offsets `wanted` a partition lacks some."""
    start, end = readable(wanted, held)
    first = wanted[0] if start > wanted[0] or start == end else end
    last = wanted[1] - 1 if end < wanted[1] or start == end else start - 1
    return {"partition": index, "records": _missing(wanted, held), "first": first, "last": last}


def _missing(wanted: tuple[int, int], held: tuple[int, int]) -> int:
    start, end = readable(wanted, held)
    return (wanted[1] - wanted[0]) - (end - start)


def readable(wanted: tuple[int, int], held: tuple[int, int]) -> tuple[int, int]:
    """The part of the offsets `wanted` that a partition holding `held` can still give (may be empty)."""
    start = min(max(wanted[0], held[0]), wanted[1])
    return start, max(start, min(wanted[1], held[1]))

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The verdict of a proof: what was acknowledged against what a plain reader found, partition by partition. Pure.

A second reader must have found the same: counts, order and a checksum of each partition. It is a Spark job: another
client, in another language, which shares no code with the first.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypedDict

from .ledger import FAILED, RUN_ENDED, TIME_OVER, Ledger, Name, acknowledged_by, last_times, silent_since, value_of

#: What can be wrong with records, with the words of the failure.
LOST, REPEATED, REORDERED, MOVED, ABORTED = "lost", "repeated", "reordered", "moved", "aborted"
WORDS = {
    LOST: "acknowledged and lost",
    REPEATED: "there more than once",
    REORDERED: "behind a later one",
    MOVED: "at another offset than acknowledged",
    ABORTED: "readable although their transaction was aborted",
}
PASS, PARTIAL, FAIL, INCONCLUSIVE = "pass", "partial", "fail", "inconclusive"
#: How many findings a failure names.
_NAMED = 3


class Found(NamedTuple):
    """A record that the reader found."""

    partition: int
    offset: int
    name: Name


class Wrong(NamedTuple):
    """What is wrong with records of one partition: how many, and their first and last offset.

    The offset of a lost record is the one at which it was acknowledged.
    """

    what: str
    partition: int
    records: int
    first: int
    last: int


@dataclass(frozen=True)
class Verdict:
    """How a proof ended, what is wrong, and why it says less than it should; C(why) is empty where it passed."""

    word: str
    wrong: Sequence[Wrong]
    why: str


def findings(ledger: Ledger, found: Iterable[Found]) -> list[Wrong]:
    """Return what is wrong, by partition; C(found) are the records of each partition by offset."""
    offsets: dict[tuple[int, str], list[int]] = defaultdict(list)
    for partition, what, offset in _each(ledger, found):
        offsets[partition, what].append(offset)
    order = list(WORDS)
    return [
        Wrong(what, partition, len(some), min(some), max(some))
        for (partition, what), some in sorted(offsets.items(), key=lambda one: (one[0][0], order.index(one[0][1])))
    ]


def _each(ledger: Ledger, found: Iterable[Found]) -> Iterator[tuple[int, str, int]]:
    """Yield each record with something wrong: partition, what, offset."""
    seen: set[Name] = set()
    highest: dict[tuple[int, str], int] = {}
    for partition, offset, name in found:
        line = (partition, name.kind)
        if name in seen:
            yield partition, REPEATED, offset
            continue
        seen.add(name)
        if name.number < highest.get(line, -1):
            yield partition, REORDERED, offset
        highest[line] = max(highest.get(line, -1), name.number)
        place = ledger.acknowledged.get(name)
        if name in ledger.aborted:
            yield partition, ABORTED, offset
        # A broker that has a record already answers so, and not always where: the library has no offset then.
        elif place is not None and place.offset >= 0 and place[:2] != (partition, offset):
            yield partition, MOVED, offset
    for name, place in ledger.acknowledged.items():
        if name not in seen:
            yield place.partition, LOST, place.offset


def verdict(ledger: Ledger, found: Iterable[Found], topic: str, until: float, since: float = 0.0) -> Verdict:
    """Return the verdict on a stream that had to last from C(since), when the first node was stopped, until C(until).

    Both are seconds since 1970. Only a stream that wrote to its own end proves the part of the change that it saw.
    """
    wrong = findings(ledger, found)
    if wrong:
        return Verdict(FAIL, wrong, failure(topic, wrong))
    if why := _unproven(ledger):
        return Verdict(INCONCLUSIVE, (), why)
    late = _late(ledger, until)
    if why := _missed(ledger, since) or _silent(ledger):
        return Verdict(INCONCLUSIVE, (), "; ".join(filter(None, [why, late])))
    return Verdict(PARTIAL if late else PASS, (), late)


def failure(topic: str, wrong: Sequence[Wrong]) -> str:
    """Return one line on what is wrong: topic, partition, how many records, offsets."""
    return shortened([_words(topic, one) for one in wrong])


def shortened(told: Sequence[str]) -> str:
    """Return the first findings in one line, and how many more there are."""
    more = f"; and {len(told) - _NAMED} more findings" if len(told) > _NAMED else ""
    return f"{'; '.join(told[:_NAMED])}{more}"


def totals(wrong: Sequence[Wrong]) -> Mapping[str, int]:
    """Return how many records of all partitions each finding is about."""
    return {what: sum(one.records for one in wrong if one.what == what) for what in WORDS}


def _words(topic: str, one: Wrong) -> str:
    where = f"offset {one.first}" if one.records == 1 else f"offsets {one.first} to {one.last}"
    records = "1 record" if one.records == 1 else f"{one.records} records"
    return f"topic {topic}, partition {one.partition}, {where}: {records} {WORDS[one.what]}"


def _unproven(ledger: Ledger) -> str:
    """Say why a stream without a finding proves nothing of the whole change; empty where it does."""
    if ledger.ended is None:
        return "the process of the stream was killed; what it wrote before is whole"
    why, _at, said = ledger.ended
    if why == FAILED:
        return f"the stream failed: {said}"
    if why == RUN_ENDED:
        return "the stream ended because its run was gone; what it wrote is whole"
    if missing := [kind for kind, records in acknowledged_by(ledger).items() if not records]:
        return f"{' and '.join(f'no {kind}' for kind in missing)} record was acknowledged"
    return ""


def _missed(ledger: Ledger, since: float) -> str:
    """Say that a stream saw nothing of the change: it was over before that began; empty where it saw some."""
    if ledger.ended is None or ledger.ended[1] > since:
        return ""
    return "the stream ended before the first node was stopped, so no restart is proven"


def _late(ledger: Ledger, until: float) -> str:
    """Say what a stream missed that ended before the change did; empty where it missed nothing."""
    if ledger.ended is None or ledger.ended[1] >= until:
        return ""
    why = "after kafka_prove_seconds" if ledger.ended[0] == TIME_OVER else "since another run ended it"
    return (
        f"the stream ended {until - ledger.ended[1]:.0f} s before the last node was back, {why}; what it wrote is whole"
    )


def _silent(ledger: Ledger) -> str:
    """Say which partitions took no record any more when the stream ended; empty where all did.

    A stream ends with a record and a transaction in each partition, so that one which lost its leader is seen.
    """
    if ledger.ended is None:
        return ""
    said = []
    for kind, partitions in silent_since(ledger, ledger.ended[1]).items():
        last = last_times(ledger, kind)
        one = min(partitions, key=lambda partition: last.get(partition, 0.0))
        since = f"{ledger.ended[1] - last[one]:.0f} s before" if one in last else "never"
        where = f"{len(partitions)} of {ledger.partitions} partitions"
        said.append(
            f"{where} acknowledged no {kind} record at the end of the stream (partition {one}: last one {since})"
        )
    return "; ".join(said)


class Counted(NamedTuple):
    """What a reader counted of one kind of records in one partition.

    records -- how many; distinct -- how many different ones; first, last -- lowest and highest number; out_of_order --
    how many stand behind a later one; checksum -- the sum of the CRC-32 of "PARTITION OFFSET VALUE" of each
    """

    partition: int
    kind: str
    records: int
    distinct: int
    first: int
    last: int
    out_of_order: int
    checksum: int


class Answer(TypedDict, total=False):
    """What the second reader answers: what it counted, as C(Counted), and why it could not read to the end."""

    found: list[dict[str, Any]]
    error: str


def counted(proof: str, found: Iterable[Found]) -> list[Counted]:
    """Return what the first reader counted; C(found) are the records of each partition by offset."""
    lines: dict[tuple[int, str], list[Found]] = {}
    for one in found:
        lines.setdefault((one.partition, one.name.kind), []).append(one)
    return [_counted(proof, *line, some) for line, some in sorted(lines.items())]


def _counted(proof: str, partition: int, kind: str, found: Sequence[Found]) -> Counted:
    numbers = [one.name.number for one in found]
    highest, behind = -1, 0
    for number in numbers:
        behind += number < highest
        highest = max(highest, number)
    checksum = sum(zlib.crc32(f"{partition} {one.offset} ".encode() + value_of(proof, one.name)) for one in found)
    return Counted(partition, kind, len(found), len(set(numbers)), min(numbers), max(numbers), behind, checksum)


def records_of(answer: Answer) -> int:
    """Return how many records the second reader found."""
    return sum(int(one["records"]) for one in answer.get("found") or ())


def differences(ours: Iterable[Counted], theirs: Iterable[Counted]) -> list[str]:
    """Return where two readers differ, for people."""
    first, second = ({(one.partition, one.kind): one for one in some} for some in (ours, theirs))
    return [
        f"partition {line[0]}, {line[1]}: {_counted_words(first.get(line))}, Spark {_counted_words(second.get(line))}"
        for line in sorted({*first, *second})
        if first.get(line) != second.get(line)
    ]


def _counted_words(one: Counted | None) -> str:
    if one is None:
        return "no record"
    return f"{one.records} records from {one.first} to {one.last} (checksum {one.checksum:x})"


def judged(said: Verdict, ours: Sequence[Counted], answer: Answer) -> Verdict:
    """Return the verdict with what the second reader says."""
    if said.word not in (PASS, PARTIAL):
        return said
    if answer.get("error"):
        return replace(said, word=INCONCLUSIVE, why=f"the second reader did not reach the end: {answer['error']}")
    found = differences(ours, [Counted(**one) for one in answer.get("found") or ()])
    if not found:
        return said
    return replace(said, word=FAIL, why=f"two readers found different records: {shortened(found)}")

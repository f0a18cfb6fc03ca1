# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether a second reader found what the first one did: counts, order and a checksum of each partition. Pure.

The second one is a Spark job: another client, in another language, which shares no code with the first.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .judge import FAIL, INCONCLUSIVE, PARTIAL, PASS, Found, Verdict, shortened
from .ledger import value_of


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


def records_of(answer: Mapping[str, Any]) -> int:
    """Return how many records the second reader found."""
    return sum(int(one["records"]) for one in answer.get("found") or ())


def differences(ours: Iterable[Counted], theirs: Iterable[Counted]) -> list[str]:
    """Return where two readers differ, for people."""
    first, second = ({(one.partition, one.kind): one for one in some} for some in (ours, theirs))
    return [
        f"partition {line[0]}, {line[1]}: {_words(first.get(line))}, Spark {_words(second.get(line))}"
        for line in sorted({*first, *second})
        if first.get(line) != second.get(line)
    ]


def _words(one: Counted | None) -> str:
    if one is None:
        return "no record"
    return f"{one.records} records from {one.first} to {one.last} (checksum {one.checksum:x})"


def judged(said: Verdict, ours: Sequence[Counted], answer: Mapping[str, Any]) -> Verdict:
    """Return the verdict with what the second reader says.

    C(answer): C(found) are what it counted, C(error) is why it could not read to the end.
    """
    if said.word not in (PASS, PARTIAL):
        return said
    if answer.get("error"):
        return replace(said, word=INCONCLUSIVE, why=f"the second reader did not reach the end: {answer['error']}")
    found = differences(ours, [Counted(**one) for one in answer.get("found") or ()])
    if not found:
        return said
    return replace(said, word=FAIL, why=f"two readers found different records: {shortened(found)}")

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Compare the records of a partition with those of its copy, to find where the copy ends. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import dropwhile
from typing import Any


@dataclass(frozen=True)
class Compared:
    """Where the surplus of a partition begins, by its records.

    first -- the offset of the source. records -- how many committed records were read from there on. is_exact --
    whether the copy ends with the record before C(first). If not, some of the surplus may be in the target too.
    """

    first: int
    records: int
    is_exact: bool


def digest_of(record: Any) -> bytes:
    """Return what two equal records have in common: key, value, headers and timestamp."""
    made = hashlib.blake2b(digest_size=16)
    fields = [record.key, record.value]
    for name, value in record.headers or ():
        fields += [name.encode(), value]
    for text in (str(record.timestamp).encode(), *fields):
        made.update(b"-" if text is None else b"%d:" % len(text))
        made.update(text or b"")
    return made.digest()


def compared(source: Sequence[tuple[int, bytes]], copied: int, end: int, copy: Sequence[bytes]) -> Compared:
    """Return where the records of a source go on behind the last one of its copy.

    source -- offset and digest of its committed records in order, from some below C(copied) on. copied -- the offset
    below which all is copied. end -- where the reading of the source ended. copy -- digests of the last records of the
    copy in order, empty where they are not known.

    Of several places at which the copy may end, the one holds before which most records are equal; of equals the first
    one, since a record that is kept twice does no harm. A mirror that was killed copies some records twice, which is
    why not all that was read has to be equal.

    Where the last record below C(copied) is not in the copy, the log was cut and written again: then all counts from
    the first record on that the copy lacks. That is the first record of C(source) where the copy has none of them.
    """
    base = sum(offset < copied for offset, _digest in source)
    known = set(copy)
    if known and base and source[base - 1][1] not in known:
        # The copy may begin later than what was read of the source.
        common = list(dropwhile(lambda row: row[1] not in known, source[:base])) or source[:1]
        first = next(offset for offset, digest in common if digest not in known)
        return Compared(first, sum(offset >= first for offset, _digest in source), False)
    above = len(source) - base
    equal = _common_ends([digest for _offset, digest in source], copy)
    matches = [(equal[base + number], number) for number in range(above + 1) if equal[base + number] >= max(1, number)]
    best = max((length for length, _number in matches), default=0)
    places = [number for length, number in matches if length == best]
    copies = places[0] if places else 0
    first = source[base + copies][0] if copies < above else end
    return Compared(first, above - copies, len(places) == 1 or not above)


def _common_ends(source: Sequence[bytes], copy: Sequence[bytes]) -> list[int]:
    """Return for each number of records of the source how many of the last of these are the last of the copy.

    In linear time, by the Z algorithm over both in reverse.
    """
    texts: list[bytes | None] = [*reversed(copy), None, *reversed(source)]
    lengths = [0] * len(texts)
    left = right = 0
    for at in range(1, len(texts)):
        length = min(right - at, lengths[at - left]) if at < right else 0
        while at + length < len(texts) and texts[length] is not None and texts[length] == texts[at + length]:
            length += 1
        lengths[at] = length
        if at + length > right:
            left, right = at, at + length
    behind = lengths[len(copy) + 1 :]
    # For no record at all nothing is equal.
    return [0, *reversed(behind)]

"""What a comparison of source and mirror is given and what it finds, without topics that lose records. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

# A partition: number of its pair, and its own.
Part = tuple[int, int]


@dataclass(frozen=True)
class Span:
    """One partition of a pair, frozen. Offsets: start included, end excluded; None where a side has no such partition.

    frontier -- the last data record of the source that must be on the target, None when there is none
    source   -- first offset read, and the end read **after** the target's end was (compare.py says why)
    cut_source, cut_target -- whether older records have been removed before the start
    since    -- where it goes on from an earlier audit (mark.py): the last proven record of the source, and its copy
    """

    partition: int
    frontier: int | None
    source: tuple[int, int] | None
    target: tuple[int, int] | None
    cut_source: bool = False
    cut_target: bool = False
    since: tuple[int, int] | None = None

    @property
    def is_cut(self) -> bool:
        """Tell whether older records have been removed on either side."""
        return self.cut_source or self.cut_target

    @property
    def behind_mark(self) -> Span:
        """Return what is new behind `since`, that record included. Nothing is missing before it."""
        assert self.since
        assert self.source
        assert self.target
        source, target = (self.since[0], self.source[1]), (self.since[1], self.target[1])
        return replace(self, source=source, target=target, cut_source=False, cut_target=False)


@dataclass(frozen=True)
class Scope:
    """One pair of topics. `timeless`: the target stamps its own time, so times are no part of the comparison."""

    number: int
    source: str
    target: str
    spans: tuple[Span, ...]
    timeless: bool = False
    compacted: bool = False
    # Retention of the source in epoch ms: what is older it no longer promises to hold. None: it promises everything.
    promised_from_ms: int | None = None
    # Whether the source also limits its size: then it may remove what it promises by time.
    sized: bool = False

    @property
    def parts(self) -> dict[Part, Span]:
        """Return its partitions."""
        return {(self.number, span.partition): span for span in self.spans}

    def ranges(self, side: str, partitions: set[int] | None = None) -> dict[int, tuple[int, int]]:
        """The offsets of `side` (source or target) by partition; of some partitions only when they are given."""
        spans = {span.partition: getattr(span, side) for span in self.spans}
        return {index: span for index, span in spans.items() if span and (partitions is None or index in partitions)}


def respanned(scopes: Iterable[Scope], chosen: Callable[[Part, Span], Span | None]) -> list[Scope]:
    """Return scopes with those partitions that `chosen` returns, as it returns them; no scope without any."""
    changed = [
        replace(scope, spans=tuple(filter(None, (chosen(part, span) for part, span in scope.parts.items()))))
        for scope in scopes
    ]
    return [scope for scope in changed if scope.spans]


@dataclass(frozen=True)
class Found:
    """Records of one kind: how many in all, how many by pair, and some of them."""

    total: int = 0
    by_pair: dict[int, int] = field(default_factory=dict)
    examples: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class End:
    """Where a partition that was found clean ends: see mark.Mark. `records`: of the source that were read up to it."""

    offset: int
    copy: int
    fingerprint: int
    records: int


@dataclass
class Compared:
    """One comparison. `kinds` has an entry for each of KINDS; `pairs` counts records and bytes by pair number.

    ends    -- partitions that are clean and whose end is certain
    renewed -- partitions of which only what is new behind a mark was read
    """

    kinds: dict[str, Found] = field(default_factory=dict)
    pairs: dict[int, dict[str, int]] = field(default_factory=dict)
    slots: list[dict[str, Any]] = field(default_factory=list)
    cells: int = 0
    unequal_cells: int = 0
    disorder_unjudged: int = 0
    ends: dict[Part, End] = field(default_factory=dict)
    renewed: set[Part] = field(default_factory=set)


LOST, PHANTOM, CHANGED, DUPLICATED, DISORDER = "lost", "phantom", "changed", "duplicated", "out_of_order"
# Not judged: removed from one side while the source still promises it; past what it promises; in motion.
UNJUDGED, EXPIRED, IN_FLUX = "unjudged", "expired", "in_flux"
KINDS = (LOST, PHANTOM, CHANGED, DUPLICATED, DISORDER, UNJUDGED, EXPIRED, IN_FLUX)


def merged(found: list[Found], examples: int) -> Found:
    """Several findings of one kind as one."""
    by_pair: dict[int, int] = {}
    for part in found:
        for pair, count in part.by_pair.items():
            by_pair[pair] = by_pair.get(pair, 0) + count
    shown = [example for part in found for example in part.examples][:examples]
    return Found(sum(part.total for part in found), by_pair, shown)


# Comparisons that are begun at most: topics whose retention works all the time would hold the others up for ever.
ATTEMPTS = 5


def undisturbed(
    scopes: list[Scope],
    compare: Callable[[list[Scope]], tuple[Compared | None, str]],
    changed: Callable[[list[Scope]], dict[str, str]],
) -> tuple[Compared, list[Scope], dict[str, str]]:
    """Return the comparison, the scopes that it is of, and why the others could not be read, by topic.

    compare -- compares scopes; None with the message of the error where records were gone when they were read
    changed -- what happened to the topics of scopes since they were frozen, by topic of either side
    """
    rest, gone = scopes, dict[str, str]()
    for _attempt in range(ATTEMPTS):
        seen, why = compare(rest)
        if seen is not None:
            return seen, rest, gone
        lost = changed(rest) or _named(rest, why)
        gone |= lost or {scope.source: f"records were gone when they were read: {why}" for scope in rest}
        rest = [scope for scope in rest if scope.source not in gone and scope.target not in gone]
    given_up = f"others lost records in each of {ATTEMPTS} comparisons"
    return Compared(), [], gone | {scope.source: given_up for scope in rest}


def _named(scopes: list[Scope], why: str) -> dict[str, str]:
    """Return the topics of which the message names a partition."""
    names = {
        f"{name}-{span.partition}": name
        for scope in scopes
        for name in (scope.source, scope.target)
        for span in scope.spans
    }
    # A name of a topic has these characters; a longer one that ends alike is another topic.
    words = {word.rstrip(".") for word in re.findall(r"[A-Za-z0-9._-]+", why)}
    return {name: "records were gone when they were read" for place, name in names.items() if place in words}

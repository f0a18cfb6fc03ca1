"""Source against mirror, without a race while both go on. Aggregates first, records only of unequal cells.

The order in which four offsets of a partition are taken makes the judgement sound:

1. the source's end (last stable offset) is frozen, and in it the **frontier**, the last data record below it: control
   records, aborted records and compaction mean that the end minus one may never be mirrored;
2. the mirror's own position reaches the frontier, so every record up to it is on the target;
3. the target's end is taken: high watermark first, then the last stable offset is awaited to pass it, since the marker
   of a mirror's transaction may reach the offsets topic before it reaches the data;
4. the source's end is taken a second time. What the target holds below 3 was read from the source before 4.

So a record of the source up to the frontier **must** be on the target, one between 1 and 4 **may** be, and a record of
the target that is in neither set is a phantom however busy the topics are. No bucket is "open": a cell is equal when
the mirror's sums are those of the musts, or of the musts and all the mays (it has caught up meanwhile); every other
cell, which on a busy topic is the newest of each partition, is compared record by record.

What retention removed at the start of either side: anchors.py. Compacted topics: compacted.py.
Nothing here collects what grows with the records: sums by topic, by partition and by slot of a plot, and examples.
What several steps use is kept on the executors (localCheckpoint): sums of cells, and the records that differ.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.read import Reader, TopicRanges
from spark_validation.mirror import anchors, cells, compacted, records
from spark_validation.mirror.rows import bounds, marked
from spark_validation.mirror.seen import (
    DISORDER,
    DUPLICATED,
    EXPIRED,
    KINDS,
    LOST,
    PHANTOM,
    UNJUDGED,
    Compared,
    Found,
    Scope,
    merged,
)

_SINGLE = (LOST, PHANTOM, DUPLICATED, UNJUDGED, EXPIRED)
# By (pair, partition): the offsets to read.
_Parts = dict[tuple[int, int], tuple[int, int]]


@dataclass(frozen=True)
class How:
    """How to compare. `bucket_ms`: width of a cell; `from_ms`: judge records from this time on."""

    keeps_partitions: bool = True
    bucket_ms: int = 60_000
    from_ms: int | None = None
    examples: int = 20
    order_check: bool = True


class Comparison:
    """One comparison of frozen ranges; `source` and `target` read them."""

    def __init__(self, session: SparkSession, source: Reader, target: Reader, how: How) -> None:
        """Nothing is read yet."""
        self.session, self.how = session, how
        self._readers = {"source": source, "target": target}

    def run(self, scopes: list[Scope]) -> Compared:
        """Compare all pairs: the plain ones in one read, the compacted ones in another."""
        seen = Compared()
        found: dict[str, list[Found]] = {kind: [] for kind in KINDS}
        plain = [scope for scope in scopes if not scope.compacted]
        compacted = [scope for scope in scopes if scope.compacted]
        for kinds in (self._plain(plain, seen) if plain else {}, self._compacted(compacted, seen) if compacted else {}):
            for kind, part in kinds.items():
                found[kind].append(part)
        seen.kinds = {kind: merged(parts, self.how.examples) for kind, parts in found.items()}
        return seen

    def _plain(self, scopes: list[Scope], seen: Compared) -> dict[str, Found]:
        summed = cells.cells(self._rows(scopes)).localCheckpoint()
        seen.pairs.update(cells.by_pair(summed))
        seen.cells = sum(pair["cells"] for pair in seen.pairs.values())
        seen.unequal_cells = sum(pair["unequal_cells"] for pair in seen.pairs.values())
        timeless = [scope.number for scope in scopes if scope.timeless]
        seen.slots = cells.slots(summed, self.how.bucket_ms, timeless)
        found = self._records(scopes, summed) if seen.unequal_cells else {}
        if self.how.keeps_partitions:
            suspects = cells.suspects(summed)
            if self.how.order_check and suspects:
                found[DISORDER] = self._order(scopes, set(suspects))
            elif suspects:
                seen.disorder_unjudged = len(suspects)
        return found

    def _records(self, scopes: list[Scope], summed: DataFrame) -> dict[str, Found]:
        """The exact lists of the unequal cells."""
        how = self.how
        bad = summed.where(~F.col("equal"))
        pairs = {int(row["pair"]) for row in bad.select("pair").distinct().collect()}
        touched = [scope for scope in scopes if scope.number in pairs]
        cut = [scope for scope in touched if any(span.cut_source or span.cut_target for span in scope.spans)]
        wanted, firsts = bad, None
        if cut:
            firsts = self._firsts(cut).localCheckpoint()
            # Every copy of the first records is looked for, and copies stand in the same cell.
            wanted = bad.union(summed.where("equal").join(firsts, cells.CELL, "left_semi"))
        rows = self._within(touched, wanted).join(wanted, cells.CELL, "left_semi")
        odd = records.differing(rows).localCheckpoint()
        if firsts is not None:
            marks = anchors.marks(self.session, cut, rows, firsts, how.keeps_partitions)
            promised = self._promised(touched)
            odd = records.excused(odd, marks, promised, how.keeps_partitions).localCheckpoint()
        found = records.listed(odd, _SINGLE, scopes, how.examples)
        if found[LOST].total and found[PHANTOM].total:
            found |= records.listed(records.changes(odd), (LOST, PHANTOM), scopes, how.examples)
        return found

    def _order(self, scopes: list[Scope], suspects: set[tuple[int, int]]) -> Found:
        parts = {side: self._spans(scopes, side, suspects) for side in self._readers}
        touched = [scope for scope in scopes if any(number == scope.number for number, _records in suspects)]
        rows = self._rows(touched, parts)
        cut = [scope for scope in touched if any(span.cut_source or span.cut_target for span in scope.spans)]
        marks = None
        if cut:
            marks = anchors.marks(self.session, cut, rows, self._firsts(cut), keeps=True)
        late = records.disorder(rows, marks)
        return records.listed(late, (DISORDER,), scopes, self.how.examples)[DISORDER]

    def _compacted(self, scopes: list[Scope], seen: Compared) -> dict[str, Found]:
        by_key = compacted.latest(self._rows(scopes, timed=False)).localCheckpoint()
        seen.pairs.update(compacted.by_pair(by_key))
        beyond = {
            (scope.number, span.partition): (
                span.source[0] if span.frontier is None else span.frontier + 1,
                span.source[1],
            )
            for scope in scopes
            for span in scope.spans
            if span.source
        }
        later = self._rows(scopes, {"source": beyond, "target": {}}, timed=False)
        cut = self.session.createDataFrame(
            [
                (
                    scope.number,
                    any(span.cut_source for span in scope.spans),
                    any(span.cut_target for span in scope.spans),
                )
                for scope in scopes
            ],
            "pair int, cut_source boolean, cut_target boolean",
        )
        wrong = compacted.differing(by_key, later, cut, self._promised(scopes), self.how.from_ms or 0).localCheckpoint()
        return records.listed(wrong, (), scopes, self.how.examples)

    def _rows(self, scopes: list[Scope], parts: dict[str, _Parts] | None = None, timed: bool = True) -> DataFrame:
        """Marked rows of both sides: all that is frozen, or `parts` of it."""
        how = self.how
        by_number = {scope.number: scope for scope in scopes}
        frames = []
        for side, read in self._readers.items():
            ranges: TopicRanges = {}
            for (number, partition), span in (self._spans(scopes, side) if parts is None else parts[side]).items():
                topic = getattr(by_number[number], side)
                ranges.setdefault(topic, {})[partition] = span
            places = bounds(self.session, scopes, side, how.keeps_partitions)
            frames.append(marked(read(ranges), places, side, how.bucket_ms, how.from_ms if timed else None))
        return frames[0].union(frames[1])

    @staticmethod
    def _spans(scopes: list[Scope], side: str, only: set[tuple[int, int]] | None = None) -> _Parts:
        return {
            (scope.number, partition): span
            for scope in scopes
            for partition, span in scope.ranges(side).items()
            if only is None or (scope.number, partition) in only
        }

    def _within(self, scopes: list[Scope], wanted: DataFrame) -> DataFrame:
        """Marked rows between the edges of the wanted cells; whole topics where partitions are not kept."""
        if not self.how.keeps_partitions:
            return self._rows(scopes)
        parts: dict[str, _Parts] = {"source": {}, "target": {}}
        for edge in cells.edges(wanted):
            for side, spans in parts.items():
                low, high = edge[f"{side}_low"], edge[f"{side}_high"]
                if low is not None and high is not None:
                    spans[int(edge["pair"] or 0), int(edge["place"] or 0)] = (int(low), int(high) + 1)
        return self._rows(scopes, parts)

    def _firsts(self, scopes: list[Scope]) -> DataFrame:
        parts = {
            side: {
                place: (low, min(low + anchors.FIRST, high)) for place, (low, high) in self._spans(scopes, side).items()
            }
            for side in self._readers
        }
        return self._rows(scopes, parts)

    def _promised(self, scopes: list[Scope]) -> DataFrame:
        rows = [(scope.number, scope.promised_from_ms, scope.sized) for scope in scopes]
        return self.session.createDataFrame(rows, "pair int, promised_from bigint, sized boolean")

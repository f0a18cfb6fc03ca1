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
Where an earlier audit left a mark (mark.py), what is new behind it is compared first. That decides one thing alone: a
partition in which all is equal needs no more, and every other one is compared whole, with those that have no mark.
Nothing here collects what grows with the records: sums by topic, by partition and by slot of a plot, and examples.
What several steps use is kept on the executors (localCheckpoint): sums of cells, and the records that differ.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812

from spark_validation.core.read import Reader, TopicRanges
from spark_validation.mirror import anchors, cells, compacted, records
from spark_validation.mirror.rows import MIRROR, bounds, marked
from spark_validation.mirror.seen import (
    DISORDER,
    DUPLICATED,
    EXPIRED,
    KINDS,
    LOST,
    PHANTOM,
    UNJUDGED,
    Compared,
    End,
    Found,
    Part,
    Scope,
    merged,
    respanned,
)

_SINGLE = (LOST, PHANTOM, DUPLICATED, UNJUDGED, EXPIRED)
# By partition: the offsets to read.
_Parts = dict[Part, tuple[int, int]]
# So many offsets more than records lie behind the copy of the last proven record (markers, aborted records).
_TAIL = 200


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

    def fingerprints(self, scopes: list[Scope], parts: dict[str, _Parts]) -> dict[str, dict[Part, int]]:
        """Return the fingerprint of the first record in each of these ranges, by side and partition."""
        rows = self._rows(scopes, parts)
        mirror = (F.col("side") == MIRROR).alias("mirror")
        first = rows.groupBy("pair", "partition", mirror).agg(F.min_by("id", "offset").alias("id"))
        prints: dict[str, dict[Part, int]] = {side: {} for side in self._readers}
        for row in first.collect():
            prints["target" if row["mirror"] else "source"][int(row["pair"]), int(row["partition"])] = int(row["id"])
        return prints

    def _plain(self, scopes: list[Scope], seen: Compared) -> dict[str, Found]:
        sums, read = [], []
        fresh = respanned(scopes, lambda _part, span: span.behind_mark if span.since else None)
        if fresh:
            summed = cells.cells(self._rows(fresh)).localCheckpoint()
            seen.renewed = _parts(fresh) - self._unclean(fresh, summed)
            sums.append(summed.join(F.broadcast(self._places(seen.renewed)), ["pair", "place"], "left_semi"))
            read += respanned(fresh, lambda part, span: span if part in seen.renewed else None)
        found: dict[str, Found] = {}
        expired: dict[Part, int] = {}
        clean = set(seen.renewed)
        whole = respanned(scopes, lambda part, span: None if part in seen.renewed else span)
        if whole:
            summed = cells.cells(self._rows(whole)).localCheckpoint()
            sums.append(summed)
            read += whole
            found, wrong, expired = self._judged(whole, summed, seen)
            clean |= _parts(whole) - wrong
        together = sums[0] if len(sums) == 1 else sums[0].union(sums[1])
        by_part = cells.by_part(together)
        seen.pairs.update(cells.by_pair(by_part))
        seen.cells = sum(part["cells"] for part in by_part.values())
        seen.unequal_cells = sum(part["unequal_cells"] for part in by_part.values())
        timeless = [scope.number for scope in scopes if scope.timeless]
        seen.slots = cells.slots(together, self.how.bucket_ms, timeless)
        if self.how.keeps_partitions and self.how.from_ms is None:
            copied = {
                part: by_part[part]["n_t"] - by_part[part]["n_a"] - expired.get(part, 0)
                for part in clean & set(by_part)
                if by_part[part]["n_a"]
            }
            seen.ends = self._ends(read, copied, by_part)
        return found

    def _unclean(self, scopes: list[Scope], summed: DataFrame) -> set[Part]:
        """Partitions in which anything is wrong, or whose order is not proven."""
        odd = self._odd(scopes, summed)
        wrong = set() if odd is None else _of_rows(odd)
        suspects = set(cells.suspects(summed))
        if self.how.order_check and suspects:
            suspects = _of_rows(self._late(scopes, suspects))
        return wrong | suspects

    def _judged(
        self, scopes: list[Scope], summed: DataFrame, seen: Compared
    ) -> tuple[dict[str, Found], set[Part], dict[Part, int]]:
        """Return what is wrong with these partitions, which of them are not clean, and what expired in them.

        The last is, by partition, how many expired records the target still has, less those that the source has.
        """
        examples = self.how.examples
        kinds: dict[str, Found] = {}
        wrong: set[Part] = set()
        expired: dict[Part, int] = {}
        odd = self._odd(scopes, summed)
        if odd is not None:
            kinds = records.listed(odd, _SINGLE, scopes, examples)
            if kinds[LOST].total and kinds[PHANTOM].total:
                kinds |= records.listed(records.changes(odd), (LOST, PHANTOM), scopes, examples)
            for row in odd.groupBy("pair", "place", "kind", "on_target").count().collect():
                part = int(row["pair"]), int(row["place"])
                if row["kind"] == EXPIRED:
                    expired[part] = expired.get(part, 0) + int(row["count"]) * (1 if row["on_target"] else -1)
                else:
                    wrong.add(part)
        if self.how.keeps_partitions:
            suspects = set(cells.suspects(summed))
            if self.how.order_check and suspects:
                late = self._late(scopes, suspects).localCheckpoint()
                kinds[DISORDER] = records.listed(late, (DISORDER,), scopes, examples)[DISORDER]
                wrong |= _of_rows(late)
            elif suspects:
                seen.disorder_unjudged = len(suspects)
                wrong |= suspects
        return kinds, wrong, expired

    def _odd(self, scopes: list[Scope], summed: DataFrame) -> DataFrame | None:
        """The records of unequal cells that one side lacks, with their kind; None where all cells are equal."""
        how = self.how
        bad = summed.where(~F.col("equal"))
        pairs = {int(row["pair"]) for row in bad.select("pair").distinct().collect()}
        if not pairs:
            return None
        touched = [scope for scope in scopes if scope.number in pairs]
        cut = [scope for scope in touched if any(span.is_cut for span in scope.spans)]
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
        return odd

    def _late(self, scopes: list[Scope], suspects: set[Part]) -> DataFrame:
        parts = {side: self._spans(scopes, side, suspects) for side in self._readers}
        touched = [scope for scope in scopes if any(number == scope.number for number, _records in suspects)]
        rows = self._rows(touched, parts)
        cut = [scope for scope in touched if any(span.is_cut for span in scope.spans)]
        marks = None
        if cut:
            marks = anchors.marks(self.session, cut, rows, self._firsts(cut), keeps=True)
        return records.disorder(rows, marks)

    def _ends(self, scopes: list[Scope], copied: dict[Part, int], sums: dict[Part, dict[str, int]]) -> dict[Part, End]:
        """The last proven record of clean partitions, where its place in the target is certain.

        copied -- by partition, how many records the target has of those that came after the frontier

        Counted from the target's end, the copy of the frontier stands behind so many records, and it has the frontier's
        fingerprint; then what stands before it are copies of what stands before the frontier, and no others.
        """
        parts: dict[str, _Parts] = {side: {} for side in self._readers}
        nth = []
        for scope in scopes:
            for part, span in scope.parts.items():
                more = copied.get(part, -1)
                if scope.timeless or more < 0 or span.frontier is None or span.target is None:
                    continue
                low, high = span.target
                parts["source"][part] = (span.frontier, span.frontier + 1)
                parts["target"][part] = (max(low, high - 4 * more - _TAIL), high)
                nth.append((*part, more + 1))
        if not nth:
            return {}
        rows = self._rows(scopes, parts)
        mirror = F.col("side") == MIRROR
        last = rows.where(~mirror).select("pair", "place", "id")
        order = Window.partitionBy("pair", "place").orderBy(F.col("offset").desc())
        behind = rows.where(mirror).withColumn("nth", F.row_number().over(order))
        places = self.session.createDataFrame(nth, "pair int, place int, nth int")
        met = behind.join(F.broadcast(places), ["pair", "place", "nth"]).join(last, ["pair", "place", "id"])
        ends = {}
        for row in met.select("pair", "place", "id", "offset").collect():
            part = int(row["pair"]), int(row["place"])
            ends[part] = End(parts["source"][part][0], int(row["offset"]), int(row["id"]), sums[part]["n_a"])
        return ends

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
    def _spans(scopes: list[Scope], side: str, only: set[Part] | None = None) -> _Parts:
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

    def _places(self, parts: set[Part]) -> DataFrame:
        return self.session.createDataFrame(sorted(parts), "pair int, place int")

    def _promised(self, scopes: list[Scope]) -> DataFrame:
        rows = [(scope.number, scope.promised_from_ms, scope.sized) for scope in scopes]
        return self.session.createDataFrame(rows, "pair int, promised_from bigint, sized boolean")


def _parts(scopes: list[Scope]) -> set[Part]:
    return {part for scope in scopes for part in scope.parts}


def _of_rows(rows: DataFrame) -> set[Part]:
    return {(int(row["pair"]), int(row["place"])) for row in rows.select("pair", "place").distinct().collect()}

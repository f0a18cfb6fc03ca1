"""Job `mirror_audit`: freeze the source, wait for the mirror, compare record by record, judge. It writes nothing.

Why the ranges are taken in the order in which they are: compare.py.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import replace

from pyspark.sql import SparkSession

from spark_validation.core.cluster import KafkaCluster, Place, TopicSeen
from spark_validation.core.errors import CannotRunError, root_cause
from spark_validation.core.progress import Progress, records_read
from spark_validation.core.read import reader
from spark_validation.core.result import Result, rate
from spark_validation.core.session import jvm, versions
from spark_validation.mirror import covered, figures, judge, mark
from spark_validation.mirror.anchors import FIRST
from spark_validation.mirror.compare import Comparison, How
from spark_validation.mirror.config import Arguments, Cluster
from spark_validation.mirror.freeze import Offsets, SourceFrozen, TargetFrozen, begins, scopes
from spark_validation.mirror.frontier import frontiers
from spark_validation.mirror.position import Group, OffsetsTopic, Positions
from spark_validation.mirror.seen import ATTEMPTS, Compared, Part, Scope, Span, undisturbed
from spark_validation.mirror.wait import Waited, beyond, wait

# What Spark and the client say when offsets that were frozen are gone when they are read.
_DATA_GONE = ("KAFKA_DATA_LOSS", "failOnDataLoss", "OffsetOutOfRange", "data may have been lost", "data was aged out")
# Seconds that a transaction of the source may take to end: one of a producer that is gone ends after 60 s
# (transaction.timeout.ms), and the coordinator looks for those every 10 s.
_SETTLE_SECONDS = 120


class MirrorAudit:
    """One run of the job; `result` fills as it goes, so that also a run that breaks off tells what it knew."""

    def __init__(self, session: SparkSession, arguments: Arguments, progress: Progress, result: Result) -> None:
        """Nothing is contacted yet."""
        self.session, self.arguments, self.progress, self.result = session, arguments, progress, result

    def run(self) -> None:
        """Do the whole job. Raises CannotRunError when a cluster does not answer."""
        arguments, result = self.arguments, self.result
        result.versions = versions(self.session)
        # First: what is known to be lost is a failure, whatever can be compared.
        result.checks += judge.judge_gaps(arguments)
        with ExitStack() as stack:
            self._source = stack.enter_context(self._cluster(arguments.source))
            self._target = stack.enter_context(self._cluster(arguments.target))
            with self.progress.phase("freeze", f"freeze the ends of {len(arguments.pairs)} topics"):
                frozen = self._freeze()
                before = self._target.topics([pair.target for pair in arguments.pairs])
            with self.progress.phase("wait", "wait for the mirror to reach them"):
                waited = self._wait(frozen)
            examples = arguments.max_examples
            result.checks.append(judge.judge_settled(frozen.unread, examples))
            result.checks += judge.judge_caught_up(waited, frozen.lasts, arguments.wait_seconds, examples)
            result.figures["lag"] = waited.samples
            with self.progress.phase("compare", "compare source and mirror"):
                self._compare(frozen, before, waited)

    def _cluster(self, side: Cluster) -> KafkaCluster:
        return KafkaCluster(jvm(self.session), side.alias, side)

    def _freeze(self) -> SourceFrozen:
        """The source now. Nothing is judged yet, so where records go while their ends are looked for, that is done
        again."""
        for _attempt in range(ATTEMPTS - 1):
            try:
                return self._frozen()
            except CannotRunError as error:
                if not _is_gone(error.why):
                    raise
        return self._frozen()

    def _frozen(self) -> SourceFrozen:
        arguments, source = self.arguments, self._source
        topics = source.topics([pair.source for pair in arguments.pairs])
        places = [(name, index) for name, topic in topics.items() for index in range(topic.partitions)]
        ends, unsettled = source.settled_ends(places, min(arguments.wait_seconds, _SETTLE_SECONDS))
        log_starts = source.starts(places)
        starts = begins(log_starts, ends, self._at_time(source, places))
        ranges = {place: (start, ends[place]) for place, start in starts.items()}
        lasts = frontiers(jvm(self.session), source.alias, arguments.source, ranges)
        unread = {
            topic: f"a transaction is open, partition {index} is read up to offset {ends[topic, index]}"
            for topic, index in unsettled
        }
        return SourceFrozen(topics, log_starts, starts, lasts, unread)

    def _at_time(self, cluster: KafkaCluster, places: list[Place]) -> Offsets | None:
        return None if self.arguments.from_ms is None else cluster.at(places, self.arguments.from_ms)

    def _wait(self, frozen: SourceFrozen) -> Waited:
        arguments = self.arguments
        positions: Positions
        if arguments.group:
            positions = Group(self._source, arguments.group)
        else:
            read = reader(self.session, arguments.target)
            positions = OffsetsTopic(self._target, arguments.offsets_topic or "", arguments.source.alias, read)
        return wait(positions, frozen.lasts, frozen.starts, arguments.wait_seconds, self.progress)

    def _compare(self, frozen: SourceFrozen, before: dict[str, TopicSeen], waited: Waited) -> None:
        """Freeze the target, compare, and look again whether everything stayed what it was."""
        arguments, result = self.arguments, self.result
        behind = waited.behind_by_topic()
        disturbed = {pair.source: "it was deleted" for pair in arguments.pairs if pair.source not in frozen.topics}
        pairs = [pair for pair in arguments.pairs if pair.source in frozen.topics and pair.source not in behind]
        target, unsettled = self._freeze_target([pair.target for pair in pairs])
        disturbed |= {place[0]: "a transaction stays open in it" for place in unsettled}
        deleted = {pair.target for pair in pairs if pair.target in before} - set(target.topics)
        disturbed |= dict.fromkeys(deleted, "it was deleted")
        present = [pair for pair in pairs if pair.target not in deleted]
        result.checks += judge.judge_topics(present, frozen.topics, target.topics, frozen.lasts, arguments)
        # Now that the ends of the target stand, everything below them lies below these ends of the source.
        judged = {pair.source for pair in pairs if pair.target in target.topics}
        places = [place for place in frozen.starts if place[0] in judged]
        second = self._source.ends(places)
        disturbed |= beyond(waited.positions, self._source.ends(places, committed=False))
        frozen_scopes = scopes(pairs, frozen, target, second, arguments.from_ms, int(time.time() * 1000))
        known = {**target.topics, **before}

        def changed(compared: list[Scope]) -> dict[str, str]:
            """Return what happened to these topics since they were frozen, by topic of either side."""
            names = {scope.source for scope in compared}, {scope.target for scope in compared}
            return {
                **_disturbed(self._source, frozen.topics, names[0], frozen.starts),
                **_disturbed(self._target, known, names[1], target.starts),
            }

        marks, unreadable = mark.read(arguments.marks)
        used, whole = self._standing(frozen_scopes, marks, unreadable, frozen, target)
        begun_scopes = mark.begun(frozen_scopes, used)
        result.figures["frozen"] = figures.frozen(begun_scopes)
        begun = time.monotonic()
        seen, compared, gone = undisturbed(begun_scopes, self._seen, changed)
        seconds = time.monotonic() - begun
        disturbed |= gone | changed(compared)
        result.checks.append(judge.judge_stable(disturbed, arguments.max_examples))
        result.checks += judge.judge_records(seen, compared, arguments, disturbed)
        coverage = covered.coverage(arguments, seen, compared, disturbed, behind, frozen.unread)
        settled = [scope for scope in compared if scope.source not in disturbed and scope.target not in disturbed]
        if arguments.incremental:
            numbers = {scope.number for scope in settled}
            coverage = replace(coverage, earlier=mark.earlier(used, whole, seen.renewed, numbers))
        if arguments.keeps_partitions and arguments.from_ms is None:
            ids = frozen.topics, target.topics
            kept = mark.kept(marks, arguments.pairs, settled, seen.ends, seen.renewed, ids, self.result.started_ms)
            result.figures["marks"] = mark.written(kept)
        result.checks.append(covered.judge_compared(coverage))
        result.covered += covered.sentences(coverage, arguments.from_ms)
        result.figures["covered"] = covered.figures(coverage)
        result.figures.update(figures.of_comparison(seen, compared))
        result.figures["read"] = rate(result.figures["total"]["records"], seconds)

    def _freeze_target(self, names: list[str]) -> tuple[TargetFrozen, list[Place]]:
        """The target now, and partitions in which a transaction does not end."""
        target = self._target
        topics = target.topics(names)
        places = [(name, index) for name, topic in topics.items() for index in range(topic.partitions)]
        ends, unsettled = target.settled_ends(places, 3.0 * self.arguments.timeout_seconds)
        log_starts = target.starts(places)
        # A target that stamps its own time has none in common with the source: it is read from its start.
        own_time = {place: log_starts[place] for place in places if topics[place[0]].stamps_time}
        timed = [place for place in places if place not in own_time]
        starts = begins({place: log_starts[place] for place in timed}, ends, self._at_time(target, timed))
        starts |= begins(own_time, ends, None)
        return TargetFrozen(topics, log_starts, starts, ends), unsettled

    def _standing(
        self,
        scopes: list[Scope],
        marks: dict[Place, mark.Mark],
        unreadable: set[Place],
        frozen: SourceFrozen,
        target: TargetFrozen,
    ) -> tuple[dict[Part, mark.Mark], dict[Part, str]]:
        """The marks from which the comparison may begin, and of other partitions with records why it does not."""
        arguments = self.arguments
        if not arguments.incremental:
            return {}, {}
        spans = {part: (scope, span) for scope in scopes for part, span in scope.parts.items()}
        used: dict[Part, mark.Mark] = {}
        whole: dict[Part, str] = {}
        for part, (scope, span) in spans.items():
            place = scope.source, span.partition
            known = marks.get(place)
            if arguments.from_ms is not None:
                why: str | None = mark.FROM_TIME
            elif not arguments.keeps_partitions:
                why = mark.NOT_KEPT
            elif known is None:
                why = mark.UNREADABLE if place in unreadable else mark.NEW
            else:
                why = mark.void(known, scope, span, frozen.topics[scope.source], target.topics[scope.target])
            if why is None and known is not None:
                used[part] = known
            elif span.frontier is not None and why:
                whole[part] = why
        if not used:
            return used, whole
        with self.progress.phase("marks", f"look whether the marks of {len(used)} partitions still hold"):
            fallen = self._fallen(used, spans)
        return {part: known for part, known in used.items() if part not in fallen}, whole | fallen

    def _fallen(self, used: dict[Part, mark.Mark], spans: dict[Part, tuple[Scope, Span]]) -> dict[Part, str]:
        """Read the records of these marks, and the first that the source promises: why marks do not hold."""
        scopes = list({spans[part][0].number: spans[part][0] for part in used}.values())
        lasts = {
            "source": {part: (known.offset, known.offset + 1) for part, known in used.items()},
            "target": {part: (known.copy, known.copy + 1) for part, known in used.items()},
        }
        cut = {part: spans[part] for part in used if spans[part][1].is_cut}
        heads = {"source": self._heads(self._source, cut, "source"), "target": self._heads(self._target, cut, "target")}
        try:
            comparison = self._comparison()
            proofs = comparison.fingerprints(scopes, lasts)
            firsts = comparison.fingerprints(scopes, heads) if cut else {"source": {}, "target": {}}
        except Exception as error:
            why = root_cause(error)
            if _is_gone(f"{why} {error}"):
                return dict.fromkeys(used, mark.REMOVED)
            raise CannotRunError("read the records of marks", why) from error
        return mark.fallen(used, proofs, set(cut), heads, firsts)

    @staticmethod
    def _heads(cluster: KafkaCluster, cut: dict[Part, tuple[Scope, Span]], side: str) -> dict[Part, tuple[int, int]]:
        """Where the records begin that the source promises to hold, by partition; without those that have none."""
        heads = {}
        for since in {scope.promised_from_ms for scope, _span in cut.values()}:
            places = {
                (getattr(scope, side), span.partition): part
                for part, (scope, span) in cut.items()
                if scope.promised_from_ms == since
            }
            # Below 0 a time has a meaning of its own for brokers; a topic that keeps records for ever may have one.
            for place, offset in cluster.at(places, max(0, since or 0)).items():
                scope, span = cut[places[place]]
                end = scope.ranges(side)[span.partition][1]
                if 0 <= offset < end:
                    heads[places[place]] = (offset, min(offset + FIRST, end))
        return heads

    def _comparison(self) -> Comparison:
        arguments = self.arguments
        how = How(
            arguments.keeps_partitions,
            arguments.bucket_seconds * 1000,
            arguments.from_ms,
            arguments.max_examples,
            arguments.order_check,
        )
        source, target = (reader(self.session, side) for side in (arguments.source, arguments.target))
        return Comparison(self.session, source, target, how)

    def _seen(self, compared: list[Scope]) -> tuple[Compared | None, str]:
        """The comparison; None and the reason when records were gone before they were read."""
        spans = [span.behind_mark if span.since else span for scope in compared for span in scope.spans]
        offsets = sum(part[1] - part[0] for span in spans for part in (span.source, span.target) if part)
        if not compared:
            return Compared(), ""
        try:
            with self.progress.watch("compare", offsets, "offsets", records_read(self.session, offsets)):
                return self._comparison().run(compared), ""
        except Exception as error:
            why = root_cause(error)
            # Retention or a deletion took records while they were read: that is no verdict on the mirror.
            if _is_gone(f"{why} {error}"):
                return None, f"{why} {error}"
            raise CannotRunError("read", why) from error


def _is_gone(why: str) -> bool:
    return any(word in why for word in _DATA_GONE)


def _disturbed(cluster: KafkaCluster, before: dict[str, TopicSeen], names: set[str], starts: Offsets) -> dict[str, str]:
    """Return what happened to topics since `before` and `starts` (the first offsets read) were taken, by topic."""
    now = cluster.topics(sorted(names))
    found = {}
    for name in names:
        if name not in now:
            found[name] = "it was deleted"
        elif now[name].id != before[name].id:
            found[name] = "it was deleted and made anew"
        elif now[name].partitions != before[name].partitions:
            found[name] = f"it has {now[name].partitions} partitions now and had {before[name].partitions}"
    places = [place for place in starts if place[0] in names - set(found)]
    for place, start in cluster.starts(places).items():
        if start > starts[place]:
            found[place[0]] = f"records of partition {place[1]} were removed up to offset {start}"
    return found

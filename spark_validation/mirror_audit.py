"""Job `mirror_audit`: freeze the source, wait for the mirror, compare record by record, judge. It writes nothing.

Why the ranges are taken in the order in which they are: module mirror_compare.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from contextlib import ExitStack

from pyspark.sql import SparkSession

from spark_validation import figures, mirror_figures, mirror_judge
from spark_validation.errors import CannotRunError, root_cause
from spark_validation.mirror_cluster import MirrorCluster, Place, TopicSeen
from spark_validation.mirror_compare import Comparison, How
from spark_validation.mirror_config import Arguments, Cluster
from spark_validation.mirror_frontier import frontiers
from spark_validation.mirror_position import Group, OffsetsTopic, Positions
from spark_validation.mirror_read import reader
from spark_validation.mirror_seen import Compared, Scope, Span
from spark_validation.mirror_wait import Waited, wait
from spark_validation.progress import Progress, records_read
from spark_validation.result import Result
from spark_validation.session import jvm, versions

_Ranges = dict[Place, tuple[int, int]]
_LOST_DATA = ("failOnDataLoss", "OffsetOutOfRange", "data loss", "KAFKA_DATA_LOSS", "offset was changed")


class MirrorAudit:
    """One run of the job; `result` fills as it goes, so that also a run that breaks off tells what it knew."""

    def __init__(self, session: SparkSession, arguments: Arguments, progress: Progress, result: Result) -> None:
        """Nothing is contacted yet."""
        self.session, self.arguments, self.progress, self.result = session, arguments, progress, result

    def run(self) -> None:
        """Do the whole job. Raises CannotRunError when a cluster does not answer."""
        arguments, result = self.arguments, self.result
        result.versions = versions(self.session)
        with ExitStack() as stack:
            self._source = stack.enter_context(self._cluster(arguments.source))
            self._target = stack.enter_context(self._cluster(arguments.target))
            with self.progress.phase("freeze", f"freeze the ends of {len(arguments.pairs)} topics"):
                topics, frozen, lasts = self._freeze()
                before = self._target.topics(pair.target for pair in arguments.pairs)
            with self.progress.phase("wait", "wait for the mirror to reach them"):
                waited = self._wait(frozen, lasts)
            result.checks += mirror_judge.judge_caught_up(waited, lasts, arguments.wait_seconds, arguments.max_examples)
            result.figures["lag"] = waited.samples
            behind = {topic for topic, _ in waited.behind}
            with self.progress.phase("compare", "compare source and mirror"):
                self._compare(topics, before, frozen, lasts, behind)

    def _cluster(self, side: Cluster) -> MirrorCluster:
        return MirrorCluster(jvm(self.session), side.alias, side)

    def _freeze(self) -> tuple[dict[str, TopicSeen], _Ranges, dict[Place, int | None]]:
        arguments, source = self.arguments, self._source
        topics = source.topics(pair.source for pair in arguments.pairs)
        gone = [pair.source for pair in arguments.pairs if pair.source not in topics]
        if gone:
            raise CannotRunError(f"topics of cluster {arguments.source.alias}", f"they do not exist: {', '.join(gone)}")
        places = [(name, index) for name, topic in topics.items() for index in range(topic.partitions)]
        ends = source.ends(places)
        self._log_starts = source.starts(places)
        starts = _from(self._log_starts, ends, source, arguments.from_ms)
        frozen = {place: (min(starts[place], ends[place]), ends[place]) for place in places}
        return topics, frozen, frontiers(jvm(self.session), source.alias, arguments.source, frozen)

    def _wait(self, frozen: _Ranges, lasts: dict[Place, int | None]) -> Waited:
        arguments = self.arguments
        positions: Positions
        if arguments.group:
            positions = Group(self._source, arguments.group)
        else:
            read = reader(self.session, arguments.target)
            positions = OffsetsTopic(self._target, arguments.offsets_topic or "", arguments.source.alias, read)
        starts = {place: start for place, (start, _) in frozen.items()}
        return wait(positions, lasts, starts, arguments.wait_seconds, self.progress)

    def _compare(
        self,
        topics: dict[str, TopicSeen],
        before: dict[str, TopicSeen],
        frozen: _Ranges,
        lasts: dict[Place, int | None],
        behind: set[str],
    ) -> None:
        arguments, result = self.arguments, self.result
        pairs = [pair for pair in arguments.pairs if pair.source not in behind]
        mirrors = self._target.topics(pair.target for pair in pairs)
        held = {topic: 1 for (topic, _), last in lasts.items() if last is not None}
        result.checks += mirror_judge.judge_topics(pairs, topics, mirrors, held, arguments.max_examples)
        places = [(name, index) for name, topic in mirrors.items() for index in range(topic.partitions)]
        target_ends, unsettled = self._target.settled_ends(places, 3.0 * arguments.timeout_seconds)
        log_starts = self._target.starts(places)
        # The timeless have no time in common with the source: their whole mirror is read.
        timed = [place for place in places if not mirrors[place[0]].stamps_time]
        target_starts = log_starts | _from(
            {place: log_starts[place] for place in timed}, target_ends, self._target, arguments.from_ms
        )
        # Now that the ends of the target stand, everything below them lies below these ends of the source.
        judged = {pair.source for pair in pairs if pair.target in mirrors}
        second = self._source.ends([place for place in frozen if place[0] in judged])
        scopes = []
        for number, pair in enumerate(pairs):
            if pair.target not in mirrors:
                continue
            source, mirror = topics[pair.source], mirrors[pair.target]
            spans = []
            for index in range(max(source.partitions, mirror.partitions)):
                here, there = (pair.source, index), (pair.target, index)
                spans.append(
                    Span(
                        index,
                        lasts.get(here),
                        (frozen[here][0], max(second[here], frozen[here][0])) if here in frozen else None,
                        (min(target_starts[there], target_ends[there]), target_ends[there])
                        if there in target_ends
                        else None,
                        self._is_cut(here, frozen, mirror.stamps_time),
                        there in log_starts and log_starts[there] > 0 and target_starts[there] == log_starts[there],
                    )
                )
            scopes.append(
                Scope(number, pair.source, pair.target, tuple(spans), mirror.stamps_time,
                      source.compacted or mirror.compacted, _promised_from(source))
            )  # fmt: skip
        result.figures["frozen"] = mirror_figures.frozen(scopes)
        disturbed = {place[0]: "a transaction stays open in it" for place in unsettled}
        seen, seconds = self._seen(scopes, disturbed)
        disturbed |= self._disturbed(self._source, topics, {scope.source for scope in scopes}, self._log_starts)
        disturbed |= self._disturbed(
            self._target, {**before, **mirrors, **before}, {scope.target for scope in scopes}, log_starts
        )
        result.checks.append(mirror_judge.judge_stable(disturbed, arguments.max_examples))
        result.checks += mirror_judge.judge_records(seen, scopes, arguments, disturbed)
        result.figures.update(mirror_figures.of_comparison(seen, scopes))
        result.figures["read"] = figures.rate(result.figures["total"]["records"], seconds)

    def _is_cut(self, place: Place, frozen: _Ranges, timeless: bool) -> bool:
        if place not in frozen:
            return False
        if self.arguments.from_ms is not None and timeless:
            return frozen[place][0] > 0
        return self._log_starts[place] > 0 and frozen[place][0] == self._log_starts[place]

    def _seen(self, scopes: list[Scope], disturbed: dict[str, str]) -> tuple[Compared, float]:
        arguments = self.arguments
        how = How(
            arguments.keeps_partitions, arguments.bucket_seconds * 1000, arguments.from_ms, arguments.max_examples,
            arguments.order_check,
        )  # fmt: skip
        sides = [reader(self.session, side) for side in (arguments.source, arguments.target)]
        offsets = sum(
            end - start
            for scope in scopes
            for side in ("source", "target")
            for start, end in scope.ranges(side).values()
        )
        begun = time.monotonic()
        if not scopes:
            return Compared(), 0.0
        try:
            with self.progress.watch("compare", offsets, "offsets", records_read(self.session, offsets)):
                seen = Comparison(self.session, sides[0], sides[1], how).run(scopes)
        except Exception as error:
            why = root_cause(error)
            if not any(word in f"{why} {error}" for word in _LOST_DATA):
                raise CannotRunError("read", why) from error
            # Retention or a deletion took records while they were read: that is no verdict on the mirror.
            disturbed |= {scope.source: f"records were removed while they were read: {why}" for scope in scopes}
            seen = Compared()
        return seen, time.monotonic() - begun

    @staticmethod
    def _disturbed(
        cluster: MirrorCluster, before: dict[str, TopicSeen], names: set[str], starts: dict[Place, int]
    ) -> dict[str, str]:
        now = cluster.topics(sorted(names))
        found = {}
        for name in names:
            if name not in now:
                found[name] = "it was deleted"
            elif name in before and now[name].id != before[name].id:
                found[name] = "it was deleted and made anew"
            elif name in before and now[name].partitions != before[name].partitions:
                found[name] = f"it has {now[name].partitions} partitions now, {before[name].partitions} before"
        places = [place for place in starts if place[0] in names - set(found)]
        for place, start in cluster.starts(places).items():
            if start > starts[place]:
                found[place[0]] = f"records of partition {place[1]} were removed up to offset {start}"
        return found


def _from(
    starts: dict[Place, int], ends: dict[Place, int], cluster: MirrorCluster, from_ms: int | None
) -> dict[Place, int]:
    """Where to begin: at the start of the log, or at the first record of that time or later (the end if none)."""
    if from_ms is None:
        return starts
    found = cluster.at(starts, from_ms)
    return {place: max(start, found[place] if found[place] >= 0 else ends[place]) for place, start in starts.items()}


def _promised_from(topic: TopicSeen) -> int | None:
    """From when on the topic promises to hold its records; None: all of them, for ever."""
    if not topic.deletes or topic.retention_ms < 0:
        return None
    return int(time.time() * 1000) - topic.retention_ms

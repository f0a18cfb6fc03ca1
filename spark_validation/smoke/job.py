"""Job `smoke`: write records to every broker, read them back, judge; or read an earlier run again and judge."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import SparkSession

from spark_validation.core.errors import CannotRunError, root_cause
from spark_validation.core.progress import Progress, records_read
from spark_validation.core.read import reader
from spark_validation.core.result import FAIL, INFO, Check, Result, rate
from spark_validation.core.session import client_properties, cores, jvm, versions
from spark_validation.smoke import audit, figures, judge
from spark_validation.smoke.config import Arguments
from spark_validation.smoke.examine import examine
from spark_validation.smoke.geometry import Geometry, writers_for
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.live import probe
from spark_validation.smoke.observed import Observation
from spark_validation.smoke.presence import Brokers, Presence, Watch
from spark_validation.smoke.stream import stream_range
from spark_validation.smoke.topic import Partition, Topic
from spark_validation.smoke.write import write_records


class Smoke:
    """One run of the job; `result` fills as it goes, so that also a run that breaks off tells what it knew."""

    def __init__(self, session: SparkSession, arguments: Arguments, progress: Progress, result: Result) -> None:
        """Nothing is contacted yet."""
        self.session, self.arguments, self.progress, self.result = session, arguments, progress, result
        self.output = Path(arguments.output_dir)

    def run(self) -> None:
        """Do the whole job. Raises CannotRunError when the cluster cannot be judged at all."""
        self.result.versions = versions(self.session)
        with ExitStack() as stack:
            earlier = Ledger.load(Path(self.arguments.ledger_file or "")) if self.arguments.mode == "audit" else None
            name = earlier.topic if earlier else self.arguments.topic
            topic = stack.enter_context(Topic(jvm(self.session), name, client_properties(self.arguments)))
            work = Path(stack.enter_context(TemporaryDirectory(prefix="checkpoints-", dir=self.output)))
            with self.progress.phase("layout", f"look at topic {name}"):
                partitions = self._layout(topic, expected=earlier)
            if any(check.status == FAIL for check in self.result.checks):
                return
            if earlier is None:
                stack.enter_context(self._brokers_watched())
            ledger = earlier or self._write(topic, len(partitions))
            self._audit(topic, ledger, work)
            if self.arguments.mode == "run" and self.arguments.live_seconds:
                self._live(topic, [partition.index for partition in partitions], work)

    @contextmanager
    def _brokers_watched(self) -> Iterator[None]:
        """Look at the brokers all along; then the check that was made before the run is of the whole run."""
        presence = Presence(int(broker["id"]) for broker in self.result.cluster["brokers"])
        try:
            with (
                Brokers(jvm(self.session), client_properties(self.arguments)) as brokers,
                Watch(presence, brokers.live),
            ):
                yield
        finally:
            whole = presence.check()
            self.result.checks = [whole if check.name == whole.name else check for check in self.result.checks]

    def _layout(self, topic: Topic, expected: Ledger | None) -> list[Partition]:
        partitions = topic.partitions()
        if not partitions:
            if expected is None:
                raise CannotRunError(
                    f"topic {topic.name}", "it does not exist; create it first (the Ansible role does)"
                )
            self.result.checks.append(judge.judge_range(expected.ranges, {}, over=False))
            return []
        self.result.cluster = figures.cluster(topic.name, partitions, self.arguments)
        if expected is None:
            brokers = {int(broker["id"]): bool(broker["alive"]) for broker in self.result.cluster["brokers"]}
            self.result.checks += judge.judge_layout(partitions, brokers, self.arguments.partitions)
        elif expected.run_id != self.arguments.run_id:
            raise CannotRunError("ledger", f"it belongs to run {expected.run_id!r}, not to {self.arguments.run_id!r}")
        return partitions

    def _write(self, topic: Topic, partitions: int) -> Ledger:
        arguments = self.arguments
        writers = arguments.writers or writers_for(arguments.records, cores(self.session))
        try:
            shape = Geometry(arguments.records, partitions, writers)
        except ValueError as error:
            raise CannotRunError("arguments", str(error)) from error
        starts = topic.ends(partitions)
        begun = time.time()
        with (
            self.progress.phase(
                "write", f"write {shape.records:,} records by {writers} writers to {partitions} partitions"
            ),
            ExitStack() as stack,
        ):
            second = stack.enter_context(Topic(jvm(self.session), topic.name, client_properties(arguments)))
            stack.enter_context(
                self.progress.watch(
                    "write",
                    shape.records,
                    "records",
                    lambda: sum(second.ends(partitions).values()) - sum(starts.values()),
                )
            )
            try:
                attempts = write_records(self.session, arguments, shape)
            except Exception as error:
                raise CannotRunError("write", root_cause(error)) from error
        ended = time.time()
        wanted = {index: start + shape.partition_size(index) for index, start in starts.items()}
        ends = topic.settled_ends(partitions, wanted, arguments.timeout_seconds)
        ledger = Ledger(
            arguments.run_id,
            topic.name,
            self.result.cluster.get("id"),
            shape,
            attempts,
            {index: (start, ends[index]) for index, start in starts.items()},
            int(begun * 1000),
            int(ended * 1000),
        )
        ledger.save(self.output / "ledger.json")
        self.result.figures["write"] = rate(shape.records, ended - begun)
        return ledger

    def _audit(self, topic: Topic, ledger: Ledger, work: Path) -> None:
        arguments, result = self.arguments, self.result
        result.ledger, result.ranges = ledger.to_dict(), ledger.to_dict()["ranges"]
        held = self._held(topic, ledger)
        ranges = {index: judge.readable(offsets, held.get(index, (0, 0))) for index, offsets in ledger.ranges.items()}
        in_range = judge.judge_range(ledger.ranges, held, self._retention_over(ledger))
        result.checks.append(in_range)
        ranges = {index: offsets for index, offsets in ranges.items() if index in held}
        width = audit.slot_width_ms(ledger.began_ms, ledger.ended_ms)
        with (
            self.progress.phase("audit", f"read {ledger.span:,} offsets back and judge every record"),
            self.progress.watch("audit", ledger.span, "records", records_read(self.session, ledger.span)),
        ):
            rows = reader(self.session, arguments)({ledger.topic: ranges})
            try:
                examined = examine(self.session, rows, ledger, width)
            except Exception as error:
                raise CannotRunError("read", root_cause(error)) from error
        seen = examined.seen
        unreadable = in_range.suggests if in_range.status != FAIL else ""
        result.checks += examined.checks(unreadable)
        result.checks.append(judge.judge_latency(seen, arguments.max_latency_p99_ms))
        result.covered += figures.covered(seen, ledger, in_range.difference)
        result.figures["read"] = rate(seen.records, examined.seconds)
        result.figures.update(figures.of_observation(seen, ledger, width))
        if arguments.stream_check:
            self._stream(ledger, ranges, seen, work)

    def _held(self, topic: Topic, ledger: Ledger) -> dict[int, tuple[int, int]]:
        present = len(topic.partitions())
        starts, ends = topic.starts(present), topic.ends(present)
        return {index: (starts[index], ends[index]) for index in range(present) if index in ledger.ranges}

    def _retention_over(self, ledger: Ledger) -> bool:
        retention = self.arguments.topic_retention_seconds
        return retention is not None and time.time() * 1000 > ledger.began_ms + retention * 1000

    def _stream(self, ledger: Ledger, ranges: dict[int, tuple[int, int]], seen: Observation, work: Path) -> None:
        begun = time.monotonic()
        with self.progress.phase("stream", "read the same range as a stream"):
            try:
                again = stream_range(self.session, self.arguments, ledger.topic, ledger.run_id, ranges, work)
            except Exception as error:
                raise CannotRunError("stream", root_cause(error)) from error
        self.result.checks.append(judge.judge_stream(seen.partitions, again, round(time.monotonic() - begun, 3)))

    def _live(self, topic: Topic, partitions: list[int], work: Path) -> None:
        begun = time.monotonic()
        with self.progress.phase("live", f"probe end-to-end latency for {self.arguments.live_seconds} s"):
            try:
                live = probe(self.session, self.arguments, topic, partitions, work)
            except Exception as error:
                raise CannotRunError("live probe", root_cause(error)) from error
        self.result.figures["live"] = {"mode": live.mode, "reason": live.reason, "sent": live.sent, **live.figures}
        self.result.checks.append(
            Check(
                "live_latency",
                f"End-to-end latency through a running stream ({live.mode}), median",
                INFO,
                expected=None,
                actual=live.figures["p50"],
                unit="ms",
                seconds=round(time.monotonic() - begun, 3),
            )
        )

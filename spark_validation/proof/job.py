"""Job `proof`: freeze the ends of the topic, read it to them, count what is there. It writes nothing."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time

from pyspark.sql import SparkSession

from spark_validation.core.cluster import KafkaCluster, Place
from spark_validation.core.errors import CannotRunError, root_cause
from spark_validation.core.progress import Progress, records_read
from spark_validation.core.read import reader
from spark_validation.core.result import Result, rate
from spark_validation.core.session import jvm, versions
from spark_validation.proof.config import Arguments
from spark_validation.proof.counts import count
from spark_validation.proof.judge import covered, figures, judge_found, judge_settled

#: Seconds that an open transaction may take to end: that of a writer that is gone ends after 60 s, and the coordinator
#: looks for those every 10 s.
SETTLE_SECONDS = 120


class ProofReader:
    """One run of the job; `result` fills as it goes, so that also a run that breaks off tells what it knew."""

    def __init__(self, session: SparkSession, arguments: Arguments, progress: Progress, result: Result) -> None:
        """Nothing is contacted yet."""
        self.session, self.arguments, self.progress, self.result = session, arguments, progress, result

    def run(self) -> None:
        """Do the whole job. Raises CannotRunError when the topic cannot be read."""
        arguments, result = self.arguments, self.result
        result.versions = versions(self.session)
        with self.progress.phase("freeze", f"freeze the ends of topic {arguments.topic}"):
            ranges, unsettled = self._freeze()
        result.ranges = {str(index): list(span) for index, span in ranges.items()}
        offsets = sum(end - start for start, end in ranges.values())
        begun = time.monotonic()
        with (
            self.progress.phase("read", f"read {offsets:,} offsets"),
            self.progress.watch("read", offsets, "offsets", records_read(self.session, offsets)),
        ):
            rows = reader(self.session, arguments)({arguments.topic: ranges})
            try:
                counted, others = count(rows, arguments.proof)
            except Exception as error:
                raise CannotRunError(f"read topic {arguments.topic}", root_cause(error)) from error
        result.covered += covered(counted, others, arguments.proof, arguments.topic, unsettled)
        result.figures.update(figures(counted, others))
        result.figures["read"] = rate(result.figures["total"]["records"] + others, time.monotonic() - begun)
        result.checks.append(judge_found(counted, arguments.proof))

    def _freeze(self) -> tuple[dict[int, tuple[int, int]], list[Place]]:
        """First offset and the one after the last of each partition, and partitions with an open transaction.

        Spark resolves "latest" by a client of its own, which stops before an open transaction without a word.
        """
        arguments = self.arguments
        with KafkaCluster(jvm(self.session), ",".join(arguments.bootstrap_servers), arguments) as cluster:
            topic = cluster.topics([arguments.topic]).get(arguments.topic)
            if topic is None:
                raise CannotRunError(f"topic {arguments.topic}", "it does not exist")
            places = [(topic.name, index) for index in range(topic.partitions)]
            ends, unsettled = cluster.settled_ends(places, SETTLE_SECONDS)
            starts = cluster.starts(places)
        self.result.checks.append(judge_settled(unsettled, ends))
        return {place[1]: (min(starts[place], ends[place]), ends[place]) for place in places}, unsettled

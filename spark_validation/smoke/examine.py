"""Rows of a topic against a ledger: the one pass, then exact lists where it found something, then the checks."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import time
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from spark_validation.core.result import Check
from spark_validation.smoke import audit, findings, judge, record
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.observed import OK, OTHER_RUN, Findings, Observation


@dataclass(frozen=True)
class Examined:
    """What was seen and found; `seconds` is the time of the one pass."""

    ledger: Ledger
    seen: Observation
    exact: Findings
    seconds: float

    def checks(self, unreadable: str = "") -> list[Check]:
        """The checks on the records; `unreadable` says why a part of the range cannot be judged, or is empty."""
        return judge.judge_records(self.ledger, self.seen, self.exact, unreadable)


def examine(session: SparkSession, topic_rows: DataFrame, ledger: Ledger, width_ms: int) -> Examined:
    """Judge `topic_rows`, which have the columns of Spark's Kafka source with headers and hold the frozen ranges.

    They are read once; a second time only when the first found something to list. `width_ms`: of a timeline slot.
    """
    begun = time.monotonic()
    classified = record.classify(topic_rows, ledger.run_id, ledger.topic)
    seen = audit.observe(classified, ledger.began_ms, width_ms)
    seconds = time.monotonic() - begun
    suspects = judge.suspect_lanes(ledger, seen)
    strange = sorted(judge.stranger_lanes(ledger, seen))
    odd = sorted(kind for kind in seen.kinds() if kind not in (OK, OTHER_RUN))
    if not (suspects or strange or odd):
        return Examined(ledger, seen, Findings(), seconds)
    exact = findings.exact(session, topic_rows, ledger, suspects, strange, odd)
    return Examined(ledger, seen, exact, seconds)

"""Which record goes where: the arithmetic that writer and auditor share. Pure.

A run of N records is cut into W writers (one Spark task each). Writer w owns the global numbers
[w*N//W, (w+1)*N//W). Number g goes to partition g % P. A **lane** is what one attempt of one writer sends to one
partition; in it the records carry the sequence 0, 1, ... n-1. So what must be there is known without a list of it:
a lane is whole and in order exactly when it holds n records whose sequence rises strictly from 0 to n-1.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from spark_validation.core.sizes import RECORDS_PER_WRITER

# A lane is carried as one decimal number, partition (6 digits), writer (6), attempt (4): one parse on reading.
ATTEMPTS = 10_000
WRITERS = 1_000_000
PARTITIONS = 1_000_000
_PARTITION_UNIT = WRITERS * ATTEMPTS


@dataclass(frozen=True)
class Lane:
    """One attempt of one writer in one partition."""

    partition: int
    writer: int
    attempt: int

    @property
    def number(self) -> int:
        """The lane as the number that stands in every record."""
        return self.partition * _PARTITION_UNIT + self.writer * ATTEMPTS + self.attempt

    @classmethod
    def of(cls, number: int) -> Lane:
        """The lane that a number stands for."""
        partition, rest = divmod(number, _PARTITION_UNIT)
        return cls(partition, *divmod(rest, ATTEMPTS))


@dataclass(frozen=True)
class Geometry:
    """How `records` are dealt out to `writers` and `partitions`; every count here is in records."""

    records: int
    partitions: int
    writers: int

    def __post_init__(self) -> None:
        """Refuse shapes in which a partition or a writer would get no record."""
        if not 1 <= self.partitions <= min(self.records, PARTITIONS - 1):
            raise ValueError(f"{self.records} records cannot reach each of {self.partitions} partitions")
        if not 1 <= self.writers <= min(self.records, WRITERS - 1):
            raise ValueError(f"{self.records} records cannot be cut into {self.writers} writers")

    def first(self, writer: int) -> int:
        """The first global number of a writer (the first that is not its own, for `writer` + 1)."""
        return writer * self.records // self.writers

    def lane_size(self, writer: int, partition: int) -> int:
        """Return how many records a whole attempt of `writer` sends to `partition`."""
        if not (0 <= writer < self.writers and 0 <= partition < self.partitions):
            return 0
        start, end = self.first(writer), self.first(writer + 1)
        before = (partition - start) % self.partitions
        return max(0, -(-(end - start - before) // self.partitions))

    def partition_size(self, partition: int) -> int:
        """Return how many records a finished run sends to `partition`."""
        return sum(self.lane_size(writer, partition) for writer in range(self.writers))

    def lanes(self, final_attempts: dict[int, int]) -> Iterator[tuple[Lane, int]]:
        """Every lane that must be whole, with its size. `final_attempts`: writer -> the attempt Spark accepted."""
        for writer, attempt in sorted(final_attempts.items()):
            for partition in range(self.partitions):
                size = self.lane_size(writer, partition)
                if size:
                    yield Lane(partition, writer, attempt), size


def writers_for(records: int, cores: int) -> int:
    """Return how many writers a run gets: two per core so that progress moves, more when a task would hold too many."""
    return max(1, min(records, max(2 * cores, -(-records // RECORDS_PER_WRITER))))

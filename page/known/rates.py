"""How fast logs grew between two polls, by topic and by the broker that leads them. Pure.

A poll knows where each log ends and how many bytes it has. The next offset only grows, so what it grew by is what was
written: records, and one marker in each partition for each transaction. Bytes are those of the log on its leader,
compressed as they are there. They tell growth only where nothing was removed: where retention moved the start of the
log on, where the log got smaller (compaction), and where another broker leads it now, nothing is said of its bytes.
Compaction that removes less than what was written is not seen; then this is what remained.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import Log
from page.known.picture import Picture


@dataclass(frozen=True)
class Rate:
    """What logs grew by in a second: C(records) and C(bytes), as far as they are known.

    None where no log of some is known; C(records_unknown) and C(bytes_unknown) count the partitions that are not in it.
    """

    records: float | None = None
    bytes: float | None = None
    records_unknown: int = 0
    bytes_unknown: int = 0

    def data(self) -> dict[str, Any]:
        """Return it for machines."""
        return {
            "records_per_second": None if self.records is None else round(self.records, 3),
            "bytes_per_second": None if self.bytes is None else round(self.bytes, 3),
            "records_unknown_partitions": self.records_unknown,
            "bytes_unknown_partitions": self.bytes_unknown,
        }


@dataclass(frozen=True)
class Rates:
    """The growth of logs between two polls that were C(seconds) apart; None before the second one.

    C(topics) are by name. C(brokers), by id, count the partitions that a broker leads. C(whole) is that of all.
    """

    seconds: float | None = None
    topics: Mapping[str, Rate] = field(default_factory=dict)
    brokers: Mapping[int, Rate] = field(default_factory=dict)
    whole: Rate = field(default_factory=Rate)

    def topic(self, name: str) -> Rate:
        """Return the growth of a topic; of one that is not known nothing is."""
        return self.topics.get(name, Rate())

    def broker(self, number: int) -> Rate:
        """Return the growth of what a broker leads."""
        return self.brokers.get(number, Rate())


class _Sum:
    """The growth of some logs, one after the other."""

    def __init__(self) -> None:
        self._sums, self._known, self._unknown = [0, 0], [0, 0], [0, 0]

    def add(self, *grown: int | None) -> None:
        """Add the records and the bytes of a log, None where they are not known."""
        for at, one in enumerate(grown):
            if one is None:
                self._unknown[at] += 1
            else:
                self._known[at] += 1
                self._sums[at] += one

    def rate(self, seconds: float) -> Rate:
        """Return it by the second; of no log it is 0."""
        records, size = (
            self._sums[at] / seconds if self._known[at] or not self._unknown[at] else None for at in (0, 1)
        )
        return Rate(records, size, *self._unknown)


def rates_between(before: Picture | None, now: Picture) -> Rates:
    """Return what logs grew by from one picture to the next one of the same process; None is no picture before."""
    seconds = now.clock - before.clock if before else 0.0
    if before is None or seconds <= 0:
        return Rates()
    last = {key: row for key, row, _log in _partitions(before)}
    topics: dict[str, _Sum] = {one["name"]: _Sum() for one in now.cluster.get("topics") or ()}
    brokers = {one["id"]: _Sum() for one in now.cluster.get("brokers") or () if not one["fenced"]}
    whole = _Sum()
    for key, row, log in _partitions(now):
        records, size = _grown(last.get(key), before.logs.get(key[0], {}).get(key[1]), row, log)
        topics[key[0]].add(records, size)
        whole.add(records, size)
        leads = brokers.get(row["leader"])
        if leads is not None:
            stayed = key in last and last[key]["leader"] == row["leader"]
            leads.add(records if stayed else None, size)
    return Rates(
        seconds,
        {name: one.rate(seconds) for name, one in topics.items()},
        {number: one.rate(seconds) for number, one in brokers.items()},
        whole.rate(seconds),
    )


def _partitions(of: Picture) -> Iterator[tuple[tuple[str, int], Mapping[str, Any], Log | None]]:
    topics: Iterable[Mapping[str, Any]] = of.cluster.get("topics") or ()
    for topic in topics:
        logs = of.logs.get(topic["name"], {})
        for row in topic.get("partitions") or ():
            yield (topic["name"], row["partition"]), row, logs.get(row["partition"])


def _grown(
    last: Mapping[str, Any] | None, first: Log | None, row: Mapping[str, Any], log: Log | None
) -> tuple[int | None, int | None]:
    """Return by how many records and bytes a log grew; None for what is not known."""
    if last is None or first is None or log is None or first.missing or log.missing or log.end < first.end:
        return None, None
    before, size = last.get("size_bytes"), row.get("size_bytes")
    is_whole = row["leader"] is not None and row["leader"] == last["leader"] and log.start == first.start
    if not is_whole or before is None or size is None or size < before:
        return log.end - first.end, None
    return log.end - first.end, size - before

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How big partitions are and how full disks, from what brokers say of their log directories (DescribeLogDirs)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .snapshot import Partition


@dataclass(frozen=True)
class Disk:
    """The file system of one log directory, how many replicas are there (those on their way in too), the bytes of
    those that have come by (topic, partition), its path, and whether it gets no new replicas (KIP-1066, Kafka 4.3)."""

    total_bytes: int
    usable_bytes: int
    replicas: int = 0
    held: Mapping[tuple[str, int], int] = field(default_factory=dict)
    path: str = ""
    cordoned: bool = False


@dataclass(frozen=True)
class LogDirs:
    """What one broker holds: bytes by (topic, partition), and its disks, None before Kafka 3.3 (KIP-827).

    C(total_bytes) and C(used_bytes) count the file system of each log directory, whoever else uses it; C(disks) are
    these one by one. Directories that have failed do not count: they take nothing.
    """

    sizes: Mapping[tuple[str, int], int]
    total_bytes: int | None
    used_bytes: int | None
    disks: tuple[Disk, ...] = ()

    @property
    def cordoned(self) -> bool:
        """Tell whether no log directory takes new replicas: Kafka gives the broker none and refuses moves to it."""
        return bool(self.disks) and all(disk.cordoned for disk in self.disks)


def log_dirs_of(directories: Iterable[Mapping[str, Any]]) -> LogDirs:
    """The log directories of one broker, from the answer of kafka-python; replicas on their way in are left out."""
    listed = [directory for directory in directories if not directory.get("error_code")]
    held = [_held(directory) for directory in listed]
    sizes = {key: size for found in held for key, size in found.items()}
    totals = [directory.get("total_bytes", -1) for directory in listed]
    usable = [directory.get("usable_bytes", -1) for directory in listed]
    if not listed or min(*totals, *usable) < 0:
        return LogDirs(sizes, None, None)
    counts = [sum(len(topic["partitions"]) for topic in directory["topics"]) for directory in listed]
    paths = [str(directory.get("log_dir") or "") for directory in listed]
    cordoned = [bool(directory.get("is_cordoned")) for directory in listed]
    disks = tuple(Disk(totals[n], usable[n], counts[n], held[n], paths[n], cordoned[n]) for n in range(len(listed)))
    return LogDirs(sizes, sum(totals), sum(totals) - sum(usable), disks)


def _held(directory: Mapping[str, Any]) -> dict[tuple[str, int], int]:
    return {
        (topic["name"], partition["partition_index"]): partition["partition_size"]
        for topic in directory["topics"]
        for partition in topic["partitions"]
        if not partition["is_future_key"]
    }


def partition_sizes(partitions: Iterable[Partition], held: Mapping[int, LogDirs]) -> dict[tuple[str, int], int]:
    """Bytes of each partition: of its leader's log, or of the biggest replica where the leader did not tell."""
    found = {}
    for partition in partitions:
        key = (partition.topic, partition.index)
        known = {b: held[b].sizes[key] for b in partition.replicas if b in held and key in held[b].sizes}
        if known:
            leader = partition.leader
            found[key] = known[leader] if leader is not None and leader in known else max(known.values())
    return found

"""Which partitions the topic of events needs so that each broker leads one. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from collections.abc import Sequence

#: Copies of a partition, and partitions at most.
COPIES, MOST = 3, 200
#: Events are kept for twice as long as they are asked for (canary/ledger.py). What another tool writes into the topic
#: is bounded too: by the size of a record, and of a partition.
CONFIG = {
    "cleanup.policy": "delete",
    # Events are small: brokers of both ends keep them unpacked, whatever mirrors write with. The copy of the topic gets
    # this setting from it.
    "compression.type": "uncompressed",
    "retention.ms": str(2 * 86400 * 1000),
    "retention.bytes": str(50 * 1024 * 1024),
    "segment.ms": str(6 * 3600 * 1000),
    "segment.bytes": str(4 * 1024 * 1024),
    "max.message.bytes": "8192",
}


def missing_partitions(brokers: Sequence[int], preferred: Sequence[int]) -> list[list[int]]:
    """Return the replicas of each partition that is to be added, its leader first.

    Args:
        brokers: The ids of all brokers that live.
        preferred: The preferred leader of each partition that there is.
    """
    order = sorted(brokers)
    wanting = [one for one in order if one not in set(preferred)][: max(0, MOST - len(preferred))]
    return [_replicas(order, one) for one in wanting]


def _replicas(order: Sequence[int], leader: int) -> list[int]:
    at = order.index(leader)
    return [order[(at + step) % len(order)] for step in range(min(COPIES, len(order)))]


def config_for(brokers: int) -> dict[str, str]:
    """Return the settings of the topic in a cluster of so many brokers; one of two or more may be away."""
    return {**CONFIG, "min.insync.replicas": "2" if brokers >= COPIES else "1"}

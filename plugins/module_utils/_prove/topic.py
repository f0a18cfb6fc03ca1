# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The topic of a proof: its name, its partitions with their replicas, and how long it keeps records. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ansible_collections.streamops.kafka.plugins.module_utils._core.findings import REFUSE, Finding
from ansible_collections.streamops.kafka.plugins.module_utils._core.topic_names import allowed_instead

#: How names of its topics begin. It deletes them, so that no other topic can be named by a mistake.
PREFIX = "__streamops_prove"
#: Partitions that each broker leads, until there are as many as MOST.
_LED, MOST = 2, 100
#: The most records of a proof: its ledger is read into memory.
MOST_RECORDS = 2_000_000
#: Seconds that records are kept after the longest stream, for who wants to read them again.
_KEPT = 3600
#: The fewest records a second: there are two producers.
LEAST_RATE = 2
_BOUNDS = "kafka_prove_seconds, kafka_prove_rate"


def refusals(topic: str, seconds: int, rate: int) -> list[str]:
    """Return what is wrong with the options of a proof."""
    return [f"{one}." for _variables, one in refused(topic, seconds, rate)]


def refused(topic: str, seconds: int, rate: int) -> Iterator[tuple[str, Finding]]:
    """Yield the same with the variables of each."""
    if not topic.startswith(PREFIX):
        what = f"topic {topic!r} does not begin with {PREFIX}. The proof deletes its topic, so it takes no other name"
        fix = f"set kafka_prove_topic to {PREFIX}, or to a name that begins so"
        yield "kafka_prove_topic", Finding(REFUSE, what, fix)
    elif instead := allowed_instead(topic):
        what = f"topic {topic!r} is no name that Kafka takes"
        yield "kafka_prove_topic", Finding(REFUSE, what, f"set kafka_prove_topic to {instead}")
    if seconds < 1 or rate < LEAST_RATE:
        what = f"seconds is {seconds} and rate is {rate}"
        fix = f"set kafka_prove_seconds from 1 and kafka_prove_rate from {LEAST_RATE} on"
        yield _BOUNDS, Finding(REFUSE, what, fix)
    elif seconds * rate > MOST_RECORDS:
        records = f"{seconds * rate:,} records, more than {MOST_RECORDS:,}"
        what = f"{seconds} seconds with {rate} records a second are {records}"
        yield _BOUNDS, Finding(REFUSE, what, "lower kafka_prove_rate or kafka_prove_seconds")


def assignment(racks: Mapping[int, str | None]) -> list[list[int]]:
    """Return the replicas of each partition, the leader first: each broker leads two, with copies on other racks.

    C(racks) are the brokers that live. Of more than fifty some lead one partition, of more than a hundred some none.
    """
    brokers = _by_turns(racks)
    partitions = min(MOST, _LED * len(brokers))
    factor = min(3, len(brokers))
    return [[brokers[(at + copy) % len(brokers)] for copy in range(factor)] for at in range(partitions)]


def configuration(replicas: int, seconds: int) -> dict[str, str]:
    """Return the configuration of the topic: one replica may be away, and nothing is deleted before it was read."""
    return {
        "cleanup.policy": "delete",
        "min.insync.replicas": str(max(1, min(2, replicas - 1))),
        "retention.ms": str((seconds + _KEPT) * 1000),
        "retention.bytes": "-1",
        "unclean.leader.election.enable": "false",
    }


def _by_turns(racks: Mapping[int, str | None]) -> Sequence[int]:
    """Return the brokers, one of each rack in turn, so that neighbours are of different racks as far as they can be."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(racks):
        by_rack.setdefault(racks[broker] or "", []).append(broker)
    turns = [(at, rack, broker) for rack, some in by_rack.items() for at, broker in enumerate(some)]
    return [broker for _at, _rack, broker in sorted(turns)]

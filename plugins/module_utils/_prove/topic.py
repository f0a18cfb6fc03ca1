# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The topic of a proof: its name, its partitions with their replicas, and how long it keeps records. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from .._core.names import allowed_instead
from .._topics.placement import Replicas, placement

#: How names of its topics begin. It deletes them, so that no other topic can be named by a mistake.
PREFIX = "__streamops_prove"
#: Partitions that each broker leads, until there are as many as MOST.
_LED, MOST = 2, 100
#: The most records of a proof: its ledger is read into memory.
MOST_RECORDS = 2_000_000
#: Seconds that records are kept after the longest stream, for who wants to read them again.
_KEPT = 3600
#: The retention.ms of records in which something is wrong: they are evidence, and no other proof deletes them.
KEPT_AS_EVIDENCE = "-1"
#: The fewest records a second: there are two producers.
LEAST_RATE = 2
_BOUNDS = "kafka_prove_seconds, kafka_prove_rate"


class Refusal(NamedTuple):
    """What is wrong with an option of a proof, and what to do; both for people."""

    variable: str
    what: str
    fix: str


def refusals(topic: str, seconds: int, rate: int) -> list[str]:
    """Return what is wrong with the options of a proof."""
    return [f"{one.what}. {one.fix}." for one in refused(topic, seconds, rate)]


def refused(topic: str, seconds: int, rate: int) -> list[Refusal]:
    """Return the same with the variable of each."""
    found = []
    if not topic.startswith(PREFIX):
        what = f"topic {topic!r} does not begin with {PREFIX}. The proof deletes its topic, so it takes no other name"
        found.append(
            Refusal("kafka_prove_topic", what, f"Set kafka_prove_topic to {PREFIX}, or to a name that begins so")
        )
    elif instead := allowed_instead(topic):
        what = f"topic {topic!r} is no name that Kafka takes"
        found.append(Refusal("kafka_prove_topic", what, f"Set kafka_prove_topic to {instead}"))
    if seconds < 1 or rate < LEAST_RATE:
        what = f"seconds is {seconds} and rate is {rate}"
        found.append(
            Refusal(_BOUNDS, what, f"Set kafka_prove_seconds from 1 and kafka_prove_rate from {LEAST_RATE} on")
        )
    elif seconds * rate > MOST_RECORDS:
        records = f"{seconds * rate:,} records, more than {MOST_RECORDS:,}"
        what = f"{seconds} seconds with {rate} records a second are {records}"
        found.append(Refusal(_BOUNDS, what, "Lower kafka_prove_rate or kafka_prove_seconds"))
    return found


def assignment(racks: Mapping[int, str | None]) -> tuple[Replicas, ...]:
    """Return the replicas of each partition, the leader first: each broker leads two, with copies on other racks.

    C(racks) are the brokers that live. Of more than fifty some lead one partition, of more than a hundred some none.
    """
    return placement((), racks, min(3, len(racks)), min(MOST, _LED * len(racks)))[:MOST]


def configuration(replicas: int, seconds: int) -> dict[str, str]:
    """Return the configuration of the topic: one replica may be away, and nothing is deleted before it was read."""
    return {
        "cleanup.policy": "delete",
        "min.insync.replicas": str(max(1, min(2, replicas - 1))),
        "retention.ms": str((seconds + _KEPT) * 1000),
        "retention.bytes": "-1",
        "unclean.leader.election.enable": "false",
    }

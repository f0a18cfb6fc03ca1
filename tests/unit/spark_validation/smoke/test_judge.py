"""Every rule by which a run passes or fails, on plain numbers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from spark_validation.core.result import Check, broken_off, verdict_of
from spark_validation.smoke import judge
from spark_validation.smoke.geometry import Geometry, Lane
from spark_validation.smoke.latency import SKEWED
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.observed import (
    CORRUPT,
    FOREIGN,
    MISROUTED,
    OK,
    Findings,
    Found,
    LaneSeen,
    Observation,
    PartitionSeen,
)
from spark_validation.smoke.topic import Broker, Partition

SHAPE = Geometry(records=40, partitions=2, writers=2)
LEDGER = Ledger("r1", "t", None, SHAPE, {0: 0, 1: 1}, {0: (5, 25), 1: (0, 20)}, 0, 1000)


def seen(*extra: LaneSeen, without: int | None = None) -> Observation:
    """What a pass over the clean history of LEDGER sees, with changes."""
    lanes = [
        LaneSeen(lane.partition, OK, lane.number, size, 0, size - 1, 0)
        for lane, size in LEDGER.shape.lanes(LEDGER.final_attempts)
        if lane.number != without
    ]
    return Observation(lanes=[*lanes, *extra])


def lane(partition: int, writer: int, attempt: int, records: int, kind: int = OK) -> LaneSeen:
    return LaneSeen(partition, kind, Lane(partition, writer, attempt).number, records, 0, records - 1, 0)


def statuses(observation: Observation, exact: Findings | None = None, unreadable: str = "") -> dict[str, Any]:
    checks = judge.judge_records(LEDGER, observation, exact or Findings(), unreadable)
    return {check.name: check.status for check in checks if check.status not in ("pass", "info")}


def test_a_clean_run_has_no_suspects_and_passes_every_check() -> None:
    assert judge.suspect_lanes(LEDGER, seen()) == {}
    assert statuses(seen()) == {}


@pytest.mark.parametrize(
    "change",
    [{"records": 9}, {"least": 1}, {"most": 8}, {"backwards": 1}, {"kind": MISROUTED}],
    ids=["count", "first", "last", "order", "kind"],
)
def test_a_lane_that_is_not_proved_whole_is_suspect(change: dict[str, int]) -> None:
    clean = seen()
    lanes = [replace(clean.lanes[0], **change), *clean.lanes[1:]]
    assert judge.suspect_lanes(LEDGER, Observation(lanes=lanes)) == {clean.lanes[0].lane: 10}


def test_a_lane_that_nobody_saw_is_suspect() -> None:
    number = Lane(1, 0, 0).number
    assert judge.suspect_lanes(LEDGER, seen(without=number)) == {number: 10}


def test_records_of_an_attempt_that_spark_threw_away_are_leftovers_and_no_fault() -> None:
    observation = seen(lane(0, 1, 0, 4))
    assert judge.leftovers(LEDGER, observation) == {Lane(0, 1, 0).number: 4}
    assert statuses(observation) == {}


@pytest.mark.parametrize("stranger", [lane(0, 1, 2, 3), lane(0, 2, 0, 3)], ids=["later attempt", "unknown writer"])
def test_records_that_no_writer_of_the_run_can_have_written_are_phantoms(stranger: LaneSeen) -> None:
    assert statuses(seen(stranger)) == {"phantom": "fail"}


@pytest.mark.parametrize(
    ("kind", "check"),
    [(CORRUPT, "corrupt"), (FOREIGN, "phantom"), (MISROUTED, "misrouted")],
    ids=lambda value: str(value),
)
def test_each_kind_of_odd_record_fails_its_own_check(kind: int, check: str) -> None:
    assert statuses(seen(LaneSeen(0, kind, -1 if kind != MISROUTED else Lane(1, 0, 0).number, 1, 0, 0, 0))) == {
        check: "fail"
    }


def test_what_retention_removed_is_not_called_lost() -> None:
    lost = Findings(lost=Found(3, [{"partition": 0}]))
    assert statuses(seen(), lost) == {"lost": "fail"}
    assert statuses(seen(), lost, unreadable="the retention is over") == {"lost": "inconclusive"}


def test_a_partition_that_returned_nothing_is_named() -> None:
    observation = Observation(lanes=[part for part in seen().lanes if part.partition == 0])
    assert statuses(observation)["coverage"] == "fail"


@pytest.mark.parametrize(
    ("held", "over", "status", "missing"),
    [
        ({0: (0, 30), 1: (0, 20)}, False, "pass", 0),
        ({0: (7, 30), 1: (0, 20)}, False, "fail", 2),
        ({0: (7, 30), 1: (0, 20)}, True, "inconclusive", 2),
        ({0: (0, 20), 1: (0, 20)}, False, "fail", 5),
        ({0: (40, 50), 1: (0, 0)}, False, "fail", 40),
        ({}, False, "fail", 40),
    ],
    ids=["whole", "start cut", "retention", "end cut", "recreated", "gone"],
)
def test_offsets_that_the_topic_no_longer_holds_show(
    held: dict[int, tuple[int, int]], over: bool, status: str, missing: int
) -> None:
    check = judge.judge_range(LEDGER.ranges, held, over)
    assert (check.status, check.difference) == (status, missing)


def placed(index: int, *replicas: int, leader: int | None = None, isr: tuple[int, ...] | None = None) -> Partition:
    """A partition, led by its preferred replica and all in sync if nothing else is said."""
    return Partition(
        index, Broker(leader or replicas[0], "broker", 9092, None), replicas, replicas if isr is None else isr
    )


def layout(*partitions: Partition, down: int | None = None, wanted: int | None = None) -> dict[str, Check]:
    """The checks on these partitions of brokers 1, 2 and 3."""
    brokers = {broker: broker != down for broker in (1, 2, 3)}
    return {check.name: check for check in judge.judge_layout(partitions, brokers, wanted)}


def test_a_layout_in_which_every_broker_leads_passes() -> None:
    checks = layout(placed(0, 1, 2), placed(1, 2, 3), placed(2, 3, 1), wanted=3)
    assert {check.status for check in checks.values()} == {"pass"}


@pytest.mark.parametrize(
    ("third", "status", "why", "words"),
    [
        (placed(2, 1, 2), "inconclusive", "not placed", "no partition of this topic has it as its preferred leader"),
        (placed(2, 3, 1, leader=1), "inconclusive", "not elected", "elect preferred leaders"),
        (placed(2, 3, 1, leader=1, isr=(1,)), "fail", "behind", "broker 3 is not in sync"),
    ],
    ids=["placement", "leadership", "cluster"],
)
def test_a_broker_that_leads_nothing_is_told_with_the_reason(
    third: Partition, status: str, why: str, words: str
) -> None:
    check = layout(placed(0, 1, 2), placed(1, 2, 3), third)["brokers"]
    assert (check.status, check.expected, check.actual) == (status, 3, 2)
    assert check.examples == [{"broker": 3, "why": why}]
    assert words in check.suggests


def test_a_broker_that_is_down_is_a_fault_of_the_cluster_and_not_of_the_placement() -> None:
    checks = layout(placed(0, 1, 2), placed(1, 2, 1), placed(2, 3, 1, leader=1, isr=(1,)), down=3)
    assert {name: check.status for name, check in checks.items()} == {
        "leaders": "pass",
        "alive": "fail",
        "brokers": "pass",
    }
    assert "the cluster knows broker 3, which takes no part now: start it" in checks["alive"].suggests


def test_a_partition_without_leader_fails_the_layout() -> None:
    orphan = Partition(1, None, (2, 3), ())
    checks = layout(placed(0, 1, 2), orphan, wanted=3)
    assert (checks["leaders"].status, checks["partitions"].status) == ("fail", "fail")


def test_two_reads_that_differ_only_in_content_do_not_agree() -> None:
    batch = {0: PartitionSeen(5, 50, 7, 9)}
    assert judge.judge_stream(batch, batch, 1.0).status == "pass"
    check = judge.judge_stream(batch, {0: PartitionSeen(5, 50, 8, 9)}, 1.0)
    assert (check.status, check.difference, check.examples_total) == ("fail", 0, 1)


@pytest.mark.parametrize(
    ("buckets", "create_time", "limit", "status"),
    [
        ({5: 100}, 0, None, "info"),
        ({5: 100}, 0, 5, "pass"),
        ({5: 98, 63: 2}, 0, 62, "fail"),
        ({5: 100}, 100, 5, "inconclusive"),
        ({SKEWED: 50, 5: 50}, 0, 5, "inconclusive"),
    ],
    ids=["no limit", "within", "above", "client time", "clocks"],
)
def test_latency_is_judged_only_against_a_limit_and_only_by_the_brokers_clock(
    buckets: dict[int, int], create_time: int, limit: int | None, status: str
) -> None:
    observation = Observation(create_time=create_time)
    observation.latency.update(buckets)
    assert judge.judge_latency(observation, limit).status == status


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        (["pass", "info"], "pass"),
        (["pass", "inconclusive"], "inconclusive"),
        (["inconclusive", "fail"], "fail"),
        (["fail", "error"], "error"),
        (["info"], "error"),
        ([], "error"),
    ],
)
def test_the_worst_check_decides_and_nothing_checked_is_nothing_proved(found: list[str], verdict: str) -> None:
    assert verdict_of([Check("n", "t", status, 0, 0) for status in found]) == verdict


@pytest.mark.parametrize(
    ("before", "verdict"),
    [([], "error"), (["pass", "info"], "error"), (["pass", "fail"], "fail"), (["inconclusive"], "error")],
)
def test_a_job_that_breaks_off_after_it_found_a_fault_still_fails(before: list[str], verdict: str) -> None:
    checks = [Check("n", "t", status, 0, 0) for status in before]
    last = broken_off(checks, "stream", "no broker answers")
    assert verdict_of([*checks, last]) == verdict
    assert last.actual == "stream: no broker answers"

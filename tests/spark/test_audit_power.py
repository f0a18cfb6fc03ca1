"""Does the audit see every fault, call it by its right name, and stay silent on a clean history?"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from spark_validation.core.result import Check
from spark_validation.smoke import record
from spark_validation.smoke.examine import examine
from spark_validation.smoke.geometry import Geometry
from tests.support.fake_topic import FakeTopic, Row, clean, interleaved, write
from tests.support.forms import short

SHAPE = Geometry(records=360, partitions=3, writers=3)
Damage = Callable[[FakeTopic], None]


def judged(spark: SparkSession, topic: FakeTopic) -> dict[str, Check]:
    """The checks of a history, by name."""
    return {check.name: check for check in examine(spark, topic.frame(spark), topic.ledger, 1000).checks()}


def faults(checks: dict[str, Check]) -> dict[str, int]:
    """The failed checks with the number of records that each found."""
    return {name: check.actual for name, check in checks.items() if check.status not in ("pass", "info")}


@pytest.fixture(scope="module")
def history(spark: SparkSession) -> FakeTopic:
    return clean(spark, SHAPE, seed=1)


def lane_of(row: Row) -> bytes:
    return (row.key or b"")[:16]


def neighbours(topic: FakeTopic, partition: int) -> tuple[int, int]:
    """Places of two records that one writer sent one after the other."""
    rows = topic.rows[partition]
    later = next(place for place in range(10, len(rows)) if lane_of(rows[place]) == lane_of(rows[10]) and place > 10)
    return 10, later


def drop(topic: FakeTopic) -> None:
    del topic.rows[0][7]


def drop_last_of_a_lane(topic: FakeTopic) -> None:
    del topic.rows[1][-1]


def duplicate(topic: FakeTopic) -> None:
    topic.rows[0].insert(30, topic.rows[0][7])


def duplicate_right_behind(topic: FakeTopic) -> None:
    topic.rows[0].insert(8, topic.rows[0][7])


def swap(topic: FakeTopic) -> None:
    one, other = neighbours(topic, 0)
    rows = topic.rows[0]
    rows[one], rows[other] = rows[other], rows[one]


def flip_in_payload(topic: FakeTopic) -> None:
    _flip(topic, -1)


def flip_in_run_id(topic: FakeTopic) -> None:
    _flip(topic, 25)


def flip_in_lane(topic: FakeTopic) -> None:
    _flip(topic, 60)


def flip_in_checksum(topic: FakeTopic) -> None:
    _flip(topic, 20)


def flip_in_magic(topic: FakeTopic) -> None:
    _flip(topic, 0)


def _flip(topic: FakeTopic, place: int) -> None:
    row = next(row for row in topic.rows[2] if len(row.value or b"") > 120)
    value = bytearray(row.value or b"")
    value[place] ^= 0x01
    topic.rows[2][topic.rows[2].index(row)] = replace(row, value=bytes(value))


def header_gone(topic: FakeTopic) -> None:
    topic.rows[2][5] = replace(topic.rows[2][5], headers=())


def other_partition(topic: FakeTopic) -> None:
    topic.rows[1].insert(4, topic.rows[0].pop(9))


def foreign_record(topic: FakeTopic) -> None:
    topic.rows[0].insert(3, Row(0, b"k", b"an order that went astray", ()))


def empty_record(topic: FakeTopic) -> None:
    topic.rows[0].insert(3, Row(0, None, b"", ()))


def tombstone(topic: FakeTopic) -> None:
    topic.rows[0][11] = replace(topic.rows[0][11], value=None)


def tombstone_added(topic: FakeTopic) -> None:
    topic.rows[0].insert(40, replace(topic.rows[0][11], value=None))


def loss_and_duplicate(topic: FakeTopic) -> None:
    """One loss and one duplicate in one lane: counts and ends are as they should be."""
    rows = topic.rows[0]
    same = [place for place, row in enumerate(rows) if lane_of(row) == lane_of(rows[20])]
    lost, copied = same[5], same[8]
    rows.insert(copied, rows[copied])
    del rows[lost]


def three_of_each(topic: FakeTopic) -> None:
    """Losses 1, 5, 6 and duplicates 2, 3, 7: equal counts, sums and sums of squares."""
    rows = topic.rows[0]
    lane = [row for row in rows if lane_of(row) == lane_of(rows[0])]
    for row in (lane[2], lane[3], lane[7]):
        rows.insert(rows.index(row), row)
    for row in (lane[1], lane[5], lane[6]):
        rows.remove(row)


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (drop, {"lost": 1}),
        pytest.param(drop_last_of_a_lane, {"lost": 1}, marks=pytest.mark.full),
        (duplicate, {"duplicated": 1}),
        pytest.param(duplicate_right_behind, {"duplicated": 1}, marks=pytest.mark.full),
        (swap, {"out_of_order": 1}),
        (flip_in_payload, {"corrupt": 1}),
        pytest.param(flip_in_run_id, {"corrupt": 1}, marks=pytest.mark.full),
        pytest.param(flip_in_lane, {"corrupt": 1}, marks=pytest.mark.full),
        pytest.param(flip_in_checksum, {"corrupt": 1}, marks=pytest.mark.full),
        pytest.param(flip_in_magic, {"corrupt": 1}, marks=pytest.mark.full),
        pytest.param(header_gone, {"corrupt": 1}, marks=pytest.mark.full),
        pytest.param(other_partition, {"misrouted": 1}, marks=pytest.mark.full),
        pytest.param(foreign_record, {"phantom": 1}, marks=pytest.mark.full),
        pytest.param(empty_record, {"phantom": 1}, marks=pytest.mark.full),
        (tombstone, {"tombstone": 1}),
        pytest.param(tombstone_added, {"tombstone": 1}, marks=pytest.mark.full),
        pytest.param(loss_and_duplicate, {"lost": 1, "duplicated": 1}, marks=pytest.mark.full),
        (three_of_each, {"lost": 3, "duplicated": 3}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_each_fault_is_found_and_named(
    spark: SparkSession, history: FakeTopic, damage: Damage, found: dict[str, int]
) -> None:
    topic = replace(history, rows={partition: list(rows) for partition, rows in history.rows.items()})
    damage(topic)
    checks = judged(spark, topic)
    assert faults(checks) == found
    for name, count in found.items():
        assert len(checks[name].examples) == min(count, 20)
        places = checks[name].places
        assert sum(place["records"] for place in places) == count
        for place in places:
            ends = topic.ledger.ranges[place["partition"]]
            assert ends[0] <= place["first"] <= place["last"] <= ends[1]
        assert checks[name].suggests


def test_an_example_names_writer_sequence_and_place(spark: SparkSession, history: FakeTopic) -> None:
    topic = replace(history, rows={partition: list(rows) for partition, rows in history.rows.items()})
    key = topic.rows[1].pop(6).key or b""
    lost = judged(spark, topic)["lost"]
    assert lost.examples == [{"partition_meant": 1, "writer": int(key[6:12]), "attempt": 0, "sequence": int(key[16:])}]
    # Between the two records of its writer around it.
    own = [place for place, row in enumerate(topic.rows[1]) if (row.key or b"")[:16] == key[:16]]
    before, after = max(place for place in own if place < 6), min(place for place in own if place >= 6)
    assert lost.places == [{"partition": 1, "records": 1, "first": before + 1, "last": max(before + 1, after - 1)}]


@pytest.mark.parametrize("seed", short(range(20), 0))
def test_a_clean_run_raises_no_alarm(spark: SparkSession, seed: int) -> None:
    draw = random.Random(seed)
    records = draw.randrange(1, 400)
    shape = Geometry(records, draw.randrange(1, min(records, 9) + 1), draw.randrange(1, min(records, 6) + 1))
    topic = clean(spark, shape, seed)
    topic.gaps = draw.randrange(3)
    assert faults(judged(spark, topic)) == {}


@pytest.mark.full
def test_a_record_of_an_earlier_second_after_later_ones_of_other_writers_is_fine(
    spark: SparkSession, history: FakeTopic
) -> None:
    topic = replace(history, rows={partition: list(rows) for partition, rows in history.rows.items()})
    late = lane_of(topic.rows[0][0])
    # A whole writer, and with it its first record, comes after everything that the others sent.
    topic.rows[0].sort(key=lambda row: lane_of(row) == late)
    topic.rows[0] = [replace(row, delay_ms=30_000 if lane_of(row) == late else 1) for row in topic.rows[0]]
    assert faults(judged(spark, topic)) == {}


def test_records_of_a_failed_attempt_are_leftovers_and_neither_loss_nor_duplicates(spark: SparkSession) -> None:
    draw = random.Random(3)
    final = write(spark, SHAPE, "run-1", {0: 0, 1: 2, 2: 0})
    broken_off = [row for attempt in (0, 1) for row in write(spark, SHAPE, "run-1", {1: attempt})[: 20 + attempt]]
    topic = interleaved([*broken_off, *final], SHAPE, draw)
    topic.ledger = replace(topic.ledger, final_attempts={0: 0, 1: 2, 2: 0})
    checks = judged(spark, topic)
    assert faults(checks) == {}
    assert checks["attempt_leftovers"].actual == 41


def test_an_attempt_that_spark_did_not_accept_cannot_stand_in_for_a_lost_record(spark: SparkSession) -> None:
    draw = random.Random(4)
    final = write(spark, SHAPE, "run-1", {0: 1, 1: 0, 2: 0})
    broken_off = write(spark, SHAPE, "run-1", {0: 0})[:30]
    lost = next(row for row in final if lane_of(row)[6:] == b"0000000001")
    topic = interleaved([*broken_off, *(row for row in final if row != lost)], SHAPE, draw)
    topic.ledger = replace(topic.ledger, final_attempts={0: 1, 1: 0, 2: 0})
    assert faults(judged(spark, topic)) == {"lost": 1}


def beside(spark: SparkSession, history: FakeTopic, run_id: str = "run-2") -> FakeTopic:
    """The history with all records of another run between its own."""
    draw = random.Random(9)
    topic = replace(history, rows={partition: list(rows) for partition, rows in history.rows.items()})
    for row in write(spark, SHAPE, run_id):
        rows = topic.rows[row.partition]
        rows.insert(draw.randrange(len(rows) + 1), row)
    return topic


@pytest.mark.full
def test_records_of_runs_that_wrote_at_the_same_time_are_told_apart(spark: SparkSession, history: FakeTopic) -> None:
    both = beside(spark, history)
    for run_id in ("run-1", "run-2"):
        topic = replace(both, ledger=replace(history.ledger, run_id=run_id))
        found = examine(spark, topic.frame(spark), topic.ledger, 1000)
        checks = {check.name: check for check in found.checks()}
        # The other run sends its records in an order of its own, and here they are at random places.
        assert set(faults(checks)) <= ({"out_of_order"} if run_id == "run-2" else set())
        assert (checks["other_runs"].status, checks["other_runs"].actual) == ("info", 360)
        # Figures are of the own records alone.
        assert found.seen.records == sum(slot.records for slot in found.seen.timeline) == 360


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        (drop, {"lost": 1}),
        pytest.param(duplicate, {"duplicated": 1}, marks=pytest.mark.full),
        pytest.param(flip_in_payload, {"corrupt": 1}, marks=pytest.mark.full),
        pytest.param(foreign_record, {"phantom": 1}, marks=pytest.mark.full),
        (tombstone, {"tombstone": 1}),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)
def test_a_fault_between_the_records_of_another_run_is_found(
    spark: SparkSession, history: FakeTopic, damage: Damage, found: dict[str, int]
) -> None:
    topic = replace(history, rows={partition: list(rows) for partition, rows in history.rows.items()})
    damage(topic)
    assert faults(judged(spark, beside(spark, topic))) == found


@pytest.mark.full
def test_a_record_of_another_run_that_it_did_not_send_here_is_a_phantom(
    spark: SparkSession, history: FakeTopic
) -> None:
    topic = replace(history, rows={partition: list(rows) for partition, rows in history.rows.items()})
    rows = write(spark, SHAPE, "run-2")
    for row in [row for row in rows if row.partition == 1][:2]:
        topic.rows[0].append(row)
    assert faults(judged(spark, topic)) == {"phantom": 2}
    # No producer holds a record for hours: a copy, which a client or a mirror put there.
    topic.rows[0][-2:] = [replace(row, delay_ms=7_200_000) for row in rows if row.partition == 0][:3]
    assert faults(judged(spark, topic)) == {"phantom": 3}


@pytest.mark.full
def test_the_probes_of_another_run_are_no_phantoms_and_what_looks_like_one_is(
    spark: SparkSession, history: FakeTopic
) -> None:
    topic = replace(history, rows={partition: list(rows) for partition, rows in history.rows.items()})
    sent = topic.rows[0][0].sent
    values = [f"{mark}{'run-2'.ljust(32)}{sent:013d}".encode() for mark in (record.PROBE, record.ECHO)]
    topic.rows[0] += [Row(0, None, value, (), sent_ms=sent) for value in values]
    assert faults(judged(spark, topic)) == {}
    topic.rows[0] += [Row(0, None, values[0][:-1] + end, (), sent_ms=sent) for end in (b"x", b"", b"00")]
    assert faults(judged(spark, topic)) == {"phantom": 3}


def test_a_record_meant_for_another_topic_is_misrouted(spark: SparkSession, history: FakeTopic) -> None:
    ledger = replace(history.ledger, topic="orders")
    checks = judged(spark, replace(history, ledger=ledger))
    assert faults(checks) == {"misrouted": 360, "coverage": 0}
    assert (len(checks["misrouted"].examples), checks["misrouted"].examples_total) == (20, 360)


@pytest.mark.full
def test_a_topic_that_lost_everything_says_so(spark: SparkSession, history: FakeTopic) -> None:
    topic = replace(history, rows={0: [], 1: [], 2: []})
    assert faults(judged(spark, topic)) == {"lost": 360, "coverage": 0}


def test_no_bytes_whatever_break_the_reader(spark: SparkSession, history: FakeTopic) -> None:
    draw = random.Random(5)
    noise = [
        Row(0, draw.randbytes(draw.randrange(40)), draw.randbytes(draw.randrange(200)), (("h", b"v"),))
        for _ in range(50)
    ]
    noise += [Row(0, None, (b"SOV1" + draw.randbytes(150)), ()) for _ in range(10)]
    topic = replace(history, rows={**history.rows, 0: [*history.rows[0], *noise]})
    assert faults(judged(spark, topic)) == {"phantom": 60}


def test_the_classes_of_a_clean_history_are_all_ok(spark: SparkSession, history: FakeTopic) -> None:
    rows = record.classify(history.frame(spark), "run-1", "_streamops_smoke").groupBy("kind").count().collect()
    assert {row["kind"]: row["count"] for row in rows} == {record.OK: 360}

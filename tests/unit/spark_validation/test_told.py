"""What a run found, in sentences."""

from __future__ import annotations

from typing import Any

from spark_validation.core.result import Check, broken_off
from spark_validation.told import findings


def place(partition: int, records: int, first: int, last: int) -> dict[str, Any]:
    return {"partition": partition, "records": records, "first": first, "last": last}


def check(name: str, count: int, *places: dict[str, Any], status: str = "fail", unit: str = "records") -> Check:
    return Check(name, name, status, 0, count, count, 0, unit, suggests="look", places=list(places))


def test_topic_partitions_offsets_and_counts_are_named_and_passes_are_not() -> None:
    checks = [
        check("corrupt", 0, status="pass"),
        check("lost", 1203, place(1, 1201, 100, 2000), place(4, 2, 7, 8)),
        check("duplicated", 1, place(0, 1, 23, 23)),
        check("range", 100, place(1, 100, 0, 99), unit="offsets"),
    ]
    assert findings(checks, "orders") == [
        "topic orders: 1,203 records lost: partition 1: 1,201 (offsets 100 to 2000); partition 4: 2 (offsets 7 to 8)",
        "topic orders: 1 record repeated: partition 0: 1 (offset 23)",
        "topic orders: 100 offsets no longer there: partition 1: 100 (offsets 0 to 99)",
    ]


def test_the_partitions_that_lost_most_are_named_and_the_rest_is_counted() -> None:
    places = [place(index, index + 1, 0, 9) for index in range(9)]
    (said,) = findings([check("lost", 45, *places)], "t")
    assert said.startswith("topic t: 45 records lost: partition 4: 5 (offsets 0 to 9); partition 5: 6 ")
    assert said.endswith("partition 8: 9 (offsets 0 to 9); 4 more partitions")


def test_what_is_wrong_comes_before_what_cannot_be_judged_and_a_check_without_places_says_its_numbers() -> None:
    down = Check("alive", "Every broker is up", "fail", 3, 2, 1, 0, "brokers", suggests="broker 2 is away")
    open_ = Check("latency", "Append latency", "inconclusive", 5, 9, unit="ms")
    assert findings([open_, down, broken_off([down], "stream", "no broker answers")], "t") == [
        "Every broker is up: expected 3, found 2 brokers: broker 2 is away",
        "Append latency: expected 5, found 9 ms",
        "stream: no broker answers",
    ]

"""An audit that begins at marks finds what one that reads all does, and its marks name what they prove."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_validation.mirror.seen import Compared
from tests.spark.test_mirror_power import FAULTS, busy, damaged
from tests.support.fake_mirror import (
    Event,
    FakeMirror,
    compared,
    comparison,
    found,
    mirrored,
    renumbered,
    scopes,
    sound,
)

# A mark below every planted fault, and one above some.
LOW, HIGH = 4, 39


def marked(mirror: FakeMirror, at: int) -> FakeMirror:
    """The mirror with a mark at this offset of both sides, in each partition."""
    return replace(mirror, since=dict.fromkeys(mirror.source, (at, at)))


def late_faults() -> dict[str, FakeMirror]:
    """What an old record does to a mirror after the mark was left, by fault."""
    mirrors = {
        name: marked(sound(), HIGH) for name in ("repeat", "rewind", "old_phantom", "old_may", "elsewhere", "sound")
    }
    mirrors["repeat"].target[0].insert(50, mirrors["repeat"].target[0][7])
    mirrors["rewind"].target[0][50:50] = mirrors["rewind"].target[0][10:30]
    old = mirrors["old_phantom"].target[0][7]
    mirrors["old_phantom"].target[0].insert(50, replace(old, key=b"who", value=b"knows", ts=old.ts + 17))
    # The source, too, has a record with an old time: nothing is wrong with it.
    for log in (mirrors["old_may"].source, mirrors["old_may"].target):
        log[0].insert(50, replace(old, key=b"late", value=b"comer"))
    # One partition has it too much, the other has lost it: a change, though each has a mark of its own.
    mirrors["elsewhere"].target[1].insert(45, mirrors["elsewhere"].target[0].pop(50))
    for mirror in mirrors.values():
        renumbered(mirror.source)
        renumbered(mirror.target)
    return mirrors


EXPECTED: dict[str, dict[str, int]] = {
    "repeat": {"duplicated": 1}, "rewind": {"duplicated": 20}, "old_phantom": {"phantom": 1}, "old_may": {},
    "elsewhere": {"changed": 1}, "sound": {},
}  # fmt: skip


@pytest.fixture(scope="module")
def mirrors() -> dict[str, FakeMirror]:
    low = {name: marked(mirror, LOW) for name, mirror in damaged().items()}
    return low | {f"late_{name}": mirror for name, mirror in late_faults().items()}


@pytest.fixture(scope="module")
def seen(spark: SparkSession, mirrors: dict[str, FakeMirror]) -> Compared:
    return compared(spark, mirrors, examples=1000)


def test_the_same_faults_are_found_with_a_mark(seen: Compared, mirrors: dict[str, FakeMirror]) -> None:
    faults = {damage.__name__: expected for damage, expected in FAULTS}
    assert found(seen, mirrors) == faults | {"sound": {}} | {f"late_{name}": kinds for name, kinds in EXPECTED.items()}


def test_what_is_clean_is_not_read_whole_and_what_is_not_has_no_mark(
    seen: Compared, mirrors: dict[str, FakeMirror]
) -> None:
    number = {name: place for place, name in enumerate(mirrors)}
    assert {(number["sound"], 0), (number["sound"], 1), (number["late_old_may"], 0)} <= seen.renewed
    for name in ("drop", "late_repeat", "late_rewind", "late_old_phantom", "late_elsewhere"):
        assert (number[name], 0) not in seen.renewed | set(seen.ends)
    # The other partition has nothing wrong: of 60 records those from the mark on are read.
    assert (number["late_repeat"], 1) in seen.renewed
    assert seen.ends[number["late_sound"], 0].records == 60 - HIGH
    assert seen.pairs[number["late_sound"]]["n_a"] == 2 * (60 - HIGH)
    # One partition whole, the other from its mark on.
    assert seen.pairs[number["late_repeat"]]["n_a"] == 60 + 60 - HIGH


def right(mirror: FakeMirror, partition: int, offset: int, copy: int) -> bool:
    """Whether a mark is true: both records are one, and before them stand the same records in the same order."""
    here = [contents(event) for event in mirror.source[partition] if event.offset <= offset]
    there = [contents(event) for event in mirror.target[partition] if event.offset <= copy]
    return here == there


def contents(event: Event) -> Event:
    return replace(event, offset=0)


def test_marks_of_busy_mirrors_are_true(spark: SparkSession) -> None:
    mirrors, repeats = {}, {}
    for seed in range(10):
        name = f"busy{seed}"
        mirrors[name], repeats[name] = busy(random.Random(seed))
    # Gaps in the target as well: markers of the mirror's transactions.
    drawn = random.Random(3)
    source = sound(size=50).source
    gaps = {
        index: [replace(event, offset=2 * event.offset + drawn.randrange(2)) for event in events]
        for index, events in mirrored(source).items()
    }
    mirrors["gaps"] = FakeMirror(source, gaps, behind=3)
    repeats["gaps"] = 0
    seen = compared(spark, mirrors)
    for number, (name, mirror) in enumerate(mirrors.items()):
        for span in mirror.scope(number, name).spans:
            end = seen.ends.get((number, span.partition))
            if end:
                assert end.offset == span.frontier
                assert right(mirror, span.partition, end.offset, end.copy), name
            elif not repeats[name]:
                assert span.frontier is None, name
    # From these marks on nothing is new, and nothing is read whole.
    again = {
        name: replace(
            mirror,
            since={index: (end.offset, end.copy) for (pair, index), end in seen.ends.items() if pair == number},
        )
        for number, (name, mirror) in enumerate(mirrors.items())
    }
    assert compared(spark, again).renewed == set(seen.ends)


def test_a_mirror_whose_source_promises_less_than_it_holds_gets_a_mark(spark: SparkSession) -> None:
    mirrors = {"expired": sound(promised_from_ms=2**50), "unjudged": sound()}
    for mirror in mirrors.values():
        mirror.target = {index: events[20:] for index, events in mirror.target.items()}
        mirror.target_start = dict.fromkeys(mirror.target, 20)
    seen = compared(spark, mirrors)
    assert sorted(seen.ends) == [(0, 0), (0, 1)]
    assert (seen.ends[0, 0].offset, seen.ends[0, 0].copy) == (59, 59)


@pytest.mark.parametrize("given", [{"from_ms": 5}, {"keeps_partitions": False}])
def test_without_partitions_or_from_a_time_on_no_mark_is_made(spark: SparkSession, given: dict[str, Any]) -> None:
    assert compared(spark, {"sound": sound()}, **given).ends == {}


def test_the_records_of_marks_are_read_by_side_and_partition(spark: SparkSession) -> None:
    mirrors = {"orders": sound()}
    whole = comparison(spark, mirrors)
    ranges = {side: {(0, index): (LOW, LOW + 1) for index in (0, 1)} for side in ("source", "target")}
    prints = whole.fingerprints(scopes(mirrors), ranges)
    assert prints["source"] == prints["target"]
    # The source is cut, and another record stands there.
    mirrors["orders"].source[0][LOW] = replace(mirrors["orders"].source[0][LOW], value=b"rewritten")
    rewritten = comparison(spark, mirrors).fingerprints(scopes(mirrors), ranges)
    assert rewritten["source"][0, 0] != prints["source"][0, 0]
    assert rewritten["source"][0, 1] == prints["source"][0, 1]
    assert rewritten["target"] == prints["target"]
    # Past the end of a target that was made anew there is none.
    assert comparison(spark, mirrors).fingerprints(scopes(mirrors), {"source": {}, "target": {(0, 0): (90, 91)}}) == {
        "source": {}, "target": {},
    }  # fmt: skip

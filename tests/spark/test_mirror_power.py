"""Does the mirror audit see every fault, call it by its right name, and stay silent on a clean mirror?"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_validation.mirror.seen import Compared
from tests.support.fake_mirror import FakeMirror, compared, drawn_log, found, mirrored, renumbered, sound

Damage = Callable[[FakeMirror], None]


def drop(mirror: FakeMirror) -> None:
    del mirror.target[0][7]


def drop_at_the_end(mirror: FakeMirror) -> None:
    del mirror.target[1][-1]


def late_start(mirror: FakeMirror) -> None:
    del mirror.target[0][:25]


def duplicate(mirror: FakeMirror) -> None:
    mirror.target[0].insert(30, mirror.target[0][7])


def rewind(mirror: FakeMirror) -> None:
    mirror.target[0][30:30] = mirror.target[0][10:30]


def loss_and_duplicate_in_one_bucket(mirror: FakeMirror) -> None:
    mirror.target[0][7:9] = [mirror.target[0][8], mirror.target[0][8]]


def byte(mirror: FakeMirror) -> None:
    event = mirror.target[0][7]
    mirror.target[0][7] = replace(event, value=(event.value or b"") + b"!")


def header(mirror: FakeMirror) -> None:
    mirror.target[0][7] = replace(mirror.target[0][7], headers=(("new", None),))


def tombstone_for_empty(mirror: FakeMirror) -> None:
    mirror.source[0][7] = replace(mirror.source[0][7], value=None)
    mirror.target[0][7] = replace(mirror.source[0][7], value=b"")


def key_for_value(mirror: FakeMirror) -> None:
    mirror.source[0][7] = replace(mirror.source[0][7], key=None, value=b"x")
    mirror.target[0][7] = replace(mirror.source[0][7], key=b"x", value=None)


def header_value_for_key(mirror: FakeMirror) -> None:
    mirror.source[0][7] = replace(mirror.source[0][7], headers=(("a", None), ("b", b"x")))
    mirror.target[0][7] = replace(mirror.source[0][7], headers=(("a", b"b"), ("x", None)))


def other_time(mirror: FakeMirror) -> None:
    event = mirror.target[0][7]
    mirror.target[0][7] = replace(event, ts=event.ts + 86_400_000)


def other_partition(mirror: FakeMirror) -> None:
    mirror.target[1].insert(3, mirror.target[0].pop(7))


def phantom(mirror: FakeMirror) -> None:
    event = mirror.target[0][7]
    mirror.target[0].insert(7, replace(event, key=b"who", value=b"knows", ts=event.ts + 17))


def swap(mirror: FakeMirror) -> None:
    rows = mirror.target[0]
    rows[7], rows[8] = rows[8], rows[7]


def swap_far(mirror: FakeMirror) -> None:
    rows = mirror.target[0]
    rows[7], rows[50] = rows[50], rows[7]


def extra_partition(mirror: FakeMirror) -> None:
    mirror.target[2] = [replace(mirror.target[0][0], value=b"not yours")]


def missing_partition(mirror: FakeMirror) -> None:
    del mirror.target[1]


FAULTS: list[tuple[Damage, dict[str, int]]] = [
    (drop, {"lost": 1}),
    (drop_at_the_end, {"lost": 1}),
    (late_start, {"lost": 25}),
    (duplicate, {"duplicated": 1}),
    (rewind, {"duplicated": 20}),
    (loss_and_duplicate_in_one_bucket, {"lost": 1, "duplicated": 1}),
    (byte, {"changed": 1}),
    (header, {"changed": 1}),
    (tombstone_for_empty, {"changed": 1}),
    (key_for_value, {"changed": 1}),
    (header_value_for_key, {"changed": 1}),
    (other_time, {"changed": 1}),
    (other_partition, {"changed": 1}),
    (phantom, {"phantom": 1}),
    (swap, {"out_of_order": 1}),
    (swap_far, {"out_of_order": 2}),
    (extra_partition, {"phantom": 1}),
    (missing_partition, {"lost": 60}),
]


def damaged() -> dict[str, FakeMirror]:
    """One mirror for each fault, and one without."""
    mirrors = {}
    for damage, _ in FAULTS:
        mirror = mirrors[damage.__name__] = sound()
        damage(mirror)
        renumbered(mirror.target)
    return {**mirrors, "sound": sound()}


@pytest.fixture(scope="module")
def seen(spark: SparkSession) -> Compared:
    return compared(spark, damaged(), examples=1000)


@pytest.mark.parametrize(("damage", "expected"), FAULTS, ids=[damage.__name__ for damage, _ in FAULTS])
def test_a_fault_is_found_and_named(seen: Compared, damage: Damage, expected: dict[str, int]) -> None:
    assert found(seen, damaged())[damage.__name__] == expected


def test_a_sound_mirror_between_damaged_ones_is_left_alone(seen: Compared) -> None:
    assert found(seen, damaged())["sound"] == {}


@pytest.mark.parametrize(
    ("name", "kind", "place"),
    [
        ("drop", "lost", {"partition": 0, "source_offset": 7, "target_offset": None}),
        ("drop_at_the_end", "lost", {"partition": 1, "source_offset": 59}),
        ("byte", "changed", {"partition": 0, "source_offset": 7, "target_offset": 7, "differs_in": "value"}),
        ("header", "changed", {"source_offset": 7, "target_offset": 7, "differs_in": "headers"}),
        ("tombstone_for_empty", "changed", {"source_value": "tombstone", "target_value": "0 bytes"}),
        ("key_for_value", "changed", {"source_offset": 7, "differs_in": "key, value"}),
        ("header_value_for_key", "changed", {"source_offset": 7, "differs_in": "headers"}),
        ("other_time", "changed", {"source_offset": 7, "target_offset": 7, "differs_in": "timestamp"}),
        ("other_partition", "changed", {"partition": 0, "target_partition": 1, "differs_in": "partition"}),
        ("phantom", "phantom", {"partition": 0, "source_offset": None, "target_offset": 7, "key": "who"}),
        ("duplicate", "duplicated", {"partition": 0, "target_offset": 30}),
        ("swap", "out_of_order", {"partition": 0, "source_offset": 8, "target_offset": 7}),
    ],
)
def test_a_fault_is_located(seen: Compared, name: str, kind: str, place: dict[str, Any]) -> None:
    examples = [row for row in seen.kinds[kind].examples if row["topic"].removeprefix("dc_a.") == name]
    assert [{key: row[key] for key in place} for row in examples] == [place]


def test_twenty_clean_mirrors_raise_no_alarm(spark: SparkSession) -> None:
    mirrors, expected = {}, {}
    for seed in range(20):
        mirror, repeats = busy(random.Random(seed))
        mirrors[f"clean{seed}"] = mirror
        expected[f"clean{seed}"] = {"duplicated": repeats} if repeats else {}
    assert found(compared(spark, mirrors), mirrors) == expected


def busy(draw: random.Random) -> tuple[FakeMirror, int]:
    """A clean mirror of random records, a part of what came after the frontier included; and how many it repeats."""
    source = drawn_log(draw, draw.randrange(1, 6), draw.randrange(0, 60))
    mirror = FakeMirror(source, mirrored(source), behind=draw.randrange(4))
    repeats = 0
    for events in mirror.target.values():
        for _ in range(draw.randrange(mirror.behind + 1)):
            if events:
                events.pop()
        if events and draw.random() < 0.4:
            place = draw.randrange(len(events))
            back = draw.randrange(place + 1)
            events[place:place] = events[back:place]
            repeats += place - back
    renumbered(mirror.target)
    return mirror, repeats

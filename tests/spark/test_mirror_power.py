"""Does the mirror audit see every fault, call it by its right name, and stay silent on a clean mirror?"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from pyspark.sql import SparkSession

from spark_validation.mirror_seen import Compared
from tests.support.fake_mirror import BEGAN, Event, FakeMirror, Log, compared, drawn_log, found, mirrored, renumbered

Damage = Callable[[FakeMirror], None]


def clean(seed: int = 1, partitions: int = 2, size: int = 60, **given: Any) -> FakeMirror:
    """A mirror without fault whose source has no gaps, so that places are offsets."""
    source = drawn_log(random.Random(seed), partitions, size)
    renumbered(source)
    return FakeMirror(source, mirrored(source), **given)


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
        mirror = mirrors[damage.__name__] = clean()
        damage(mirror)
        renumbered(mirror.target)
    return {**mirrors, "sound": clean()}


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


def test_more_repeats_than_are_shown_are_counted(spark: SparkSession) -> None:
    mirror = clean(partitions=1, size=50)
    mirror.target[0] += [mirror.target[0][place % 50] for place in range(10_500)]
    renumbered(mirror.target)
    repeats = compared(spark, {"orders": mirror}, examples=5, order_check=False).kinds["duplicated"]
    assert (repeats.total, len(repeats.examples)) == (10_500, 5)


def test_retention_is_told_from_loss_and_from_phantoms(spark: SparkSession) -> None:
    mirrors = {
        # The target has removed 20 that the source promises for ever, or promises no more.
        "short": cut(clean(), target=20),
        "expired": cut(clean(promised_from_ms=2**50), target=20),
        "old": cut(clean(), source=20),
        "both": cut(clean(), source=10, target=30),
        "gone": cut(clean(), target=60),
        # A mirror that went back over the start of what the source still holds.
        "rewound": cut(repeated(clean(), 10, 30), source=20),
        "rewound_cut": cut(repeated(clean(), 10, 30), target=15),
        "damaged": cut(clean(), source=10, target=30),
    }
    del mirrors["damaged"].target[0][10]
    assert found(compared(spark, mirrors), mirrors) == {
        "short": {"unjudged": 40},
        "expired": {"expired": 40},
        "old": {"expired": 40},
        "both": {"unjudged": 40},
        "gone": {"unjudged": 120},
        "rewound": {"expired": 60, "duplicated": 20},
        "rewound_cut": {"duplicated": 30, "unjudged": 20},
        "damaged": {"unjudged": 40, "lost": 1},
    }


def repeated(mirror: FakeMirror, back: int, place: int) -> FakeMirror:
    """The mirror goes back from `place` to `back` once, in each partition."""
    for events in mirror.target.values():
        events[place:place] = events[back:place]
    renumbered(mirror.target)
    return mirror


def cut(mirror: FakeMirror, source: int = 0, target: int = 0) -> FakeMirror:
    """Remove the records before these offsets, as retention does, in each partition."""
    for log, start, starts in (
        (mirror.source, source, mirror.source_start),
        (mirror.target, target, mirror.target_start),
    ):
        for index, events in log.items():
            log[index] = [event for event in events if event.offset >= start]
            starts[index] = start
    return mirror


def test_a_target_that_stamps_its_own_time_is_compared_without_times(spark: SparkSession) -> None:
    sound, hurt = clean(timeless=True), clean(timeless=True)
    for mirror in (sound, hurt):
        mirror.target = {
            index: [replace(event, ts=event.ts + 5_000_000 + event.offset) for event in events]
            for index, events in mirror.target.items()
        }
    byte(hurt)
    mirrors = {"sound": sound, "hurt": hurt}
    assert found(compared(spark, mirrors), mirrors) == {"sound": {}, "hurt": {"changed": 1}}


def test_the_legacy_engine_may_put_records_into_other_partitions(spark: SparkSession) -> None:
    sound, hurt = clean(), clean()
    for mirror in (sound, hurt):
        mirror.target[0], mirror.target[1] = mirror.target[1][30:], mirror.target[0] + mirror.target[1][:30]
        renumbered(mirror.target)
    drop(hurt)
    mirrors = {"sound": sound, "hurt": hurt}
    assert found(compared(spark, mirrors, keeps_partitions=False), mirrors) == {"sound": {}, "hurt": {"lost": 1}}


def test_records_before_a_time_are_left_out(spark: SparkSession) -> None:
    mirror = clean()
    begin = sorted(event.ts for event in mirror.source[0])[30]
    del mirror.target[0][:3]
    renumbered(mirror.target)
    assert found(compared(spark, {"x": mirror}), {"x": mirror}) == {"x": {"lost": 3}}
    assert found(compared(spark, {"x": mirror}, from_ms=begin), {"x": mirror}) == {"x": {}}


def latest(seed: int) -> FakeMirror:
    """A clean compacted topic: each side lacks some records that later ones of the same key replace."""
    draw = random.Random(seed)
    source = drawn_log(draw, 2, 120, keys=12)
    target = mirrored(source)
    return FakeMirror(compacted(source, draw), compacted(target, draw), compacted=True)


def compacted(log: Log, draw: random.Random) -> Log:
    """What compaction may leave: the last record of each key, and some of the others; of tombstones some."""
    left: Log = {}
    for index, events in log.items():
        last = {event.key: event for event in events}
        forgotten = {key for key, event in last.items() if event.value is None and draw.random() < 0.5}
        left[index] = [
            event
            for event in events
            if event.key not in forgotten and (event is last[event.key] or draw.random() < 0.4)
        ]
    return left


def test_compacted_topics_are_compared_by_the_latest_value_of_a_key(spark: SparkSession) -> None:
    mirrors = {f"clean{seed}": latest(seed) for seed in range(5)}
    for name in ("lost", "stale", "revived", "tombstone"):
        mirrors[name] = latest(9)
    alive = [event for event in mirrors["lost"].source[0] if event.value]
    key, value = alive[-1].key, alive[-1].value
    last = {event.key: event for event in mirrors["lost"].source[0]}
    assert last[key].value == value
    mirrors["lost"].target[0] = [event for event in mirrors["lost"].target[0] if event.key != key]
    for name, other in (("stale", b"older"), ("tombstone", None)):
        mirrors[name].target[0] = [
            replace(event, value=other) if event.key == key else event for event in mirrors[name].target[0]
        ]
    mirrors["revived"].target[0].append(Event(10_000, b"who", b"knows", BEGAN))
    assert found(compared(spark, mirrors), mirrors) == {
        **{f"clean{seed}": {} for seed in range(5)},
        "lost": {"lost": 1},
        "stale": {"changed": 1},
        "revived": {"phantom": 1},
        "tombstone": {"changed": 1},
    }


def test_a_key_that_changed_after_the_frontier_may_show_either_value(spark: SparkSession) -> None:
    values = [b"one", b"two", b"three", b"four"]
    source = {0: [Event(place, b"k", value, BEGAN + place) for place, value in enumerate(values)]}
    mirrors = {
        value.decode(): FakeMirror(source, {0: [Event(0, b"k", value, BEGAN + place)]}, behind=2, compacted=True)
        for place, value in enumerate(values)
    }
    # The first is older than the frontier's; a key in motion is no finding.
    expected: dict[str, dict[str, int]] = {"one": {"in_flux": 1}, "two": {}, "three": {}, "four": {}}
    assert found(compared(spark, mirrors), mirrors) == expected

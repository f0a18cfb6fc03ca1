"""What limits a comparison of a mirror: retention, compaction, other clocks, other partitions, many repeats."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

from tests.support.fake_mirror import (
    BEGAN,
    Event,
    FakeMirror,
    Log,
    compared,
    drawn_log,
    found,
    mirrored,
    renumbered,
    sound,
)


@pytest.mark.full
def test_more_repeats_than_are_shown_are_counted(spark: SparkSession) -> None:
    mirror = sound(partitions=1, size=50)
    mirror.target[0] += [mirror.target[0][place % 50] for place in range(10_500)]
    renumbered(mirror.target)
    repeats = compared(spark, {"orders": mirror}, examples=5, order_check=False).kinds["duplicated"]
    assert (repeats.total, len(repeats.examples)) == (10_500, 5)


def test_retention_is_told_from_loss_and_from_phantoms(spark: SparkSession) -> None:
    mirrors = {
        # The target has removed 20 that the source promises for ever, or promises no more.
        "short": cut(sound(), target=20),
        "expired": cut(sound(promised_from_ms=2**50), target=20),
        # The source has removed what it promises no more, what its size does not allow, and what it promises.
        "old": cut(sound(promised_from_ms=2**50), source=20),
        "sized": cut(sound(sized=True), source=20),
        "removed": cut(sound(), source=20),
        "both": cut(sound(), source=10, target=30),
        "gone": cut(sound(), target=60),
        # A mirror that went back over the start of what the source still holds.
        "rewound": cut(repeated(sound(promised_from_ms=2**50), 10, 30), source=20),
        "rewound_cut": cut(repeated(sound(), 10, 30), target=15),
        "damaged": cut(sound(), source=10, target=30),
    }
    del mirrors["damaged"].target[0][10]
    assert found(compared(spark, mirrors), mirrors) == {
        "short": {"unjudged": 40},
        "expired": {"expired": 40},
        "old": {"expired": 40},
        "sized": {"expired": 40},
        "removed": {"unjudged": 40},
        "both": {"unjudged": 40},
        "gone": {"unjudged": 120},
        "rewound": {"expired": 60, "duplicated": 20},
        "rewound_cut": {"duplicated": 30, "unjudged": 20},
        "damaged": {"unjudged": 40, "lost": 1},
    }


@pytest.mark.full
def test_a_writer_into_the_mirror_of_an_emptied_topic_is_not_excused_by_retention(spark: SparkSession) -> None:
    mirror = cut(sound(promised_from_ms=BEGAN + 1_000_000), source=60)
    for place in range(3):
        mirror.target[0].append(Event(100 + place, b"who", b"knows", BEGAN + 2_000_000 + place))
    assert found(compared(spark, {"x": mirror}), {"x": mirror}) == {"x": {"expired": 120, "unjudged": 3}}


def alternating(size: int, start: int = 0) -> list[Event]:
    """A topic that says on and off: without times its records are of two kinds."""
    return [Event(place, b"lamp", b"off" if place % 2 else b"on", BEGAN + place) for place in range(start, size)]


@pytest.mark.full
def test_records_of_equal_content_raise_no_alarm(spark: SparkSession) -> None:
    whole, shift = alternating(100), 5_000_000
    late = [replace(event, ts=event.ts + shift) for event in whole]
    again = [Event(place, b"k", value, BEGAN) for place, value in enumerate((b"A", b"B", b"A", b"B", b"C", b"A"))]
    mirrors = {
        # The target has removed the first thirty: which of the equal ones are gone cannot be known.
        "cut": FakeMirror({0: whole}, {0: late[30:]}, target_start={0: 30}, timeless=True),
        # A B C A with a step back over A B.
        "repeat": FakeMirror({0: [Event(0, b"k", b"A", BEGAN), *again[3:]]}, {0: again}),
    }
    renumbered(mirrors["repeat"].source)
    assert found(compared(spark, mirrors), mirrors) == {"cut": {"unjudged": 30}, "repeat": {"duplicated": 2}}


@pytest.mark.full
def test_the_legacy_engine_is_not_blamed_for_a_partition_that_retention_emptied(spark: SparkSession) -> None:
    mirror = sound()
    mirror.target[1], mirror.target_start[1] = [], 60
    seen = compared(spark, {"x": mirror}, keeps_partitions=False)
    assert found(seen, {"x": mirror}) == {"x": {"unjudged": 60}}


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


@pytest.mark.full
def test_a_target_that_stamps_its_own_time_is_compared_without_times(spark: SparkSession) -> None:
    whole, hurt = sound(timeless=True), sound(timeless=True)
    for mirror in (whole, hurt):
        mirror.target = {
            index: [replace(event, ts=event.ts + 5_000_000 + event.offset) for event in events]
            for index, events in mirror.target.items()
        }
    event = hurt.target[0][7]
    hurt.target[0][7] = replace(event, value=(event.value or b"") + b"!")
    mirrors = {"sound": whole, "hurt": hurt}
    assert found(compared(spark, mirrors), mirrors) == {"sound": {}, "hurt": {"changed": 1}}


@pytest.mark.full
def test_the_legacy_engine_may_put_records_into_other_partitions(spark: SparkSession) -> None:
    whole, hurt = sound(), sound()
    for mirror in (whole, hurt):
        mirror.target[0], mirror.target[1] = mirror.target[1][30:], mirror.target[0] + mirror.target[1][:30]
        renumbered(mirror.target)
    del hurt.target[0][7]
    mirrors = {"sound": whole, "hurt": hurt}
    assert found(compared(spark, mirrors, keeps_partitions=False), mirrors) == {"sound": {}, "hurt": {"lost": 1}}


def test_records_before_a_time_are_left_out(spark: SparkSession) -> None:
    mirror = sound()
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


@pytest.mark.full
def test_a_key_that_changed_after_the_frontier_may_show_either_value(spark: SparkSession) -> None:
    values = [b"one", b"two", b"three", b"four"]
    source = {0: [Event(place, b"k", value, BEGAN + place) for place, value in enumerate(values)]}
    mirrors = {
        value.decode(): FakeMirror(source, {0: [Event(0, b"k", value, BEGAN + place)]}, behind=2, compacted=True)
        for place, value in enumerate(values)
    }
    # The first is older than the frontier's: a key in motion decides nothing.
    expected: dict[str, dict[str, int]] = {"one": {"in_flux": 1}, "two": {}, "three": {}, "four": {}}
    assert found(compared(spark, mirrors), mirrors) == expected


@pytest.mark.parametrize(("newest", "kind"), [(b"three", "lost"), (None, "in_flux")])
def test_a_key_in_motion_is_lost_unless_the_source_deletes_it(
    spark: SparkSession, newest: bytes | None, kind: str
) -> None:
    values = [b"one", b"two", newest]
    source = {0: [Event(place, b"k", value, BEGAN + place) for place, value in enumerate(values)]}
    mirror = FakeMirror(source, {0: []}, behind=1, compacted=True)
    assert found(compared(spark, {"x": mirror}), {"x": mirror}) == {"x": {kind: 1}}


@pytest.mark.full
def test_a_key_has_a_latest_value_in_each_partition_of_a_compacted_topic(spark: SparkSession) -> None:
    # Compaction left a high offset in the partition of before, and a low one where the key stands since the topic grew.
    source = {0: [Event(5000, b"k", b"before", BEGAN)], 1: [Event(100, b"k", b"since", BEGAN + 1)]}
    target = {0: [Event(50, b"k", b"before", BEGAN)], 1: [Event(100, b"k", b"since", BEGAN + 1)]}
    mirrors = {
        "sound": FakeMirror(source, target, compacted=True),
        "lost": FakeMirror(source, {0: target[0], 1: []}, compacted=True),
        "stale": FakeMirror(source, {**target, 1: [Event(100, b"k", b"older", BEGAN + 1)]}, compacted=True),
        "elsewhere": FakeMirror(source, {0: [*target[0], Event(51, b"x", b"y", BEGAN)], 1: target[1]}, compacted=True),
    }
    expected: dict[str, dict[str, int]] = {
        "sound": {}, "lost": {"lost": 1}, "stale": {"changed": 1}, "elsewhere": {"phantom": 1},
    }  # fmt: skip
    assert found(compared(spark, mirrors), mirrors) == expected

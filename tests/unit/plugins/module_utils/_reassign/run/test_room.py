# SPDX-License-Identifier: GPL-3.0-or-later
"""What of a batch must wait: for room on a disk beside what is on its way, or for replicas in sync."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import Disk, LogDirs
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import InFlight
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Partition
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.room import without_isr, without_room
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import Look


def look(replicas: Sequence[Sequence[int]], flying: Sequence[InFlight] = (), isr: Sequence[int] = ()) -> Look:
    """Partitions t-0, t-1, ... with these replicas."""
    partitions = {
        ("t", n): Partition("t", n, held[0], tuple(held), tuple(isr or held), 1, False)
        for n, held in enumerate(replicas)
    }
    return Look(partitions, {one.key: one for one in flying}, frozenset((1, 2, 3)))


def disk(total: int, usable: int, **held: int) -> Disk:
    """A log directory with these bytes of t-N, by tN."""
    return Disk(total, usable, len(held), {("t", int(name[1:])): size for name, size in held.items()})


def rows(*indexes: int, size: int = 30) -> list[Row]:
    """Partitions that go from broker 1 to broker 2."""
    return [Row("t", index, (2,), size, 1) for index in indexes]


def waiting(wanted: list[Row], seen: Look, *disks: Disk, **other: Any) -> list[int]:
    """The partitions that have no room on broker 2, a tenth of which stays free."""
    held = {2: LogDirs({}, 0, 0, disks)}
    found = without_room(wanted, seen, held, other.get("sizes", {}), 0.1, other.get("silent", {}))
    return sorted(index for _topic, index in found)


def test_the_first_ones_begin_and_the_rest_waits() -> None:
    assert waiting(rows(0, 1, 2), look([(1,)] * 3), disk(100, 80)) == [2]
    assert waiting(rows(0, 1, 2), look([(1,)] * 3), disk(100, 100)) == []


def test_a_log_that_has_grown_since_the_plan_counts_as_it_is() -> None:
    assert waiting(rows(0), look([(1,)]), disk(100, 50), sizes={("t", 0): 41}) == [0]
    assert waiting(rows(0), look([(1,)]), disk(100, 50), sizes={("t", 0): 40}) == []


def test_what_is_still_to_come_of_moves_under_way_counts() -> None:
    flying = InFlight("t", 1, (1, 2), frozenset({2}), frozenset({1}))
    seen = look([(1,), (1, 2)], [flying])
    sizes = {("t", 1): 50}
    # Broker 2 has 10 of its 50 bytes: 40 are to come beside what uses the disk already.
    assert waiting(rows(0), seen, disk(100, 79, t1=10), sizes=sizes) == [0]
    assert waiting(rows(0), seen, disk(100, 80, t1=10), sizes=sizes) == []
    # It has nothing of it yet.
    assert waiting(rows(0), seen, disk(100, 89), sizes=sizes) == [0]
    assert waiting(rows(0), seen, disk(100, 90), sizes=sizes) == []


def test_the_directory_with_the_fewest_replicas_must_have_room() -> None:
    crowded = disk(1000, 1000, t5=1, t6=1)
    assert waiting(rows(0), look([(1,)]), disk(100, 30), crowded) == [0]
    assert waiting(rows(0), look([(1,)]), disk(100, 40), crowded) == []


def test_a_broker_that_does_not_tell_gets_nothing() -> None:
    found = without_room(rows(0), look([(1,)]), {}, {}, 0.1, {2: "refused"})
    assert found == {("t", 0): "broker 2 does not tell how full its disks are (refused)"}


def test_the_reason_says_how_much_is_missing() -> None:
    found = without_room(rows(0), look([(1,)]), {2: LogDirs({}, 0, 0, (disk(100, 20),))}, {}, 0.1, {})
    assert found["t", 0].startswith("broker 2 has room for 10 more bytes, with disk_reserve 0.1 left free (")
    assert found["t", 0].endswith("and the new replica has 30")


def test_brokers_of_one_host_are_not_each_given_its_whole_disk() -> None:
    begun = [Row("t", n, (2 + n,), 30, 1) for n in range(2)]
    disks = {broker: LogDirs({}, 0, 0, (disk(100, 60),)) for broker in (2, 3)}
    seen = look([(1,)] * 2)
    assert list(without_room(begun, seen, disks, {}, 0.1, {}, {2: "a", 3: "a"})) == [("t", 1)]
    assert without_room(begun, seen, disks, {}, 0.1, {}, {2: "a", 3: "b"}) == {}


def test_next_to_nothing_may_begin_on_a_disk_that_is_above_its_limit() -> None:
    full = LogDirs({}, 0, 0, (disk(500_000, 50_000),))
    begun = rows(0, size=0) + rows(1, 2, size=300)
    assert list(without_room(begun, look([(1,)] * 3), {2: full}, {}, 0.15, {})) == [("t", 2)]


def test_replicas_are_not_taken_away_while_the_others_are_not_in_sync() -> None:
    fewer = [Row("t", 0, (1, 2), 5, 0)]
    assert list(without_isr(fewer, look([(1, 2, 3)], isr=(1, 3)), {"t": 2})) == [("t", 0)]
    assert without_isr(fewer, look([(1, 2, 3)], isr=(1, 3)), {"t": 1}) == {}
    assert without_isr(fewer, look([(1, 2, 3)]), {"t": 2}) == {}
    assert list(without_isr([Row("t", 0, (1,), 5, 0)], look([(1, 2)], isr=(2,)), {"t": 1})) == [("t", 0)]
    moved = [Row("t", 0, (1, 4), 5, 1)]
    assert without_isr(moved, look([(1, 2)], isr=(2,)), {"t": 2}) == {}, "Kafka copies before it takes away"

# SPDX-License-Identifier: GPL-3.0-or-later
"""Where Kafka puts new replicas, and whether they fit there; plans on the disks that a cluster has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.file_systems import (
    Dir,
    dir_of,
    limit_of,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import Disk, LogDirs
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import InFlight, Partition
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.disk_room import (
    Room,
    without_room,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import planned
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.forced import without_isr
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Look, Row

GB = 1_000_000_000
DRAIN: dict[str, Any] = {"drain": [1], "concurrency": 5, "throttle": None, "disk_reserve": 0.15}


def test_the_reserve_is_rounded_up() -> None:
    assert [limit_of(100, 0.15), limit_of(101, 0.15), limit_of(7, 0)] == [85, 85, 7]


def test_the_reserve_of_a_big_disk_is_75_gb_unless_more_is_asked_for() -> None:
    assert [limit_of(20_000 * GB, reserve) for reserve in (0.15, 0.1, 0.001)] == [19_925 * GB, 19_925 * GB, 19_980 * GB]
    assert limit_of(20_000 * GB, 0.2) == 16_000 * GB


def test_a_disk_above_its_limit_takes_next_to_nothing_and_no_more_of_it_than_that() -> None:
    room = Room({1: [dir_of(500 * GB, 450 * GB, 0, 0.15)], 2: [dir_of(500, 500, 0, 0.15)]})
    for _time in range(4):
        assert room.fits([1], GB // 10)
        room.add([1], GB // 10)
    assert not room.fits([1], GB // 10)
    assert room.fits([1, 2], 0)
    assert not room.fits([2], 1), "it does not fit the disk at all"


@pytest.mark.parametrize(("total", "used", "size"), [(500, 450, 1000), (500, 450, 0), (20_000, 17_400, 100 * GB)])
def test_small_moves_to_a_nearly_full_disk_and_any_to_one_with_terabytes_free_are_planned(
    total: int, used: int, size: int
) -> None:
    found = snapshot(size, disk_total_bytes=total * GB, disk_used_bytes=used * GB)
    assert planned(found, DRAIN, registered_only=True)["moves"] == 4


def test_a_new_replica_goes_to_the_directory_with_the_fewest_however_full() -> None:
    room = Room({1: [Dir(100, 90, 1), Dir(1000, 0, 2)]})
    assert not room.fits([1], 50)
    assert room.fits([1], 10)
    room.add([1], 10)
    # Both hold two now: the fuller one is taken to be next.
    assert not room.fits([1], 1)
    room.remove([1], 10)
    assert not room.fits([1], 1), "nobody knows which directory was freed"


def test_of_one_directory_what_goes_is_room_again() -> None:
    room = Room({1: [Dir(100, 90, 5)]})
    room.remove([1], 60)
    assert room.fits([1, 2], 70)
    assert not room.part([1]).fits([1], 71)


def snapshot(size: int | None = 100 * GB, **disk: Any) -> dict[str, Any]:
    """Broker 1 gives four partitions to broker 2, which has these disks."""
    partitions = [{"partition": n, "replicas": [1], "leader": 1, "size_bytes": size} for n in range(4)]
    nodes = [{"id": 1, "disk_total_bytes": 1000 * GB, "disk_used_bytes": 400 * GB}, {"id": 2, **disk}]
    return {"nodes": nodes, "topics": [{"name": "t", "partitions": partitions}]}


def refusal(found: dict[str, Any], **options: Any) -> str:
    """Why the drain is refused."""
    with pytest.raises(RefusedError) as error:
        planned(found, {**DRAIN, **options}, registered_only=True)
    return "\n".join(error.value.violations)


def test_four_times_a_hundred_gigabytes_do_not_go_to_a_disk_with_five_left() -> None:
    full = snapshot(disk_total_bytes=300 * GB, disk_used_bytes=295 * GB)
    assert "broker 2: would hold 395000000000 bytes with the next new replica" in refusal(full)
    assert "its limit is 255000000000" in refusal(full)
    assert "its limit is 300000000000" in refusal(full, disk_reserve=0.0)


def test_the_reserve_decides() -> None:
    room = snapshot(disk_total_bytes=500 * GB, disk_used_bytes=60 * GB)
    assert "its limit is 425000000000" in refusal(room)
    assert "disk_reserve, which playbooks take from kafka_resources_move_disk_reserve)" in refusal(room)
    found = planned(room, {**DRAIN, "disk_reserve": 0.05}, registered_only=True)
    assert found["moves"] == 4
    assert found["brokers"][1]["disk_limit_bytes"] == 475 * GB
    assert planned(room, {**DRAIN, "disk_reserve": None}, registered_only=True)["moves"] == 4


def test_a_limit_that_a_snapshot_sets_goes_before_the_disk() -> None:
    disk = {"disk_total_bytes": 300 * GB, "disk_used_bytes": 295 * GB, "disk_limit_bytes": 2000 * GB}
    assert planned(snapshot(**disk), DRAIN, registered_only=True)["brokers"][1]["disk_limit_bytes"] == 2000 * GB
    low = {"disk_total_bytes": 3000 * GB, "disk_used_bytes": 0, "disk_limit_bytes": 350 * GB}
    assert "its limit is 350000000000" in refusal(snapshot(**low))


def test_the_directory_that_kafka_chooses_must_have_room() -> None:
    dirs = [
        {"total_bytes": 300 * GB, "usable_bytes": 50 * GB, "replica_count": 0},
        {"total_bytes": 3000 * GB, "usable_bytes": 3000 * GB, "replica_count": 90},
    ]
    disk = {"disk_total_bytes": 3300 * GB, "disk_used_bytes": 250 * GB, "log_dirs": dirs}
    assert "bytes in the log directory that Kafka puts it into" in refusal(snapshot(**disk))
    dirs[0]["replica_count"] = 100
    assert planned(snapshot(**disk), DRAIN, registered_only=True)["moves"] == 4


def test_brokers_of_a_host_with_one_disk_share_its_room() -> None:
    room = Room(
        {n: [dir_of(1000, 500 + n % 2, 0, 0, "h")] for n in (1, 2, 3)} | {4: [dir_of(1000, 500, 0, 0, "other")]}
    )
    assert not room.fits([1, 2], 300)
    assert room.fits([1, 4], 300)
    room.add([1], 300)
    assert not room.fits([2], 300)
    assert not room.part([2, 3]).fits([3], 300)
    assert room.fits([4], 300)
    trial = room.part([2, 3])
    trial.add([2], 100)
    assert not trial.fits([3], 150)
    assert room.fits([3], 150), "a trial changes nothing"
    room.remove([3], 300)
    assert room.fits([2], 300)


def test_directories_of_a_broker_on_one_disk_share_its_room_and_those_on_others_do_not() -> None:
    one = Room({1: [dir_of(1000, 500, 0, 0), dir_of(1000, 500, 0, 0)]})
    one.add([1], 300)
    assert not one.fits([1], 300)
    one.remove([1], 300)
    assert one.fits([1], 300), "whichever directory it was in, the disk is free again"
    two = Room({1: [dir_of(1000, 500, 0, 0), dir_of(1000, 400, 0, 0)], 2: [dir_of(1000, 500, 0, 0)]})
    two.add([1], 300)
    assert two.fits([1, 2], 300)


def test_disks_whose_replicas_are_more_than_one_of_them_has_in_use_are_two() -> None:
    disk, held = 4000 * GB, 1000 * GB
    alike = [dir_of(disk, used, 10, 0, held=held) for used in (1001 * GB, 1001 * GB + 5000)]
    room = Room({1: alike})
    room.add([1], 2000 * GB)
    assert room.fits([1], 2000 * GB)
    one = Room({1: [dir_of(disk, 2001 * GB, 10, 0, held=held) for _directory in (1, 2)]})
    one.add([1], 1500 * GB)
    assert not one.fits([1], 1500 * GB)


def test_one_answer_of_a_broker_tells_disks_apart_by_less_than_those_of_two_brokers() -> None:
    disk, used, more = 4000 * GB, 1000 * GB, GB
    two = Room({1: [dir_of(disk, used, 0, 0), dir_of(disk, used + more, 0, 0)]})
    two.add([1], 2500 * GB)
    assert two.fits([1], 2500 * GB)
    host = Room({1: [dir_of(disk, used, 0, 0, "h")], 2: [dir_of(disk, used + more, 0, 0, "h")]})
    host.add([1], 2500 * GB)
    assert not host.fits([2], 2500 * GB)


def test_a_snapshot_tells_what_its_log_directories_hold() -> None:
    dirs = [
        {"total_bytes": 1000 * GB, "usable_bytes": 500 * GB, "replica_count": 9, "replica_bytes": 400 * GB}
        for _directory in (1, 2)
    ]
    disk = {"disk_total_bytes": 2000 * GB, "disk_used_bytes": 1000 * GB, "log_dirs": dirs}
    assert planned(snapshot(175 * GB, **disk), {**DRAIN, "disk_reserve": 0.1}, registered_only=True)["moves"] == 4
    for one in dirs:
        del one["replica_bytes"]
    said = refusal(snapshot(175 * GB, **disk), disk_reserve=0.1)
    assert "broker 2 has several log directories with disks of one size that are as full" in said


def test_disks_that_may_be_one_or_several_get_nothing_and_those_that_cannot_be_one_do() -> None:
    def disks(*usable: int, count: int = 3) -> dict[str, Any]:
        """Two disks of 100 GB, of which nothing tells how many bytes of replicas they hold."""
        dirs = [{"total_bytes": 100 * GB, "usable_bytes": one * GB, "replica_count": count} for one in usable]
        return {"disk_total_bytes": 200 * GB, "disk_used_bytes": (200 - sum(usable)) * GB, "log_dirs": dirs}

    assert "one disk or on several" in refusal(snapshot(2 * GB, **disks(50, 50)))
    assert planned(snapshot(2 * GB, **disks(50, 40)), DRAIN, registered_only=True)["moves"] == 4
    # What gets nothing is not asked for.
    assert planned(snapshot(2 * GB, **disks(50, 50)), {**DRAIN, "drain": [2]}, registered_only=True)["moves"] == 0
    # Without any replica nothing is unknown; such disks count as one.
    assert planned(snapshot(2 * GB, **disks(100, 100, count=0)), DRAIN, registered_only=True)["moves"] == 4
    limited = {**disks(50, 50), "disk_limit_bytes": 85 * GB, "disk_used_bytes": 50 * GB}
    assert planned(snapshot(2 * GB, **limited), DRAIN, registered_only=True)["moves"] == 4
    # A replica must fit on the disk that gets it, however much room all disks have together.
    assert "with the next new replica" in refusal(snapshot(60 * GB, **disks(50, 40)))


def test_a_plan_does_not_give_each_broker_of_a_host_the_whole_disk() -> None:
    nodes = [
        {"id": n, "host": "one", "disk_total_bytes": 500 * GB, "disk_used_bytes": 350 * GB} for n in (1, 2, 3, 4, 5, 6)
    ]
    topic = {"name": "t", "partitions": [{"partition": 0, "replicas": [1], "size_bytes": 60 * GB}]}
    grown = {**DRAIN, "drain": [], "replication_factor": {"t": 6}}
    assert "with the next new replica" in refusal({"nodes": nodes, "topics": [topic]}, **grown)
    for node in nodes:
        node["host"] = f"host{node['id']}"
    assert planned({"nodes": nodes, "topics": [topic]}, grown, registered_only=True)["moves"] == 5


def six_brokers(dead: bool, *full: int) -> dict[str, Any]:
    """Brokers of 1000 GB, the full ones above their limit; broker 6, dead or alive, is to be emptied."""
    nodes: list[dict[str, Any]] = [
        {"id": n, "disk_total_bytes": 1000 * GB, "disk_used_bytes": (990 if n in full else 300) * GB}
        for n in range(1, 7)
    ]
    if dead:
        nodes[5] = {"id": 6, "fenced": True, "disk_total_bytes": None, "disk_used_bytes": None, "log_dirs": []}
    held = [[1, 2, 6], [2, 3, 6], [3, 4, 6], [4, 5, 6], [5, 1, 6], [1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 1]] * 3
    partitions = [
        {
            "partition": n,
            "replicas": replicas,
            "leader": replicas[0],
            "isr": [broker for broker in replicas if broker != 6 or not dead],
            "size_bytes": 2 * GB,
        }
        for n, replicas in enumerate(held)
    ]
    return {"nodes": nodes, "topics": [{"name": "t", "partitions": partitions}]}


@pytest.mark.parametrize("dead", [False, True])
@pytest.mark.parametrize("option", [{"drain": [6]}, {"drain": [6], "rebalance": True}])
def test_what_a_full_broker_has_no_room_for_goes_to_others(dead: bool, option: dict[str, Any]) -> None:
    found = planned(six_brokers(dead, 1), {**DRAIN, **option}, registered_only=True)
    by_id = {one["id"]: one for one in found["brokers"]}
    assert (by_id[1]["state"], by_id[1]["moves_in"], by_id[6]["replicas"]["to"]) == ("excluded", 0, 0)
    assert found["moves"] >= 15
    assert found["no_room"] == [1]


def test_more_replicas_go_past_a_full_broker() -> None:
    nodes = six_brokers(False, 1)["nodes"]
    held = [[2, 3], [3, 4], [4, 5], [5, 2]] * 4
    partitions = [{"partition": n, "replicas": two, "size_bytes": 2 * GB} for n, two in enumerate(held)]
    more = {**DRAIN, "drain": [], "replication_factor": {"t": 3}}
    found = planned({"nodes": nodes, "topics": [{"name": "t", "partitions": partitions}]}, more, registered_only=True)
    assert (found["moves"], found["brokers"][0]["moves_in"]) == (16, 0)


def test_what_nobody_has_room_for_is_refused_with_the_first_plans_full_disks() -> None:
    said = refusal(six_brokers(False, 1, 2, 3, 4, 5), drain=[6])
    assert "broker 1: would hold" in said
    assert "broker 5: would hold" in said


def test_what_is_not_known_is_null_and_refused_where_a_disk_has_a_limit() -> None:
    sized = {"disk_total_bytes": 3000 * GB, "disk_used_bytes": 0}
    assert "the sizes of 4 partitions (t-0, t-1, t-2, t-3) are not known" in refusal(snapshot(None, **sized))
    assert "broker 2 does not report its disk size, so free space is unknown" in refusal(
        snapshot(disk_total_bytes=None)
    )
    free = planned(snapshot(None), DRAIN, registered_only=True)
    assert (free["bytes"], free["changes"][0]["bytes"], free["brokers"][1]["peak_bytes"]) == (None, None, None)
    assert (free["schedule"]["batches"][0]["bytes"], free["schedule"]["peak_bytes"]["2"]) == (None, None)
    assert free["schedule"]["seconds"] is None


def test_a_size_of_zero_in_a_snapshot_of_before_is_not_known() -> None:
    old = snapshot(disk_total_bytes=0, disk_used_bytes=0)
    assert "broker 2 does not report its disk size, so free space is unknown" in refusal(old)


@pytest.mark.parametrize("reserve", [-0.1, 1, 15])
def test_a_reserve_is_a_fraction(reserve: float) -> None:
    assert f"disk_reserve: {reserve} is not a fraction" in refusal(snapshot(), disk_reserve=reserve)


@pytest.mark.parametrize(
    "disk", [{"disk_total_bytes": -1}, {"log_dirs": 5}, {"log_dirs": [{"total_bytes": 1, "usable_bytes": 1}]}]
)
def test_disks_that_make_no_sense_are_refused(disk: dict[str, Any]) -> None:
    assert "nodes: broker 2: " in refusal(snapshot(**disk))


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

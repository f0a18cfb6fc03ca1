# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planned failover would cost, told of two real clusters and compared with what both really hold."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.support.cluster import until
from tests.support.groups import commit, member
from tests.support.mirrored import Mirrored, small_mirror
from tests.support.modules import run_module
from tests.support.traffic import producing

pytestmark = pytest.mark.full

#: Offsets of the source at which groups stand, in a log in which every tenth record is followed by a marker.
PLACES = {"at_begin": 0, "early": 57, "behind_marker": 110, "late": 1001}
RECORDS = 1000


@pytest.fixture(scope="module")
def mirrored(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """One node in each cluster and a mirror, with 1,000 records in transactions and groups of the source."""
    cluster = small_mirror(tmp_path_factory.mktemp("failover"), spark_validation_enabled=False)
    try:
        cluster.playbook().ok()
        write_in_transactions(cluster.servers("dc_a"))
        for group, offset in PLACES.items():
            commit(cluster.servers("dc_a"), group, {("orders", 0): offset})
        end = offsets(cluster.servers("dc_a"), "orders")[1]
        commit(cluster.servers("dc_a"), "all_read", {("orders", 0): end})
        until(lambda: plan(cluster)["to_copy"] == 0, "everything in the target", timeout=180)
        yield cluster
    finally:
        cluster.destroy()


def write_in_transactions(servers: list[str]) -> None:
    """Writes numbers into partition 0 of orders, ten in a transaction; each leaves a marker."""
    producer = Producer({"bootstrap.servers": ",".join(servers), "transactional.id": "failover"})
    producer.init_transactions(60)
    for number in range(RECORDS):
        if number % 10 == 0:
            producer.begin_transaction()
        producer.produce("orders", str(number).encode(), partition=0)
        if number % 10 == 9:
            producer.commit_transaction(60)


def offsets(servers: list[str], topic: str) -> tuple[list[int], int]:
    """The offsets of the records in partition 0, and the end of its log."""
    consumer = Consumer({"bootstrap.servers": ",".join(servers), "group.id": "test", "enable.auto.commit": False})
    try:
        place = TopicPartition(topic, 0, 0)
        consumer.assign([place])
        found: list[int] = []

        def is_read() -> bool:
            """Whether all of it was read."""
            for record in consumer.consume(1000, 0.5):
                assert record.error() is None, record.error()
                found.append(record.offset() or 0)
            return len(found) >= RECORDS

        until(is_read, f"{RECORDS} records of {topic}", 60)
        return found, consumer.get_watermark_offsets(place, timeout=30)[1]
    finally:
        consumer.close()


def plan(cluster: Mirrored, **options: Any) -> dict[str, Any]:
    """What the module returns for the flow."""
    arguments = {
        "bootstrap_servers": cluster.servers("dc_b"),
        "source_connection": {"bootstrap_servers": cluster.servers("dc_a")},
        "source": "dc_a",
        "target": "dc_b",
        "topics": ["orders", "payments"],
        "watch_seconds": 2,
        "confirm_seconds": 0,
        **options,
    }
    found = run_module("streamops.kafka.mirror_failover_info", arguments)
    assert not found["failed"], found["msg"]
    return found


def readings(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """By group what is told of partition 0 of orders."""
    return {
        group["name"]: next(one for one in group["readings"] if (one["topic"], one["partition"]) == ("orders", 0))
        for group in found["groups"]
    }


def test_no_bound_is_passed_by_the_records_that_a_group_has_not_read(mirrored: Mirrored) -> None:
    here, _end = offsets(mirrored.servers("dc_a"), "orders")
    there, end = offsets(mirrored.servers("dc_b"), "dc_a.orders")
    found = readings(plan(mirrored))
    assert found.keys() >= PLACES.keys()
    for group, committed in PLACES.items():
        read = sum(offset < committed for offset in here)
        first = there[read] if read < len(there) else end
        assert found[group]["low"] <= first <= found[group]["high"], (group, first, found[group])
    assert (found["all_read"]["low"], found["all_read"]["high"]) == (end, end)


def test_what_mirror_maker_wrote_for_a_group_is_compared_with_what_it_has_read(mirrored: Mirrored) -> None:
    until(lambda: readings(plan(mirrored))["all_read"]["state"] == "known", "offsets in the target", timeout=180)
    reading = readings(plan(mirrored))["all_read"]
    assert reading["skips"] == {"at_least": 0, "at_most": 0}
    repeats = reading["low"] - reading["there"]
    assert reading["repeats"] == {"at_least": repeats, "at_most": repeats}
    assert reading["checkpoint"]["downstream"] <= reading["low"]
    # Somebody else sets it too far: by one record, which the group has not read.
    commit(mirrored.servers("dc_b"), "early", {("dc_a.orders", 0): RECORDS})
    skipped = readings(plan(mirrored))["early"]
    assert skipped["skips"]["at_least"] >= 1


def test_writers_and_members_are_seen(mirrored: Mirrored) -> None:
    quiet = plan(mirrored)
    assert sum(row["grown"] for row in quiet["partitions"]) == 0
    with (
        member(mirrored.servers("dc_a"), "active", "payments"),
        producing(mirrored.servers("dc_a"), "payments") as ledger,
    ):
        until(lambda: len(ledger.acknowledged) > 100, "records")
        busy = plan(mirrored)
    assert {row["topic"] for row in busy["partitions"] if row["grown"]} == {"payments"}
    assert next(group for group in busy["groups"] if group["name"] == "active")["members"] == 1


def test_the_playbook_shows_the_plan_and_leaves_the_offsets_of_groups(mirrored: Mirrored, tmp_path: Path) -> None:
    playbook, file = "playbooks/mirror_failover.yml", tmp_path / "offsets.json"
    asked = ("-e", "kafka_failover=dc_a->dc_b", "-e", f"kafka_failover_offsets={file}", "--check")
    shown = mirrored.playbook(playbook, *asked).ok()
    assert "dc_a->dc_b, what it would cost now" in shown.output
    assert "all_read (0 members)" in shown.output
    moved = {"bootstrap_servers": mirrored.servers("dc_b"), "group": "late", "to": "file", "file": str(file)}
    assert not run_module("streamops.kafka.group_offsets", moved)["failed"]
    late = readings(plan(mirrored))["late"]
    assert (late["state"], late["there"], late["skips"]) == ("known", late["low"], {"at_least": 0, "at_most": 0})
    begun = mirrored.playbook(playbook, "-e", "kafka_failover=dc_a->dc_b")
    assert begun.rc != 0
    assert "run it with --check" in begun.output
    unknown = mirrored.playbook(playbook, "-e", "kafka_failover=dc_b->dc_a", "--check")
    assert unknown.rc != 0
    assert "which is no enabled flow of mirror_flows; these are dc_a->dc_b." in unknown.output

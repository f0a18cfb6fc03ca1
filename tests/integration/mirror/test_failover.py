# SPDX-License-Identifier: GPL-3.0-or-later
"""What a planned failover would cost, told of two real clusters and compared with what both really hold; and the
failover itself between two clusters that ask who their clients are, with a writer, kills, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from tests.support.cluster import Run, kill, read_until, said, until
from tests.support.groups import commit, member
from tests.support.mirrored import Mirrored, small_mirror
from tests.support.modules import run_module
from tests.support.secured import LISTENERS, PASSWORD, admin_connection
from tests.support.traffic import producing, read_all

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
        producing(mirrored.servers("dc_a"), "payments", keys=50) as ledger,
    ):
        until(lambda: len(ledger.acknowledged) > 100, "records")
        busy = plan(mirrored)
    assert {row["topic"] for row in busy["partitions"] if row["grown"]} == {"payments"}
    assert next(group for group in busy["groups"] if group["name"] == "active")["members"] == 1


def test_the_playbook_shows_the_plan_and_leaves_the_offsets_of_groups(mirrored: Mirrored, tmp_path: Path) -> None:
    playbook, file = "playbooks/mirror_failover.yml", tmp_path / "offsets.json"
    asked = ("-e", "kafka_failover=dc_a->dc_b", "-e", f"kafka_failover_offsets={file}", "--check")
    shown = mirrored.playbook(playbook, *asked).ok()
    assert "dc_a->dc_b, what it would cost now" in said(shown)
    assert "all_read (0 members)" in said(shown)
    moved = {"bootstrap_servers": mirrored.servers("dc_b"), "group": "late", "to": "file", "file": str(file)}
    assert not run_module("streamops.kafka.group_offsets", moved)["failed"]
    late = readings(plan(mirrored))["late"]
    assert (late["state"], late["there"], late["skips"]) == ("known", late["low"], {"at_least": 0, "at_most": 0})
    begun = mirrored.playbook(playbook, "-e", "kafka_failover=dc_a->dc_b")
    assert begun.rc != 0
    assert "run it with --check" in said(begun)
    unnamed = mirrored.playbook(playbook, "-e", "kafka_failover=dc_a->dc_b", "-e", "kafka_failover_step=next")
    assert unnamed.rc != 0
    assert "kafka_failover_operator is not given" in said(unnamed)
    unknown = mirrored.playbook(playbook, "-e", "kafka_failover=dc_b->dc_a", "--check")
    assert unknown.rc != 0
    assert "which is no enabled flow of mirror_flows; these are dc_a->dc_b." in said(unknown)


# -- the steps -----------------------------------------------------------------------------------------------------

PLAYBOOK = "playbooks/mirror_failover.yml"
FLOW = {"source": "dc_a", "target": "dc_b", "topics": ["orders", "payments"]}


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mirrored]:
    """One node in each cluster and a mirror, with passwords and an authorizer; User:orders may write orders."""
    directory = tmp_path_factory.mktemp("failover_secured")
    listeners = [
        {
            "name": name,
            "host": "127.0.0.1",
            "port": f"{{{{ node_port | default(kafka_port_base) | int + {number} }}}}",
            "purpose": purpose,
            "protocol": protocol,
        }
        for number, (name, purpose, protocol) in enumerate(LISTENERS)
    ]
    cluster = small_mirror(
        directory,
        spark_validation_enabled=False,
        kafka_listeners=listeners,
        kafka_tls_source="development_ca",
        kafka_tls_ca_dir=str(directory / "run" / "ca"),
        kafka_admin_password=PASSWORD,
        kafka_authorizer=True,
        kafka_users=[{"name": "orders", "password": PASSWORD}],
        kafka_acls=[{"principal": "User:orders", "role": "producer", "topics": ["orders"]}],
        mirror_user="mirror",
        mirror_password=PASSWORD,
    )
    try:
        cluster.playbook().ok()
        yield cluster
    finally:
        cluster.destroy()


def login(cluster: Mirrored, user: str = "admin") -> dict[str, Any]:
    """librdkafka's settings of a user."""
    known = admin_connection(cluster, PASSWORD)
    return {
        "security.protocol": known["security_protocol"],
        "sasl.mechanism": known["sasl_mechanism"],
        "sasl.username": user,
        "sasl.password": PASSWORD,
        "ssl.ca.location": known["ssl_ca_location"],
    }


def consumer_of(cluster: Mirrored, place: str, group: str) -> Consumer:
    """A consumer that goes on where its group stands; where it stands nowhere, at the first record."""
    settings = {
        "bootstrap.servers": ",".join(cluster.servers(place)),
        "group.id": group,
        "enable.auto.commit": False,
        "auto.offset.reset": "earliest",
    }
    return Consumer({**settings, **login(cluster)})


def read_in_group(
    cluster: Mirrored, place: str, topic: str, group: str, is_enough: Callable[[list[int]], bool]
) -> list[int]:
    """The numbers that a group reads next, until they are enough; it commits them."""
    consumer = consumer_of(cluster, place, group)
    numbers: list[int] = []
    try:
        consumer.subscribe([topic])

        def is_read() -> bool:
            """Whether enough was read."""
            for record in consumer.consume(500, 0.5):
                assert record.error() is None, record.error()
                numbers.append(int(record.value() or b""))
            return is_enough(numbers)

        until(is_read, f"records of {topic} for {group}, which has {len(numbers)}", 120)
        consumer.commit(asynchronous=False)
        return numbers
    finally:
        consumer.close()


def asked(step: str, operator: str = "alice") -> tuple[str, ...]:
    """The words of a run that takes a step."""
    words = ("kafka_failover=dc_a->dc_b", f"kafka_failover_step={step}", f"kafka_failover_operator={operator}")
    return tuple(word for given in words for word in ("-e", given))


def take(cluster: Mirrored, step: str, *words: str, operator: str = "alice", **variables: Any) -> Run:
    """Take a step."""
    return cluster.playbook(PLAYBOOK, *asked(step, operator), *words, **variables)


def denials(cluster: Mirrored) -> list[str]:
    """What the source denies, as the module acls would find it in a cluster that is to have none."""
    entry = {"principal": "User:orders", "permission": "deny", "operations": ["write"], "state": "absent"}
    wanted = {**admin_connection(cluster, PASSWORD), "bootstrap_servers": cluster.servers("dc_a")}
    listed = [{**entry, "resource_type": "topic", "resource": topic} for topic in ("orders", "payments")]
    shown = run_module("streamops.kafka.acls", {**wanted, "acls": listed}, check=True)
    assert not shown["failed"], shown["msg"]
    return [str(binding) for binding in shown["removed_first"]]


def test_a_failover_is_taken_step_by_step_and_loses_nothing(secured: Mirrored) -> None:
    source, target = secured.servers("dc_a"), secured.servers("dc_b")
    writers = ("-e", "kafka_failover_writers=User:orders")
    # So the writer goes on after it was refused.
    settings = {**login(secured, "orders"), "enable.idempotence": False}
    with producing(source, "orders", rate=500, settings=settings) as ledger:
        ledger.reaches(3000)
        before = read_in_group(secured, "dc_a", "orders", "billing", lambda numbers: len(numbers) >= 1500)
        unknown = take(secured, "next")
        assert "it is not known how writers are stopped" in said(unknown)
        planned = take(secured, "next", *writers, "--check").ok()
        assert "User:orders may not write orders" in said(planned)
        assert denials(secured) == []

        # Killed while it looks whether topics grow: the next run goes on.
        run = secured.begin(PLAYBOOK, *asked("next"), *writers)
        read_until(run, "Failover | Show the plan")
        until(lambda: bool(denials(secured)), "the denial")
        kill(run)
        assert "taken by alice" in said(take(secured, "next", *writers, operator="bob"))
        take(secured, "next", *writers).ok()
        # Both topics have ACLs, and each is denied once.
        assert len(denials(secured)) == 2
        until(lambda: bool(ledger.failed), "records that are refused", 60)

        # A list of ACLs without them, which removes all that it does not have, leaves the denials of the failover.
        listed = {"principal": "User:orders", "role": "producer", "topics": ["orders"]}
        wanted = {**admin_connection(secured, PASSWORD), "bootstrap_servers": source, "authoritative": True}
        others = run_module("streamops.kafka.acls", {**wanted, "acls": [listed]}, check=True)
        assert not [binding for binding in others["removed_first"] if "deny" in binding], others
        assert "the failover dc_a->dc_b has denied" in str(others.get("warnings")), others

        # Back: only what the failover denied is gone, and the writer goes on.
        take(secured, "next").ok()
        taken_back = take(secured, "back").ok()
        assert "User:orders may again write orders" in said(taken_back)
        assert denials(secured) == []
        ledger.reaches(len(ledger.acknowledged) + 500)

        for stage in ("fenced", "drained"):
            assert f"dc_a->dc_b, {stage}" in said(take(secured, "next", *writers).ok())
        late = take(secured, "next", "-e", "kafka_failover_stage=drained")
        assert late.rc != 0
        assert "leads to moved, and drained was approved" in said(late)
    acknowledged = dict(ledger.acknowledged)

    reader = consumer_of(secured, "dc_a", "billing")
    try:
        reader.subscribe(["orders"])
        until(lambda: reader.poll(0.2) is not None or bool(reader.assignment()), "an assignment")
        busy = take(secured, "next")
        assert busy.rc != 0
        assert "groups with members in dc_a: billing (1)" in said(busy)
    finally:
        reader.close()
    moved = take(secured, "next", "-e", "kafka_failover_stage=moved").ok()
    assert "billing: begins at dc_b" in said(moved)

    connection = {**admin_connection(secured, PASSWORD), "bootstrap_servers": target}
    found = plan(secured, **connection, source_connection={**connection, "bootstrap_servers": source})
    assert (found["stage"], found["next_step"], found["to_copy"]) == ("moved", "turned", 0)
    (billing,) = [group for group in found["groups"] if group["name"] == "billing"]
    most = sum(reading["high"] - reading["low"] for reading in billing["readings"])

    assert "the only way back is a failover dc_b->dc_a" in said(take(secured, "next").ok())
    assert "dc_b is open for writers" in said(take(secured, "back"))
    copied = read_all(target, "dc_a.orders", settings=login(secured))
    assert ledger.lost(copied) == []
    unread = set(acknowledged) - set(before)
    after = read_in_group(secured, "dc_b", "dc_a.orders", "billing", unread.issubset)
    # None is skipped, and no more is read again than was told.
    assert unread <= set(after)
    assert len(set(after) & set(before)) <= most

    assert "mirror_flows still enables dc_a->dc_b" in said(take(secured, "next"))
    done = take(secured, "next", mirror_flows=[{**FLOW, "enabled": False}]).ok()
    assert "the failover dc_a->dc_b is over" in said(done)
    assert denials(secured) == []

"""What goes in at one end comes out at the other, and who carries it."""

from __future__ import annotations

from collections.abc import Callable

from confluent_kafka.admin import AdminClient

from tests.support.centres import Mirror
from tests.support.machines import Machine, eventually
from tests.support.modules import run_module
from tests.support.traffic import producing


def test_every_record_arrives(mirror: Mirror, note: Callable[[str], None]) -> None:
    topic = mirror.source.make("orders.all")
    with producing(mirror.source.servers, topic, settings=mirror.source.settings) as ledger:
        eventually(lambda: len(ledger.acknowledged) >= 20000, "20,000 acknowledged records", 120)
    assert not ledger.failed
    found = mirror.complete(topic, ledger)
    assert set(found.values()) == {1}, "a record arrived twice although nothing happened"
    note(f"mirror: {len(ledger.acknowledged)} acknowledged records, all of them arrived once")


def test_a_topic_is_as_durable_in_the_target(mirror: Mirror) -> None:
    wish = {"name": mirror.name("orders.eu"), "partitions": 6, "replication_factor": 3}
    same = run_module("streamops.kafka.topics", {**mirror.target.connection, "topics": [wish]}, check=True)
    assert not same["failed"], same
    assert not same["changed"], same


def test_what_no_flow_names_stays_where_it_is(mirror: Mirror) -> None:
    admin = AdminClient({**mirror.target.settings, "bootstrap.servers": ",".join(mirror.target.servers)})
    names = set(admin.list_topics(timeout=30).topics)
    assert mirror.name("orders.eu") in names
    assert mirror.name("private") not in names


def test_both_mirrors_are_workers_of_one_group(mirror: Mirror, mirrors: list[Machine]) -> None:
    admin = AdminClient({**mirror.target.settings, "bootstrap.servers": ",".join(mirror.target.servers)})
    # It is no group of consumers, so only the older question is answered.
    (group,) = admin.list_groups(f"{mirror.source.name}-mm2", timeout=30)
    assert sorted(member.client_host.strip("/") for member in group.members) == sorted(one.address for one in mirrors)


def test_the_mirror_gives_signs_of_life(mirror: Mirror) -> None:
    seen = mirror.status("orders.eu")
    assert not seen["failed"], seen
    assert seen["heartbeat_age_ms"] is not None, seen

"""The module topics against real brokers: create, again, check, grow, refuse, delete, and large lists."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from confluent_kafka import Producer

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import list_brokers, list_topics, topics_at
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import TOPIC, alter_configs, describe_configs
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.api import alter_reassignments
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import TopicSpec, create_topics, delete_topics
from tests.support.cluster import Cluster, until
from tests.support.modules import run_module

Ensure = Callable[..., dict[str, Any]]


@pytest.fixture
def admin(combined: Cluster) -> Iterator[Session]:
    """The cluster, seen by the client of the collection."""
    with Session(Connection(tuple(combined.bootstrap_servers))) as connected:
        yield connected


@pytest.fixture
def ensure(combined: Cluster, admin: Session) -> Iterator[Ensure]:
    """Calls the module with a list of topics; every topic of the test's own prefix is deleted afterwards."""

    def call(*topics: dict[str, Any], check: bool = False, diff: bool = True, **options: Any) -> dict[str, Any]:
        wanted = {"bootstrap_servers": combined.bootstrap_servers, "topics": list(topics), **options}
        return run_module("streamops.kafka.topics", wanted, check=check, diff=diff)

    yield call
    left = [name for name in list_topics(admin) if name.startswith("it-")]
    delete_topics(admin, left)
    deadline = time.monotonic() + 60
    while any(name.startswith("it-") for name in list_topics(admin)):
        assert time.monotonic() < deadline, "the topics of the test are still there"
        time.sleep(0.2)


def topic(name: str, partitions: int = 3, factor: int = 3, **config: Any) -> dict[str, Any]:
    """An entry of the list."""
    return {"name": name, "partitions": partitions, "replication_factor": factor, "config": config}


def test_the_life_of_a_topic(ensure: Ensure, admin: Session) -> None:
    wanted = topic("it-life", 3, 3, **{"retention.ms": 1000, "cleanup.policy": ["delete", "compact"]})
    expected = {
        "partitions": 3,
        "replication_factor": 3,
        "config": {"retention.ms": "1000", "cleanup.policy": "delete,compact"},
    }
    foreseen = ensure(wanted, check=True)
    assert (foreseen["changed"], foreseen["diff"]) == (True, {"before": {}, "after": {"it-life": expected}})
    assert "it-life" not in list_topics(admin)

    done = ensure(wanted)
    assert (done["created"], done["diff"]) == (["it-life"], foreseen["diff"])
    for broker in list_brokers(admin):
        assert [p.leader is not None for p in topics_at(admin, broker.id, ["it-life"])["it-life"]] == [True] * 3

    again = ensure(wanted)
    assert (again["failed"], again["changed"], again["unchanged"]) == (False, False, 1)

    gone = ensure({"name": "it-life", "state": "absent"}, allow_delete=True)
    assert gone["deleted"] == ["it-life"]
    assert "it-life" not in list_topics(admin)
    assert not ensure({"name": "it-life", "state": "absent"}, allow_delete=True)["changed"]


def test_a_topic_grows_and_its_keys_change_and_check_mode_foresaw_it(ensure: Ensure, admin: Session) -> None:
    ensure(topic("it-grow", 2, 3, **{"retention.ms": 1000}))
    wanted = topic("it-grow", 4, 3, **{"retention.ms": None, "min.cleanable.dirty.ratio": 0.25})
    foreseen = ensure(wanted, check=True)
    done = ensure(wanted)
    assert done["diff"] == foreseen["diff"]
    assert done["diff"]["before"]["it-grow"]["partitions"] == 2
    assert done["diff"]["after"]["it-grow"]["config"] == {
        "retention.ms": "(default)",
        "min.cleanable.dirty.ratio": "0.25",
    }
    assert len(list_topics(admin)["it-grow"]) == 4
    assert not ensure(wanted)["changed"]


def test_the_same_value_written_in_another_way_is_no_change(ensure: Ensure) -> None:
    ensure(topic("it-same", **{"retention.ms": -1, "cleanup.policy": "compact,delete", "preallocate": "true"}))
    other = {"retention.ms": "-1", "cleanup.policy": ["delete", "compact"], "preallocate": True}
    assert not ensure(topic("it-same", **other))["changed"]


def test_keys_that_are_not_named_are_left_alone(ensure: Ensure, admin: Session) -> None:
    ensure(topic("it-foreign"))
    assert alter_configs(admin, TOPIC, {"it-foreign": {"segment.ms": "777777"}}) == {"it-foreign": None}
    assert ensure(topic("it-foreign", **{"retention.ms": 5}))["configured"] == ["it-foreign"]
    assert describe_configs(admin, TOPIC, {"it-foreign": ["segment.ms"]})["it-foreign"]["segment.ms"].value == "777777"


def test_a_topic_changed_by_hand_is_told_and_repaired(ensure: Ensure, admin: Session) -> None:
    wanted = topic("it-hand", **{"retention.ms": 1000})
    ensure(wanted)
    alter_configs(admin, TOPIC, {"it-hand": {"retention.ms": "2000"}})
    repaired = ensure(wanted)
    assert repaired["diff"]["before"] == {"it-hand": {"config": {"retention.ms": "2000"}}}
    assert not ensure(wanted)["changed"]


def test_every_violation_is_told_and_nothing_is_touched(ensure: Ensure, admin: Session) -> None:
    ensure(topic("it-old", 3))
    refused = ensure(
        topic("it-new"),
        topic("it-old", 2, 3, **{"no.such.key": 1, "retention.ms": "soon"}),
        topic("it-value", 1, 3, **{"cleanup.policy": "sometimes"}),
        topic("it-many", 1, 4),
        topic("it-twice"),
        topic("it-twice"),
        topic("__cluster_metadata"),
        topic("it bad"),
        topic("it.new", 1),
    )
    assert refused["failed"]
    for said in (
        "it-old: has 3 partitions, 2 wanted",
        "no.such.key",
        "retention.ms",
        "it-value: refused by Kafka",
        "it-many: replication_factor is 4, but only 3 brokers may get replicas",
        "it-twice: named 2 times",
        "__cluster_metadata: belongs to Kafka itself",
        "'it bad': illegal name",
    ):
        assert said in refused["msg"]
    assert refused["failure"]["kind"] == "RefusedError"
    assert [name for name in list_topics(admin) if name.startswith("it")] == ["it-old"]


def test_a_compacted_topic_grows_with_consent_only(ensure: Ensure, admin: Session) -> None:
    ensure(topic("it-compact", 2, **{"cleanup.policy": "compact"}))
    refused = ensure(topic("it-compact", 4))
    assert refused["failed"]
    assert "it-compact: is compacted, and would grow from 2 to 4 partitions" in refused["msg"]
    assert len(list_topics(admin)["it-compact"]) == 2
    assert ensure(topic("it-compact", 4), allow_compacted_growth=True)["grown"] == ["it-compact"]
    assert len(list_topics(admin)["it-compact"]) == 4


def test_deleting_needs_consent(ensure: Ensure, admin: Session) -> None:
    ensure(topic("it-keep"))
    refused = ensure({"name": "it-keep", "state": "absent"})
    assert refused["failed"]
    assert "allow_delete" in refused["msg"]
    assert "it-keep" in list_topics(admin)


def test_another_replication_factor_is_reported_and_left(ensure: Ensure, admin: Session) -> None:
    ensure(topic("it-factor", 1, 2))
    reported = ensure(topic("it-factor", 1, 3))
    assert not reported["changed"]
    assert reported["replication_differs"] == [{"name": "it-factor", "found": 2, "wanted": 3, "partitions": []}]
    assert "Only a reassignment changes it" in reported["warnings"][0]
    assert len(list_topics(admin)["it-factor"][0].replicas) == 2


def test_a_partition_with_fewer_replicas_than_others_is_named_by_all_who_look(
    ensure: Ensure, admin: Session, combined: Cluster
) -> None:
    wanted = topic("it-uneven", 3, 3)
    ensure(wanted)
    assert alter_reassignments(admin, {("it-uneven", 1): [2]}) == {}
    until(lambda: [len(one.replicas) for one in list_topics(admin)["it-uneven"]] == [3, 1, 3], "partition 1 to be cut")

    reported = ensure(wanted)
    assert not reported["changed"]
    assert reported["replication_differs"] == [{"name": "it-uneven", "found": 1, "wanted": 3, "partitions": [1]}]
    assert "not all partitions have 3 replicas: partition 1 has another number" in reported["warnings"][0]
    where = {"bootstrap_servers": combined.bootstrap_servers}
    (shown,) = run_module("streamops.kafka.cluster_info", {**where, "topics": ["it-uneven"]})["topics"]
    assert (shown["replication_factor"], shown["replication_factors"]) == (1, [1, 3])
    health = run_module("streamops.kafka.cluster_health", where)
    (uneven,) = [one for one in health["findings"] if one["kind"] == "uneven_replicas"]
    assert "it-uneven (1 of 3 partitions have fewer than 3, down to 1)" in uneven["what"]
    mended = run_module(
        "streamops.kafka.reassignment",
        {**where, "state": "applied", "replication_factor": {"it-uneven": 3}, "sample_seconds": 0, "interval": 1},
    )
    assert mended["moves"] == 2, mended
    assert ensure(wanted)["replication_differs"] == []


def test_blanks_in_a_list_of_policies_change_nothing(ensure: Ensure, admin: Session) -> None:
    ensure(topic("it-policies", 2, 1, **{"cleanup.policy": "delete, compact"}))
    assert not ensure(topic("it-policies", 2, 1, **{"cleanup.policy": "compact,delete"}))["changed"]
    refused = ensure(topic("it-policies", 4, 1))
    assert "topic it-policies: is compacted, and would grow from 2 to 4 partitions" in refused["msg"]
    assert len(list_topics(admin)["it-policies"]) == 2


def test_a_topic_that_loses_its_writes_with_one_broker_is_warned_of(ensure: Ensure) -> None:
    wanted = {**topic("it-tight", 1, 3), "config": {"min.insync.replicas": 3}}
    for changed in (True, False):
        done = ensure(wanted)
        assert done["changed"] is changed
        assert "topic it-tight: min.insync.replicas is 3 and the replication factor 3" in done["warnings"][0]
    assert "warnings" not in ensure({**wanted, "config": {"min.insync.replicas": 2}})


def test_no_more_replicas_must_be_in_sync_than_there_are(ensure: Ensure, combined: Cluster) -> None:
    made = ensure({**topic("it-lone", 1, 1), "config": {"min.insync.replicas": 2}})
    assert "so Kafka asks for 1 in-sync replica(s)" in made["warnings"][0]
    refused: list[Any] = []
    producer = Producer({"bootstrap.servers": ",".join(combined.bootstrap_servers), "acks": "all"})
    producer.produce("it-lone", b"1", on_delivery=lambda error, _record: refused.append(error))
    assert producer.flush(30) == 0
    assert refused == [None]
    looked = {"bootstrap_servers": combined.bootstrap_servers, "topics": ["it-lone"]}
    found = run_module("streamops.kafka.cluster_info", looked)
    assert (found["under_min_isr"], len(found["at_min_isr"])) == ([], 1)


def test_a_topic_may_leave_its_numbers_to_the_cluster(ensure: Ensure) -> None:
    assert ensure({"name": "it-default"})["created"] == ["it-default"]
    assert not ensure({"name": "it-default"})["changed"]


def test_creating_again_at_once_finds_the_topic_though_a_broker_may_not_know_it_yet(
    ensure: Ensure, admin: Session
) -> None:
    assert set(create_topics(admin, [TopicSpec(f"it-race{n}", 3, 3, {}) for n in range(50)]).values()) == {None}
    assert not ensure(*(topic(f"it-race{n}") for n in range(50)))["changed"]


@pytest.mark.full
def test_a_topic_above_ten_thousand_records_is_created_and_then_grown(ensure: Ensure, admin: Session) -> None:
    done = ensure(topic("it-large", 12_000, 1), timeout=240, request_timeout=60)
    assert done["created"] == ["it-large"], done.get("msg")
    assert len(list_topics(admin)["it-large"]) == 12_000
    assert not ensure(topic("it-large", 12_000, 1), request_timeout=60)["changed"]


def leaders(admin: Session, name: str) -> list[int | None]:
    """Who leads each partition of a topic."""
    return [partition.leader for partition in list_topics(admin)[name]]


def test_every_broker_leads_a_topic_that_shall_be_so(ensure: Ensure, admin: Session) -> None:
    # What chance may do to a topic that grows: the third broker leads nothing.
    assert set(create_topics(admin, [TopicSpec("it-led", 2, 2, {}, [[1, 2], [2, 3]])]).values()) == {None}
    wanted = {**topic("it-led", 2, 2), "every_broker_leads": True}
    foreseen = ensure(wanted, check=True)
    grown = ensure(wanted)
    assert (
        foreseen["diff"]
        == grown["diff"]
        == {
            "before": {"it-led": {"partitions": 2}},
            "after": {"it-led": {"partitions": 3}},
        }
    )
    assert (grown["grown"], leaders(admin, "it-led")) == (["it-led"], [1, 2, 3])
    assert ensure(wanted)["changed"] is False


def test_a_topic_is_created_led_by_every_broker(ensure: Ensure, admin: Session) -> None:
    created = ensure({**topic("it-led-new", 5, 3, **{"retention.ms": 1000}), "every_broker_leads": True})
    assert created["created"] == ["it-led-new"]
    found = list_topics(admin)["it-led-new"]
    assert sorted(partition.replicas[0] for partition in found) == [1, 1, 2, 2, 3]
    assert {len(partition.replicas) for partition in found} == {3}
    assert (
        describe_configs(admin, TOPIC, {"it-led-new": ["retention.ms"]})["it-led-new"]["retention.ms"].value == "1000"
    )

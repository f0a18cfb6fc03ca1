# SPDX-License-Identifier: GPL-3.0-or-later
"""Plans carried out on real brokers: under throttles, cut, cancelled, beside others, with brokers down."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from kafka.admin import KafkaAdminClient
from kafka.structs import TopicPartition

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    list_brokers,
    list_reassignments,
    list_topics,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import BROKER, TOPIC, alter_configs
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.figures import decided
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Record, Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.throttle import (
    FOLLOWER_RATE,
    FOLLOWER_REPLICAS,
    LEADER_RATE,
    LEADER_REPLICAS,
)
from ansible_collections.streamops.kafka.plugins.module_utils._state.api import claim_state, read_state, write_state
from ansible_collections.streamops.kafka.plugins.module_utils._topics.api import delete_topics
from page.expected import Expected
from page.poll import take
from tests.support.cluster import Cluster, until
from tests.support.modules import run_module
from tests.support.moves import (
    Background,
    administering,
    fill,
    move,
    record,
    replicas,
    throttles,
    topic_of,
)
from tests.support.traffic import producing, read_all


@pytest.fixture(scope="module", autouse=True)
def _without_state(combined: Cluster) -> Iterator[None]:
    """Other tests know all topics of this cluster."""
    yield
    with administering(combined) as admin:
        delete_topics(admin, [STATE_TOPIC])


@pytest.fixture(autouse=True)
def _untouched(combined: Cluster) -> Iterator[None]:
    """No test leaves a record, a throttle of a broker or a move behind."""
    yield
    if record(combined) is not None:
        ended = move(combined, state="finished")
        assert not ended["failed"], ended
    with administering(combined) as admin:
        brokers = [str(broker.id) for broker in list_brokers(admin)]
        alter_configs(admin, BROKER, {broker: {LEADER_RATE: None, FOLLOWER_RATE: None} for broker in brokers})


def in_sync(cluster: Cluster) -> None:
    """Wait until every replica is."""
    options = {"bootstrap_servers": cluster.bootstrap_servers, "timeout": 120, "interval": 1}
    waited = run_module("streamops.kafka.isr_wait", options)
    assert waited["in_sync"], waited


def spread(cluster: Cluster, partitions: int) -> dict[int, list[int]]:
    """One replica for each partition, on the brokers in turn."""
    ids = [cluster.identities[node] for node in cluster.nodes]
    return {number: [ids[number % len(ids)]] for number in range(partitions)}


def cut(cluster: Cluster, **spec: Any) -> dict[str, Any]:
    """Begin what takes long, kill that run, and go on for three seconds only."""
    run = Background(cluster, **spec)
    run.until(lambda: "slowest" in run.output(), "a line of progress")
    run.kill()
    return move(cluster, **spec, timeout=3)


def went_on(cluster: Cluster, topic: str, spec: dict[str, Any], targets: list[Any]) -> None:
    """Run the same spec to its end: all went to what the first run had recorded, and nothing is left to do."""
    assert targets
    assert all(other == targets[0] for other in targets)
    done = move(cluster, **dict(spec, throttle=20_000_000))
    assert not done["failed"], done
    target = {index: brokers for batch in targets[0] for _topic, index, brokers, _bytes, _moves in batch}
    assert (replicas(cluster, topic), done["progress"]["moves_done"]) == (target, len(target))
    assert record(cluster) is None
    again = move(cluster, **spec)
    assert (again["changed"], again["moves"]) == (False, 0)


@pytest.mark.full
def test_a_plan_is_carried_out_under_load_and_throttles_are_then_as_they_were(combined: Cluster) -> None:
    first = combined.identities["kafka1"]
    with topic_of(combined, "applied", spread(combined, 6), 3) as topic:
        with administering(combined) as admin:
            alter_configs(admin, BROKER, {str(first): {LEADER_RATE: "000123456789"}})
            alter_configs(admin, TOPIC, {topic: {FOLLOWER_REPLICAS: f"5:{first},0:{first}"}})
        until(lambda: "000123456789" in str(throttles(combined, topic)), "the throttle of before")
        before, spec = throttles(combined, topic), {"replication_factor": {topic: 2}, "concurrency": 2}
        with producing(combined.bootstrap_servers, topic, rate=1000) as ledger:
            until(lambda: len(ledger.acknowledged) > 1000, "traffic")
            low = move(combined, **spec, throttle=1000)
            assert low["failed"]
            assert "is not above what is written to the partitions that move" in low["msg"]
            shown = move(combined, check=True, **spec, throttle=4_000_000)
            assert (shown["changed"], shown["stage"], shown["moves"]) == (True, "planned", 6)
            assert shown["diff"]["after"] == {f"{topic}-{c['partition']}": c["to"] for c in shown["changes"]}
            assert (replicas(combined, topic), throttles(combined, topic)) == (spread(combined, 6), before)
            done = move(combined, **spec, throttle=4_000_000)
            assert not done["failed"], done
        assert (done["changed"], done["stage"], done["moves"]) == (True, "done", 6)
        assert done["progress"]["bytes_done"] == done["progress"]["bytes_total"] >= 18_000_000
        assert replicas(combined, topic) == {change["partition"]: change["to"] for change in done["changes"]}
        assert (throttles(combined, topic), record(combined)) == (before, None)
        again = move(combined, **spec, throttle=4_000_000)
        assert (again["changed"], again["moves"], again["stage"]) == (False, 0, "done")
        for factor in (3, 1):
            other = move(combined, replication_factor={topic: factor})
            assert not other["failed"], other
            assert {len(brokers) for brokers in replicas(combined, topic).values()} == {factor}
        assert ledger.failed == {}
        assert ledger.lost(read_all(combined.bootstrap_servers, topic)) == []


@pytest.mark.full
def test_only_the_approved_plan_is_carried_out_and_gone_on_with(combined: Cluster) -> None:
    with topic_of(combined, "approved", spread(combined, 3), 3) as topic:
        spec: dict[str, Any] = {"replication_factor": {topic: 2}}
        approved = move(combined, check=True, **spec)["plan_digest"]
        assert approved.startswith("3-3-")
        assert move(combined, check=True, **spec, concurrency=1)["plan_digest"] == approved
        before = throttles(combined, topic)
        other = move(combined, replication_factor={topic: 3}, expected_digest=approved)
        assert other["failed"]
        assert (
            "approved one changes 3 partitions with 3 moves, the plan of now 3 partitions with 6 moves" in other["msg"]
        )
        assert (record(combined), throttles(combined, topic)) == (None, before)
        assert replicas(combined, topic) == spread(combined, 3)
        # No record was ever kept in this cluster: the topic that is made for it is not in the approved plan.
        with administering(combined) as admin:
            delete_topics(admin, [STATE_TOPIC])
        run = Background(combined, **spec, throttle=200_000, expected_digest=approved)
        run.until(lambda: "slowest" in run.output(), "a line of progress")
        run.kill()
        late = move(combined, **spec, expected_digest="3-3-" + "0" * 64)
        assert "but other ones" in late["msg"]
        assert move(combined, check=True, **spec)["plan_digest"] == approved
        done = move(combined, **spec, throttle=20_000_000, expected_digest=approved)
        assert not done["failed"], done
        assert {len(brokers) for brokers in replicas(combined, topic).values()} == {2}
        again = move(combined, **spec, expected_digest=approved)
        assert (again["failed"], again["changed"]) == (False, False)


@pytest.mark.full
def test_a_run_killed_at_five_points_is_gone_on_with_towards_the_same_placement(combined: Cluster) -> None:
    with topic_of(combined, "cut", spread(combined, 6), 3) as topic:
        before = throttles(combined, topic)
        spec: dict[str, Any] = {"replication_factor": {topic: 2}, "concurrency": 1, "throttle": 700_000}

        def flying() -> set[int]:
            """The partitions under way."""
            with administering(combined) as admin:
                return {index for name, index in list_reassignments(admin) if name == topic}

        def arrived() -> int:
            """How many partitions have two replicas and are not under way."""
            under_way = flying()
            return sum(len(b) == 2 and p not in under_way for p, b in replicas(combined, topic).items())

        points: dict[str, Callable[[], Any]] = {
            "a record": lambda: record(combined),
            "a throttle": lambda: throttles(combined, topic) != before,
            "a move": flying,
            "a batch": lambda: arrived() >= 2,
            "another batch": lambda: arrived() >= 4,
        }
        targets = []
        with producing(combined.bootstrap_servers, topic, rate=200) as ledger:
            for what, condition in points.items():
                run = Background(combined, **spec)
                run.until(condition, what)
                run.kill()
                targets.append(record(combined)["batches"])
            other = move(combined, replication_factor={topic: 3})
            assert "an earlier reassignment has not ended" in other["msg"]
            went_on(combined, topic, spec, targets)
        assert throttles(combined, topic) == before
        assert ledger.lost(read_all(combined.bootstrap_servers, topic)) == []


@pytest.mark.full
def test_a_run_killed_at_twenty_points_in_time_is_gone_on_with_towards_the_same_placement(combined: Cluster) -> None:
    chance, targets = random.Random(6), []
    with topic_of(combined, "minced", spread(combined, 6), 3) as topic:
        before = throttles(combined, topic)
        spec: dict[str, Any] = {"replication_factor": {topic: 2}, "concurrency": 1, "throttle": 30_000, "timeout": 900}
        # 18 MB, three moves at a time: 200 s, and the twenty points take half of that on the fastest machine.
        with producing(combined.bootstrap_servers, topic, rate=50) as ledger:
            for _point in range(20):
                run = Background(combined, **spec)
                time.sleep(chance.uniform(1, 6))
                run.kill()
                kept = record(combined)
                targets += [kept["batches"]] if kept else []
            went_on(combined, topic, spec, targets)
        assert throttles(combined, topic) == before
        assert ledger.lost(read_all(combined.bootstrap_servers, topic)) == []


@pytest.mark.full
def test_cancelled_sends_back_what_is_under_way_and_finished_keeps_it(combined: Cluster) -> None:
    with topic_of(combined, "back", spread(combined, 3), 3) as topic:
        before, placed = throttles(combined, topic), replicas(combined, topic)
        # Kafka averages over about ten seconds, so that much goes at once; the rest of 3 MB takes a minute.
        spec: dict[str, Any] = {"replication_factor": {topic: 2}, "throttle": 40_000}
        with producing(combined.bootstrap_servers, topic, rate=200) as ledger:
            long = move(combined, **spec, timeout=3)
            assert "the plan takes about" in long["msg"]
            assert (replicas(combined, topic), record(combined)) == (placed, None)
            slow = cut(combined, **spec)
            assert slow["failed"]
            assert "Run the same again to go on, state: cancelled" in slow["msg"]
            assert throttles(combined, topic) != before
            shown = move(combined, check=True, state="cancelled")
            assert (shown["changed"], shown["cancelled"]) == (True, [f"{topic}-{p}" for p in range(3)])
            back = move(combined, state="cancelled")
            assert (back["changed"], back["cancelled"]) == (True, shown["cancelled"])
            assert replicas(combined, topic) == placed
            assert (throttles(combined, topic), record(combined)) == (before, None)
            assert move(combined, state="cancelled")["changed"] is False
            slow = cut(combined, **dict(spec, throttle=100_000))
            assert slow["failed"]
            kept = move(combined, state="finished")
        assert not kept["failed"], kept
        assert (kept["verified"]["moves_left"], kept["leftover_throttles"]) == (0, [])
        assert (throttles(combined, topic), record(combined)) == (before, None)
        assert {len(brokers) for brokers in replicas(combined, topic).values()} == {2}
        assert ledger.lost(read_all(combined.bootstrap_servers, topic)) == []


@pytest.mark.full
def test_what_others_move_is_named_and_left_and_so_are_throttles_that_nobody_records(combined: Cluster) -> None:
    one, two = combined.identities["kafka1"], combined.identities["kafka2"]
    # At most a megabyte is fetched in the 11 seconds over which Kafka takes a rate, so that this lasts for minutes.
    with topic_of(combined, "foreign", {0: [one], 1: [two]}, 30) as topic:
        left = {str(two): {FOLLOWER_RATE: "20000"}}
        with administering(combined) as admin:
            alter_configs(admin, BROKER, left)
            alter_configs(admin, TOPIC, {topic: {FOLLOWER_REPLICAS: f"0:{two}"}})
        client = KafkaAdminClient(bootstrap_servers=combined.bootstrap_servers)
        try:
            client.alter_partition_reassignments({TopicPartition(topic, 0): [one, two]})
        finally:
            client.close()
        spec = {"replication_factor": {topic: 2}}
        refused = move(combined, **spec)
        said = f"1 partition(s) are being moved by another tool ({topic}-0), which this module never cancels"
        assert said in refused["msg"]
        waited = move(combined, **spec, foreign="wait", timeout=2)
        assert f"({topic}-0) have not ended within 2s. Nothing was changed." in waited["msg"]
        connection = Connection.from_params({"bootstrap_servers": combined.bootstrap_servers})
        shown = take("orders", connection, Expected(), 60).cluster["moves"]
        (under_way,) = shown["partitions"]
        named = (under_way["topic"], under_way["partition"], under_way["from"], under_way["to"])
        assert named == (topic, 0, [one], [one, two])
        assert (under_way["adding"], under_way["removing"]) == ([two], [])
        assert under_way["size_bytes"] > 30_000_000
        assert under_way["copied_bytes"] is None or under_way["copied_bytes"] < under_way["size_bytes"]
        assert (shown["known"], shown["recorded"]) == (True, None)
        assert {str(two), topic} <= {told["name"] for told in shown["throttles"]}
        # A plan from a snapshot that was taken meanwhile leaves the move alone.
        looked = {"bootstrap_servers": combined.bootstrap_servers, "sizes": True, "topics": [topic]}
        snapshot = run_module("streamops.kafka.cluster_info", looked)
        told_of = snapshot["topics"][0]["partitions"]
        assert [(p.get("adding_replicas"), p.get("removing_replicas")) for p in told_of] == [([two], []), (None, None)]
        planned = decided(json.loads(json.dumps(snapshot)), {**spec, "concurrency": 1, "throttle": None}, True)[0]
        assert [planned.cluster.name(change.partition) for change in planned.changes] == [f"{topic}-1"]
        cancelled = move(combined, state="cancelled")
        assert (cancelled["changed"], cancelled["foreign"]) == (False, [f"{topic}-0"])
        with administering(combined) as admin:
            assert list(list_reassignments(admin)) == [(topic, 0)]
            alter_configs(admin, BROKER, {str(two): {FOLLOWER_RATE: "50000000"}})
        done = move(combined, **spec, foreign="wait")
        assert (done["failed"], done["changed"], done["moves"]) == (False, True, 1)
        told = {(one["kind"], one["name"], one["key"]): one["value"] for one in done["leftover_throttles"]}
        assert told["broker", str(two), FOLLOWER_RATE] == "50000000"
        assert told["topic", topic, FOLLOWER_REPLICAS] == f"0:{two}"
        after = throttles(combined, topic)
        assert after["brokers"][str(two)][FOLLOWER_RATE] == "50000000"
        assert after["topics"][topic] == {FOLLOWER_REPLICAS: f"0:{two}", LEADER_REPLICAS: None}


@pytest.mark.full
def test_with_a_broker_down_moves_among_the_others_are_throttled_and_restored(combined: Cluster) -> None:
    one, two = combined.identities["kafka1"], combined.identities["kafka2"]
    with topic_of(combined, "without", {0: [one], 1: [two]}, 3) as topic:
        combined.stop("kafka3")
        try:
            before = throttles(combined, topic)
            run = Background(combined, replication_factor={topic: 2}, throttle=500_000)
            run.until(lambda: throttles(combined, topic) != before, "a throttle")
            run.kill()
            done = move(combined, replication_factor={topic: 2}, throttle=20_000_000)
            assert not done["failed"], done
            assert (throttles(combined, topic), done["throttles_left"]) == (before, [])
            assert {tuple(sorted(brokers)) for brokers in replicas(combined, topic).values()} == {(one, two)}
        finally:
            combined.start("kafka3")
            in_sync(combined)


@pytest.mark.full
def test_a_target_that_dies_is_named_and_its_throttle_is_restored_when_it_is_back(combined: Cluster) -> None:
    one, three = combined.identities["kafka1"], combined.identities["kafka3"]
    with topic_of(combined, "dying", {0: [one]}, 3) as topic:
        before = throttles(combined, topic)
        target = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [three]}]}
        run = Background(combined, assignment=target, throttle=200_000)
        run.until(lambda: "slowest" in run.output(), "a line of progress")
        combined.stop("kafka3")
        try:
            run.kill()
            late = move(combined, assignment=target, throttle=200_000, timeout=5)
            assert f"broker {three} (down): 1 partitions ({topic}-0)" in late["msg"]
            back = move(combined, state="cancelled")
            assert (back["failed"], back["cancelled"], back["throttles_left"]) == (False, [f"{topic}-0"], [three])
            assert replicas(combined, topic) == {0: [one]}
        finally:
            combined.start("kafka3")
            in_sync(combined)
        assert throttles(combined, topic)["brokers"][str(three)][FOLLOWER_RATE] == "200000"
        ended = move(combined, state="finished")
        assert (ended["failed"], ended["changed"], ended["throttles_left"]) == (False, True, [])
        assert (throttles(combined, topic), record(combined)) == (before, None)


@pytest.mark.full
def test_a_partition_that_the_cluster_refuses_stops_the_rest_and_is_told_in_its_words(combined: Cluster) -> None:
    one, two = combined.identities["kafka1"], combined.identities["kafka2"]
    with topic_of(combined, "refused", {0: [one], 1: [one], 2: [one]}, 1) as topic:
        before = throttles(combined, topic)
        spec = {"replication_factor": {topic: 2}, "rack_rule": "strict", "leaders": "auto"}
        rows = [Row(topic, 0, (one, two), 1, 1), Row(topic, 1, (one, one), 1, 1), Row(topic, 2, (one, two), 1, 1)]
        move(combined, check=True, replication_factor={topic: 2})
        with administering(combined) as admin:
            # No plan names a broker twice; a record does what no race can be made to do.
            write_state(admin, "reassignment", Record(spec, ((*rows[:2],), (rows[2],))).as_data())
        stopped = move(combined, replication_factor={topic: 2}, throttle=10_000_000)
        assert stopped["failed"]
        assert "refused" in stopped, stopped["msg"]
        assert list(stopped["refused"]) == [f"{topic}-1"]
        assert "includes the broker 1 more than once" in stopped["refused"][f"{topic}-1"]
        assert "No move is under way" in stopped["msg"]
        assert replicas(combined, topic) == {0: [one, two], 1: [one], 2: [one]}
        assert (throttles(combined, topic), record(combined)) == (before, None)
        done = move(combined, replication_factor={topic: 2})
        assert (done["failed"], done["moves"]) == (False, 2)


def test_of_two_who_claim_the_state_at_once_the_first_one_holds_for_both(combined: Cluster) -> None:
    with topic_of(combined, "claimed", spread(combined, 1), 0) as topic:
        assert move(combined, replication_factor={topic: 2})["changed"] is True
    with administering(combined) as admin:
        _nothing, since = read_state(admin, "claim")
        assert [claim_state(admin, "claim", whose, since) for whose in ("mine", "yours")] == ["mine", "mine"]
        assert read_state(admin, "claim")[0] == "mine"
        write_state(admin, "claim", None)
        assert read_state(admin, "claim")[0] is None


@pytest.mark.full
def test_brokers_that_are_down_or_unknown_take_nothing(combined: Cluster) -> None:
    one, three = combined.identities["kafka1"], combined.identities["kafka3"]
    with topic_of(combined, "nowhere", {0: [one]}, 0) as topic:
        combined.stop("kafka3")
        try:
            until(lambda: three not in alive(combined), "kafka3 to be fenced")
            for broker, said in ((three, "is not alive"), (99, "is not known to the cluster")):
                target = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "replicas": [broker]}]}
                refused = move(combined, assignment=target)
                assert refused["failed"]
                assert said in refused["msg"]
            assert replicas(combined, topic) == {0: [one]}
        finally:
            combined.start("kafka3")
            in_sync(combined)


def alive(cluster: Cluster) -> set[int]:
    """Brokers that take part."""
    with administering(cluster) as admin:
        return {broker.id for broker in list_brokers(admin) if not broker.fenced}


def behind(cluster: Cluster, topic: str, broker: int) -> bool:
    """Whether no partition of a topic has a broker in sync."""
    with administering(cluster) as admin:
        return all(broker not in partition.isr for partition in list_topics(admin)[topic])


@pytest.mark.full
def test_fewer_replicas_are_those_in_sync(combined: Cluster) -> None:
    one, two, three = (combined.identities[node] for node in ("kafka1", "kafka2", "kafka3"))
    with topic_of(combined, "thin", {0: [two, one, three], 1: [three, one, two]}, 1) as topic:
        spec: dict[str, Any] = {"replication_factor": {topic: 2}}
        combined.stop("kafka1")
        try:
            until(lambda: one not in alive(combined), "kafka1 to be fenced")
            shown = move(combined, check=True, **spec)
            assert [sorted(change["to"]) for change in shown["changes"]] == [[two, three]] * 2, shown
            # Leaders send it one byte a second, so that it lives and stays behind.
            with administering(combined) as admin:
                alter_configs(admin, BROKER, {str(broker): {LEADER_RATE: "1"} for broker in (two, three)})
                alter_configs(admin, TOPIC, {topic: {LEADER_REPLICAS: "*"}})
            # Kafka lets a megabyte through each ten seconds or so, however low the rate.
            fill(combined, topic, 2, 8)
        finally:
            combined.start("kafka1")
        until(lambda: one in alive(combined), "kafka1 to be back")
        assert behind(combined, topic, one)
        done = move(combined, **spec)
        assert not done["failed"], done
        assert {tuple(sorted(brokers)) for brokers in replicas(combined, topic).values()} == {(two, three)}
        with administering(combined) as admin:
            alter_configs(admin, BROKER, {str(broker): {LEADER_RATE: None} for broker in (two, three)})
    in_sync(combined)


@pytest.mark.full
def test_disks_without_room_take_nothing_and_are_asked_again_before_each_batch(combined: Cluster) -> None:
    one, two = combined.identities["kafka1"], combined.identities["kafka2"]
    with topic_of(combined, "roomless", {0: [one], 1: [one]}, 3) as topic:
        before = throttles(combined, topic)
        listed = [{"topic": topic, "partition": number, "replicas": [two]} for number in range(2)]
        spec: dict[str, Any] = {"assignment": {"version": 1, "partitions": listed}, "concurrency": 1}
        full = move(combined, **spec, disk_reserve=0.999)
        assert f"broker {two}: would hold" in full["msg"]
        assert (record(combined), throttles(combined, topic)) == (None, before)
        assert replicas(combined, topic) == {0: [one], 1: [one]}
        run = Background(combined, **spec, throttle=200_000)
        run.until(lambda: "slowest" in run.output(), "a line of progress")
        run.kill()
        late = move(combined, **spec, throttle=20_000_000, disk_reserve=0.999, timeout=40)
        assert late["failed"]
        assert f"1 move cannot start yet:\n- {topic}-" in late["msg"]
        assert f"broker {two} has room for 0 more bytes, with disk_reserve 0.999 left free" in late["msg"]
        assert sorted(replicas(combined, topic).values()) == sorted([[one], [two]])
        done = move(combined, **spec)
        assert not done["failed"], done
        assert (throttles(combined, topic), record(combined)) == (before, None)


@pytest.mark.full
def test_a_run_goes_on_with_a_broker_that_died_and_is_not_missed_yet(combined: Cluster) -> None:
    one, two = combined.identities["kafka1"], combined.identities["kafka2"]
    with topic_of(combined, "missed", {0: [two], 1: [one], 2: [two]}, 3) as topic:
        before = throttles(combined, topic)
        spec: dict[str, Any] = {"replication_factor": {topic: 2}}
        run = Background(combined, **spec, throttle=150_000)
        run.until(lambda: "slowest" in run.output(), "a line of progress")
        run.kill()
        combined.kill("kafka3")
        done = move(combined, **spec, throttle=20_000_000)
        assert not done["failed"], done
        in_sync(combined)
        ended = move(combined, state="finished")
        assert (ended["failed"], ended.get("throttles_left", [])) == (False, []), ended
        assert {len(brokers) for brokers in replicas(combined, topic).values()} == {2}
        assert (throttles(combined, topic), record(combined)) == (before, None)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Alerts on groups, each made true by what a group does on a real broker: from the page to a Prometheus that fires."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import ConsumerGroupTopicPartitions, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.support.cluster import free_port_base, until
from tests.support.groups import commit, make_topic, produce
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module
from tests.support.page import Page
from tests.support.prometheus import Prometheus, prometheus

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker; each test has a topic and a group of its own."""
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("alerts"), free_port_base())
    one.format("MkU3OEVBNTcwNTJENDM2Qk")
    one.start()
    try:
        make_topic(one.bootstrap_servers, "idle", 1, records=10)
        commit(one.bootstrap_servers, "well", {("idle", 0): 10})
        yield one
    finally:
        one.kill()


@pytest.fixture(scope="module")
def page(broker: LoneBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The page, which polls the broker each second."""
    clusters = {"orders": {"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 3}}
    settings = {"clusters": clusters, "interval": 1, "poll_timeout": 10, "stale_after": 5}
    settings["expected"] = {"orders": {"groups": ["well"]}}
    with Page(tmp_path_factory.mktemp("service"), settings) as made:
        made.wait_until(lambda: made.get("health").status == 200, "the first picture")
        yield made


@pytest.fixture(scope="module")
def watched(page: Page, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that reads the page each second; 15 minutes are 20 seconds."""
    shorter = {"KafkaGroupLate": {"seconds": 30}, "KafkaLagStale": {"seconds": 15}}
    job = {"job_name": "page", "honor_labels": True}
    targets = {"static_configs": [{"targets": [f"127.0.0.1:{page.port}"]}]}
    with prometheus(tmp_path_factory.mktemp("watch") / "prometheus", [{**job, **targets}], shorter) as made:
        yield made


def fires_for(watched: Prometheus, alert: str, group: str) -> None:
    """Wait until an alert fires for a group."""

    def there() -> bool:
        found = [one["labels"] for one in watched.ask("alerts")["alerts"] if one["state"] == "firing"]
        return any(one["alertname"] == alert and one.get("consumergroup") == group for one in found)

    until(there, f"{alert} for {group}", 180)


def read_on(broker: LoneBroker, watched: Prometheus, group: str, topic: str, *offsets: int) -> None:
    """Commit these offsets one after the other, each when Prometheus has seen the one before."""
    for offset in offsets:
        commit(broker.bootstrap_servers, group, {(topic, 0): offset})
        query = f'query?query=kafka_consumergroup_current_offset{{consumergroup="{group}"}}=={offset}'
        until(lambda query=query: watched.ask(query)["result"], f"offset {offset} of {group}", 60)


@contextlib.contextmanager
def going_on(step: Callable[[int], None]) -> Iterator[None]:
    """Do a step each second in the background, with its number."""
    done = threading.Event()

    def work() -> None:
        number = 0
        while not done.wait(1):
            number += 1
            step(number)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(60)


def test_a_group_that_has_read_all_raises_nothing(watched: Prometheus) -> None:
    with pytest.raises(AssertionError):
        # Longer than every window: what is not there yet does not come.
        until(lambda: watched.firing() != set(), "an alert", 45)


def test_a_group_that_commits_nothing_has_stopped_until_it_goes_on(broker: LoneBroker, watched: Prometheus) -> None:
    make_topic(broker.bootstrap_servers, "stopped", 1, records=10)
    read_on(broker, watched, "stopped-group", "stopped", 3, 4)
    fires_for(watched, "KafkaGroupStopped", "stopped-group")
    assert watched.summaries("KafkaGroupStopped") == ["Group stopped-group has stopped in 1 partitions of stopped"]
    commit(broker.bootstrap_servers, "stopped-group", {("stopped", 0): 10})
    watched.rests()


def test_three_stopped_groups_are_found_among_hundreds_that_nobody_reads(
    broker: LoneBroker, watched: Prometheus, page: Page
) -> None:
    make_topic(broker.bootstrap_servers, "many", 3, records=10)
    admin = AdminClient({"bootstrap.servers": ",".join(broker.bootstrap_servers)})
    stopped, deleted = [f"stopped{number}" for number in range(3)], [f"deleted{number}" for number in range(50)]

    def set_to(offset: int, groups: Iterable[str]) -> None:
        places = [TopicPartition("many", index, offset) for index in range(3)]
        asked = [admin.alter_consumer_group_offsets([ConsumerGroupTopicPartitions(group, places)]) for group in groups]
        for answers in asked:
            for answer in answers.values():
                answer.result(60)

    set_to(4, [*(f"abandoned{number}" for number in range(500)), *deleted, *stopped])
    until(lambda: watched.count("kafka_consumergroup_lag") >= 3 * 553, "all groups", 120)
    set_to(5, [*stopped, *deleted])
    until(lambda: watched.count("changes(kafka_consumergroup_current_offset[1m]) > 0") >= 3 * 53, "commits", 60)
    for answer in admin.delete_consumer_groups(deleted).values():
        answer.result(60)
    expected = [f"Group {name} has stopped in 3 partitions of many" for name in stopped]
    until(lambda: sorted(watched.summaries("KafkaGroupStopped")) == expected, "three alerts", 120)
    page.process.send_signal(signal.SIGSTOP)
    try:
        until(lambda: watched.count("kafka_consumergroup_lag") == 0, "no series", 60)
        time.sleep(15)
    finally:
        page.process.send_signal(signal.SIGCONT)
    until(lambda: watched.count("kafka_consumergroup_lag") > 0, "series", 60)
    until(lambda: sorted(watched.summaries("KafkaGroupStopped")) == expected, "the same three alerts", 120)
    watched.rests("KafkaGroupStopped")
    set_to(10, stopped)
    watched.rests()


def test_a_watched_group_that_is_gone_is_told(broker: LoneBroker, watched: Prometheus) -> None:
    admin = AdminClient({"bootstrap.servers": ",".join(broker.bootstrap_servers)})
    admin.delete_consumer_groups(["well"])["well"].result(30)
    fires_for(watched, "KafkaGroupMissing", "well")
    commit(broker.bootstrap_servers, "well", {("idle", 0): 10})
    watched.rests()


def test_a_group_that_reads_too_slowly_falls_behind_and_is_late(broker: LoneBroker, watched: Prometheus) -> None:
    make_topic(broker.bootstrap_servers, "slow", 1, records=100)

    def step(number: int) -> None:
        produce(broker.bootstrap_servers, "slow", 1, 50)
        commit(broker.bootstrap_servers, "slow-group", {("slow", 0): number})

    with going_on(step):
        fires_for(watched, "KafkaGroupFallsBehind", "slow-group")
        fires_for(watched, "KafkaGroupLate", "slow-group")
    ends = run_module(
        "streamops.kafka.topic_records", {"bootstrap_servers": broker.bootstrap_servers, "topics": ["slow"]}
    )
    commit(broker.bootstrap_servers, "slow-group", {("slow", 0): ends["topics"][0]["partitions"][0]["end"]})
    watched.rests()


def test_a_group_that_was_set_back_is_named(broker: LoneBroker, watched: Prometheus) -> None:
    make_topic(broker.bootstrap_servers, "again", 1, records=10)
    read_on(broker, watched, "again-group", "again", 10, 5)
    fires_for(watched, "KafkaGroupRewound", "again-group")
    commit(broker.bootstrap_servers, "again-group", {("again", 0): 10})
    watched.rests()


def test_records_that_went_before_a_group_read_them_are_named(broker: LoneBroker, watched: Prometheus) -> None:
    make_topic(broker.bootstrap_servers, "gone", 1, records=10)
    read_on(broker, watched, "gone-group", "gone", 1, 2)
    deleted = {"topics": ["gone"], "delete_before": "offset", "offset": 8, "confirm": ["gone"]}
    found = run_module("streamops.kafka.topic_records", {"bootstrap_servers": broker.bootstrap_servers, **deleted})
    assert not found["failed"], found
    fires_for(watched, "KafkaGroupLostRecords", "gone-group")
    commit(broker.bootstrap_servers, "gone-group", {("gone", 0): 10})
    watched.rests()


def test_lag_of_a_broker_that_is_gone_is_stale(broker: LoneBroker, watched: Prometheus) -> None:
    broker.kill()
    try:
        watched.fires("KafkaLagStale")
        assert "of cluster orders" in watched.summaries("KafkaLagStale")[0]
    finally:
        broker.start()
    watched.rests()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Alerts on groups, each made true by what a group does on a real broker: from the page to a Prometheus that fires."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

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
def watched(broker: LoneBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """A Prometheus that reads the page each second, which polls the broker each second; 15 minutes are 20 seconds."""
    clusters = {"orders": {"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 3}}
    settings = {"clusters": clusters, "interval": 1, "poll_timeout": 10, "stale_after": 5}
    shorter = {"KafkaGroupLate": {"seconds": 30}, "KafkaLagStale": {"seconds": 15}}
    with Page(tmp_path_factory.mktemp("service"), settings) as page:
        page.wait_until(lambda: page.get("health").status == 200, "the first picture")
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
    commit(broker.bootstrap_servers, "stopped-group", {("stopped", 0): 4})
    fires_for(watched, "KafkaGroupStopped", "stopped-group")
    assert watched.summaries("KafkaGroupStopped") == ["Group stopped-group has stopped in 1 partitions of stopped"]
    commit(broker.bootstrap_servers, "stopped-group", {("stopped", 0): 10})
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
    commit(broker.bootstrap_servers, "again-group", {("again", 0): 10})
    until(lambda: watched.ask('query?query=kafka_consumergroup_current_offset{consumergroup="again-group"}')["result"],
          "the offset", 60)  # fmt: skip
    commit(broker.bootstrap_servers, "again-group", {("again", 0): 5})
    fires_for(watched, "KafkaGroupRewound", "again-group")
    commit(broker.bootstrap_servers, "again-group", {("again", 0): 10})
    watched.rests()


def test_records_that_went_before_a_group_read_them_are_named(broker: LoneBroker, watched: Prometheus) -> None:
    make_topic(broker.bootstrap_servers, "gone", 1, records=10)
    commit(broker.bootstrap_servers, "gone-group", {("gone", 0): 2})
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

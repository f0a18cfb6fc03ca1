# SPDX-License-Identifier: GPL-3.0-or-later
"""Rows of the table of states made true on real nodes: status.yml's module, the page, its /health and its metric say
what the table says. The rows take turns on one cluster, which ends with them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from page.core.exposition import exposition
from page.expected import Expected, expected_of
from page.known.freshness import health
from page.known.metrics import families_of_polls
from page.known.picture import Picture
from page.known.poller import Poller
from page.poll import take
from page.shown.sheet import state_of
from tests.support.cluster import until
from tests.support.groups import commit, produce
from tests.support.modules import run_module
from tests.support.states import STALE_AFTER, table
from tests.support.trio import IDS, Trio

pytestmark = pytest.mark.full

RATE = "leader.replication.throttled.rate"
#: A note that one row leaves behind for all after it.
BESIDE = {"groups_unread"}
#: However full the disks of this machine are. A controller is behind after seconds, not after half a minute.
LIMITS = {"min_disk_free": 0.0, "max_quorum_lag": 8}
TOLD = 'streamops_page_cluster_status{cluster="orders",status="'


class Five:
    """Looks at one cluster from all sides; the page remembers its polls."""

    def __init__(self, trio: Trio) -> None:
        self.limits: dict[str, Any] = dict(LIMITS)
        self.watched: list[str] = []
        self.ids: tuple[int, ...] = IDS
        self._servers = {"bootstrap_servers": trio.bootstrap_servers, "request_timeout": 5}
        connection = Connection.from_params(self._servers)

        def poll(last: Picture | None) -> Picture:
            return take("orders", connection, self._expected, 60, last, 3600)

        self._poller = Poller("orders", poll, 30, 1000)

    @property
    def _nodes(self) -> list[dict[str, Any]]:
        return [{"host": f"kafka{one}", "node_id": one, "roles": ["broker", "controller"]} for one in self.ids]

    @property
    def _expected(self) -> Expected:
        about = {"nodes": self._nodes, "limits": self.limits, "groups": self.watched}
        found, wrong = expected_of({"orders": about}, ["orders"])
        assert wrong == []
        return found["orders"]

    def look(self) -> tuple[dict[str, str], set[str], set[str]]:
        """Return what each says, and the kinds of the findings of status.yml and of the page."""
        asked = {**self._servers, **self.limits, "nodes": self._nodes, "watched_groups": self.watched}
        status = run_module("streamops.kafka.cluster_health", asked)
        self._poller.poll()
        seen, now = self._poller.seen, time.time()
        found = health({"orders": (seen.polls, seen.picture)}, now, STALE_AFTER)["status"]
        lines = exposition([families_of_polls("orders", seen.polls, seen.picture, now, STALE_AFTER)]).splitlines()
        state = state_of("orders", seen, now, STALE_AFTER)
        says = {
            "status": str(status.get("status", status.get("msg"))),
            "page": state.word,
            "health": f"{200 if found == 'ok' else 503} {found}",
            "metric": next(one for one in lines if one.startswith(TOLD) and one.endswith(" 1"))[len(TOLD) : -4],
        }
        return says, kinds(status), kinds(state.cluster) if state.fresh.is_fresh else set()

    def say(self, name: str, timeout: float = 60) -> None:
        """Wait until all say what a row of the table says: what is fenced or behind takes its time."""
        row, found = table()[name], [("nothing", set[str](), set[str]())] * 0
        by_status = {*row.kinds} - BESIDE
        by_page = {*row.kinds, *row.page_kinds} if row.says["health"] == "200 ok" else set()

        def agree() -> bool:
            says, status, page = self.look()
            found[:] = [(str(says), status, page)]
            return says == row.says and status == by_status and page - BESIDE == by_page - BESIDE and by_page <= page

        try:
            until(agree, name, timeout)
        except AssertionError:
            raise AssertionError(f"{name}: {found[0]}, not {(row.says, by_status, by_page)}") from None


def kinds(found: Any) -> set[str]:
    """The kinds of findings."""
    return {one["kind"] for one in found.get("findings") or ()}


@pytest.fixture(scope="module")
def trio(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[Trio]:
    """Three combined nodes with a topic of three replicas."""
    one = Trio(kafka_release("4.3.1"), tmp_path_factory.mktemp("states"))
    try:
        one.begin()
        create(one, "orders", [[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 4, 2)
        yield one
    finally:
        one.end()


@pytest.fixture(scope="module")
def five(trio: Trio) -> Five:
    """All who look at it."""
    return Five(trio)


def admin(trio: Trio) -> AdminClient:
    """A client of it."""
    return AdminClient({"bootstrap.servers": ",".join(trio.bootstrap_servers)})


def create(trio: Trio, name: str, replicas: list[list[int]], least: int) -> None:
    """Create a topic with these replicas of each partition, and min.insync.replicas."""
    config = {"min.insync.replicas": str(least)}
    topic = NewTopic(name, num_partitions=len(replicas), replica_assignment=replicas, config=config)
    client = admin(trio)  # Its futures end with it.
    client.create_topics([topic])[name].result(30)


@contextlib.contextmanager
def topic(trio: Trio, name: str, replicas: list[int], least: int) -> Iterator[None]:
    """A topic of one partition for some time."""
    create(trio, name, [replicas], least)
    yield
    client = admin(trio)
    client.delete_topics([name])[name].result(30)


def throttle(trio: Trio, what: AlterConfigOpType) -> None:
    """Set a throttle of broker 1, or delete it."""
    entry = ConfigEntry(RATE, "1000000", incremental_operation=what)
    client = admin(trio)
    (done,) = client.incremental_alter_configs(
        [ConfigResource(ResourceType.BROKER, "1", incremental_configs=[entry])]
    ).values()
    done.result(30)


def test_what_is_only_compared_is_said_alike(five: Five) -> None:
    five.say("healthy")
    five.ids = (1, 2)
    five.say("a broker that has left the inventory")
    five.ids = IDS
    five.limits |= {"min_disk_free": 1.0, "enough_disk_free_bytes": 2**62}
    five.say("disk nearly full")
    five.limits = dict(LIMITS)


def test_a_throttle_that_was_left_is_said_alike(trio: Trio, five: Five) -> None:
    throttle(trio, AlterConfigOpType.SET)
    five.say("throttle left")
    throttle(trio, AlterConfigOpType.DELETE)
    five.say("healthy")


def test_groups_are_said_alike(trio: Trio, five: Five) -> None:
    five.watched = ["billing"]
    five.say("watched group missing")
    produce(trio.bootstrap_servers, "orders", 1, 9)
    commit(trio.bootstrap_servers, "billing", {("orders", 0): 4})
    five.say("watched group without members")
    five.watched = []
    five.say("group abandoned")


def test_a_broker_that_is_stopped_and_the_only_replica_of_a_topic_are_said_alike(trio: Trio, five: Five) -> None:
    with topic(trio, "single", [3], 1), topic(trio, "strict", [1, 2, 3], 3), trio.stopped(3):
        five.say("the only replica of a topic down")
    five.say("healthy")


def test_a_broker_that_is_frozen_is_said_alike(trio: Trio, five: Five) -> None:
    with trio.frozen(2):
        five.say("broker frozen", 90)
    five.say("healthy")


def test_an_active_controller_that_is_frozen_is_said_alike(trio: Trio, five: Five) -> None:
    info = run_module("streamops.kafka.cluster_info", {"bootstrap_servers": trio.bootstrap_servers})
    with trio.frozen(info["controller_id"]):
        five.say("active controller frozen, another one elected", 120)
    five.say("healthy")


def test_a_topic_without_a_replica_to_spare_is_said_alike(trio: Trio, five: Five) -> None:
    with topic(trio, "strict", [1, 2, 3], 3), trio.stopped(3):
        five.say("one broker down and one replica more than spare")
    five.say("healthy")


def test_two_of_three_nodes_that_are_stopped_are_said_alike(trio: Trio, five: Five) -> None:
    trio.stop(3, 2)
    five.say("two of three combined nodes down", 90)
    trio.start(2, 3)
    five.say("healthy")


def test_all_nodes_that_are_stopped_are_said_alike_and_so_is_their_return(trio: Trio, five: Five) -> None:
    trio.stop(3)
    five.say("one broker down")
    trio.stop(2, 1)
    five.say("all brokers down")
    trio.start(*IDS)
    five.say("healthy")

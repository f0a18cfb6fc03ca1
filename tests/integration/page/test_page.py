"""The service as a process of its own beside a real broker: what it shows of a cluster, without a login on loopback."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    describe_quorum,
    take_snapshot,
    topics_at,
)
from ansible_collections.streamops.kafka.plugins.module_utils._configs.api import TOPIC, alter_configs
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._health import group_rules
from ansible_collections.streamops.kafka.plugins.module_utils._health.look import judged, state_of
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Limits
from ansible_collections.streamops.kafka.plugins.module_utils._quotas.api import alter_quotas
from ansible_collections.streamops.kafka.plugins.module_utils._users.api import alter_credentials
from page.expected import Expected, expected_of
from page.known.grants import why_not
from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.poll import BoundedSession, details_of, take
from page.poll_brokers import broker_configs
from page.shown.settings import setting_rows
from page.shown.sheet import state_of as state_of_page
from page.shown.topics import topic
from page.shown.wanted import Wanted
from tests.support.cluster import free_port_base, until
from tests.support.groups import commit, make_topic, member
from tests.support.lone_broker import LoneBroker
from tests.support.metrics import missing
from tests.support.modules import run_module
from tests.support.page import Page
from tests.support.prometheus import promtool_reads


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker with a group that lags."""
    one = LoneBroker(kafka_release("4.3.1"), tmp_path_factory.mktemp("page"), free_port_base())
    one.format("MkU3OEVBNTcwNTJENDM2Qk")
    one.start()
    try:
        make_topic(one.bootstrap_servers, "orders", 2, records=10)
        make_topic(one.bootstrap_servers, "__of_a_user", 1)
        commit(one.bootstrap_servers, 'the "group"', {("orders", 0): 4})
        yield one
    finally:
        one.kill()


def expected(*nodes: int) -> dict[str, Any]:
    """What the cluster is compared with: these nodes, and disks however full."""
    listed = [{"host": f"kafka{one}", "node_id": one, "roles": ["broker", "controller"]} for one in nodes]
    return {"orders": {"nodes": listed, "limits": {"min_disk_free": 0}}}


@pytest.fixture(scope="module")
def page(broker: LoneBroker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    """The service, which has the broker and a closed port for clusters."""
    clusters = {
        "orders": {"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 3},
        'closed "port"': {"bootstrap_servers": [f"127.0.0.1:{free_port_base()}"], "request_timeout": 3},
    }
    settings = {"clusters": clusters, "interval": 2, "poll_timeout": 10, "stale_after": 5, "expected": expected(1)}
    with Page(tmp_path_factory.mktemp("service"), settings) as one:
        one.wait_until(lambda: status(one) == "ok", "the first picture")
        yield one


def status(page: Page, cluster: str = "orders") -> str:
    """Status of a cluster; "" where nothing listens."""
    found = page.get("health").json()
    return str(found["clusters"][cluster]["status"]) if found else ""


def test_a_scrape_has_the_lag_of_a_group_and_promtool_takes_it(page: Page) -> None:
    answer = page.get("metrics")
    group = r'consumergroup="the \"group\"",topic="orders",partition="0"'
    assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert answer.value(f'kafka_consumergroup_lag{{cluster="orders",{group}}}') == 6
    assert answer.value(f'kafka_consumergroup_current_offset{{cluster="orders",{group}}}') == 4
    assert answer.value('kafka_topic_partition_current_offset{cluster="orders",topic="orders",partition="1"}') == 10
    assert answer.value('kafka_brokers{cluster="orders"}') == 1
    # One of them asks the broker for its features. The first poll also asks for what changes seldom, in four requests
    # and one to each broker. Of moves and of acknowledgements one each asks whether their topic is missing or hidden.
    requests = 'kafka_lag_poll_requests{cluster="orders"}'
    assert answer.value(requests) <= 22
    page.wait_until(lambda: page.get("metrics").value(requests) <= 16, "a poll without details")
    assert answer.value('streamops_page_cluster_status{cluster="orders",status="OK"}') == 1, answer.text
    assert promtool_reads(answer.text) == (0, "")


def test_what_kafka_exporter_tells_of_groups_and_partitions_is_told(page: Page) -> None:
    answer = page.get("metrics")
    group = r'{cluster="orders",consumergroup="the \"group\"",topic="orders"}'
    assert answer.value(f"kafka_consumergroup_lag_sum{group}") == 6
    assert answer.value(f"kafka_consumergroup_current_offset_sum{group}") == 4
    for name, value in {
        "leader": 1,
        "replicas": 1,
        "in_sync_replica": 1,
        "leader_is_preferred": 1,
        "under_replicated_partition": 0,
    }.items():
        series = f'kafka_topic_partition_{name}{{cluster="orders",topic="orders",partition="1"}}'
        assert answer.value(series) == value, name
    assert answer.value('kafka_lag_series_left_out{cluster="orders",of="replica"}') == 0


def test_groups_are_chosen_by_state_and_topics_by_what_the_broker_calls_internal(page: Page) -> None:
    def names(query: str, kind: str) -> list[str]:
        return [one["name"] for one in page.get(f"clusters/orders/{kind}?format=json&{query}").json()[kind]]

    assert names("state=empty", "groups") == names("state=unread", "groups") == ['the "group"']
    assert names("state=stable", "groups") == names("state=stopped", "groups") == []
    assert names("internal=only", "topics") == ["__consumer_offsets"]
    assert {"orders", "__of_a_user"} <= set(names("internal=no&sort=-name", "topics"))


def test_a_picture_has_the_whole_cluster_and_judges_it(broker: LoneBroker) -> None:
    connection = Connection.from_params({"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 30})

    def seen(*nodes: int) -> dict[str, Any]:
        wanted, wrong = expected_of(expected(*nodes), ["orders"])
        assert wrong == []
        return dict(take("orders", connection, wanted["orders"], 120).cluster)

    found = seen(1)
    # Nothing reads on for the group of these tests; a group that nobody watches leaves the cluster OK.
    assert (found["status"], found["answered"]) == ("OK", True)
    assert [(one["kind"], one["found"]) for one in found["findings"]] == [("groups_unread", 'the "group" (16 records)')]
    assert found["quorum"]["leader_id"] == 1
    (node,) = found["brokers"]
    assert (node["id"], node["disk_total_bytes"] > node["disk_used_bytes"] > 0) == (1, True)
    topics = {one["name"]: one for one in found["topics"]}
    assert [one["leader"] for one in topics["orders"]["partitions"]] == [1, 1]
    assert topics["orders"]["size_bytes"] == sum(one["size_bytes"] for one in topics["orders"]["partitions"]) > 0
    assert topics["orders"]["min_insync_replicas"] == 1
    assert [one["lag"] for one in found["groups"]["groups"] if one["name"] == 'the "group"'] == [6]

    missing_one = seen(1, 2)
    kinds = {one["kind"] for one in missing_one["findings"]}
    assert (missing_one["status"], kinds) == ("DEGRADED", {"broker_down", "controller_no_voter", "groups_unread"})


def test_page_and_module_say_the_same_of_watched_groups(broker: LoneBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    servers, watched = broker.bootstrap_servers, ['the "group"', "never made"]
    connection = Connection.from_params({"bootstrap_servers": servers, "request_timeout": 30})
    wanted, wrong = expected_of({"orders": {**expected(1)["orders"], "groups": watched}}, ["orders"])
    assert wrong == []

    def about(found: Mapping[str, Any]) -> list[tuple[str, str]]:
        return [(one["kind"], one["what"]) for one in found["findings"]]

    def told() -> list[tuple[str, str]]:
        asked = {"bootstrap_servers": servers, "watched_groups": watched, "min_disk_free": 0}
        return about(run_module("streamops.kafka.cluster_health", asked))

    missing_one = ("group_missing", "group never made does not exist")
    alone = ("group_without_members", 'group the "group" has records to read and no member')
    first = take("orders", connection, wanted["orders"], 120)
    assert told() == about(first.cluster) == [missing_one, alone]
    monkeypatch.setattr(group_rules, "STOPPED_SECONDS", 0)
    with member(servers, 'the "group"', "orders"):
        assert told() == [missing_one]
        second = take("orders", connection, wanted["orders"], 120, first)
    assert about(second.cluster) == [missing_one, ("group_stopped", 'group the "group" has stopped in orders')]
    since = first.standing.positions['the "group"']["orders"]
    # Nothing was ever committed in the second partition.
    assert (since[0] > 0, since[1]) == (True, 0)
    assert second.standing.positions['the "group"']["orders"] == since


def test_users_quotas_and_settings_are_told_and_what_no_authorizer_means(broker: LoneBroker) -> None:
    connection = Connection.from_params({"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 30})
    default, named = (("user", None),), (("client-id", "<b>"),)
    with Session(connection) as session:
        key = hashlib.pbkdf2_hmac("sha256", b"of-a-test", b"s" * 16, 8192)
        alter_credentials(session, [("<i>alice", "SCRAM-SHA-256", 8192, b"s" * 16, key)], [])
        alter_quotas(session, {default: {"producer_byte_rate": 1000.0}, named: {"request_percentage": 12.5}})
        own = {"cleanup.policy": "compact"}
        alter_configs(session, TOPIC, {"orders": {"retention.ms": "3600000", **own}, "__of_a_user": own})

    def told() -> bool:
        seen = take("orders", connection, Expected(), 120)
        own = seen.details.configs.own["orders"] if seen.details.configs else {}
        return bool(seen.details.users) and (len(seen.details.quotas or ()), len(own)) == (2, 2)

    until(told, "the changes to be seen", 60)
    seen = take("orders", connection, Expected(), 120)
    assert seen.details.users == [{"name": "<i>alice", "mechanisms": {"SCRAM-SHA-256": 8192}}]
    assert seen.details.quotas == [
        {"entity": [{"type": "client-id", "name": "<b>"}], "limits": {"request_percentage": 12.5}},
        {"entity": [{"type": "user", "name": None}], "limits": {"producer_byte_rate": 1000.0}},
    ]
    assert seen.details.acls is None
    assert seen.details.why == {"acls": why_not("acls", RequestFailedError("", "", "SECURITY_DISABLED", ""))}
    assert [one for one in seen.cluster["findings"] if one["kind"] == "untold"] == []

    configs = seen.details.configs
    assert configs is not None
    found = {one["name"]: one for one in setting_rows(configs, "orders")}
    assert len(found) > 25
    # The other topics, of Kafka and of a user, inherit the retention, and each sets its own cleanup.policy.
    without = {"name": "retention.ms", "value": "604800000", "source": "DEFAULT"}
    assert (found["retention.ms"]["value"], found["retention.ms"]["without"]) == ("3600000", without)
    assert found["cleanup.policy"]["without"] == {"name": "log.cleanup.policy", "value": "delete", "source": "DEFAULT"}
    assert found["segment.ms"]["from"] == "default"
    assert configs.own["__consumer_offsets"].keys() >= {"cleanup.policy", "segment.bytes"}


def test_what_changes_seldom_is_asked_in_its_interval_and_carried_over(broker: LoneBroker) -> None:
    connection = Connection.from_params({"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 30})

    def polled(last: Picture | None, every: float) -> Picture:
        return take("orders", connection, Expected(), 120, last, every)

    def has(name: str, seen: Picture) -> bool:
        return name in [one["name"] for one in seen.cluster["topics"]]

    def least(seen: Picture) -> int:
        (orders,) = [one for one in seen.cluster["topics"] if one["name"] == "orders"]
        return int(orders["min_insync_replicas"])

    first = polled(None, 600)
    parts = {"configs", "users", "quotas", "brokers"}
    assert (first.details.told.keys(), list(first.details.why)) == (parts, ["acls"])
    with Session(connection) as session:
        alter_configs(session, TOPIC, {"orders": {"min.insync.replicas": "2", "retention.bytes": "1000000"}})
    make_topic(broker.bootstrap_servers, "added", 1)
    try:
        until(lambda: least(polled(first, 600)) == 2, "the change to be seen", 60)
        second = polled(first, 600)
        # Three settings that health needs are asked at each poll; all others, those of the one broker, ACLs, users,
        # quotas and who acknowledged what are not.
        assert second.requests == first.requests - 6
        assert second.details is first.details
        assert (least(second), has("added", second)) == (2, True)
        assert second.details.configs
        assert "added" not in second.details.configs.own
        assert "retention.bytes" not in second.details.configs.own["orders"]
        state = state_of_page("orders", Seen(Polls(0), second), time.time(), 300)
        new = topic(state, "added", Wanted())
        assert new
        assert (new.data["config"], "not asked yet" in new.data["config_not_told"]) == (None, True)

        third = polled(second, 0)
        assert third.requests == first.requests
        assert third.details.configs
        assert third.details.configs.own["added"] == {}
        assert third.details.configs.own["orders"]["retention.bytes"].value == "1000000"
        assert set(third.details.told.values()) == {third.details.asked}
        assert (third.details.asked or 0) > (first.details.asked or 0)
    finally:
        with Session(connection) as session:
            alter_configs(session, TOPIC, {"orders": {"min.insync.replicas": None, "retention.bytes": None}})
        admin = AdminClient({"bootstrap.servers": ",".join(broker.bootstrap_servers)})
        admin.delete_topics(["added"])["added"].result(30)
    until(lambda: not has("added", polled(third, 600)), "the topic to be gone", 60)
    gone = polled(third, 600)
    assert gone.details.configs
    assert "added" not in gone.details.configs.own
    assert gone.details.told == third.details.told


def test_what_changes_seldom_of_a_broker_that_does_not_answer_is_what_it_told_before(broker: LoneBroker) -> None:
    connection = Connection.from_params({"bootstrap_servers": broker.bootstrap_servers, "request_timeout": 10})
    with Session(connection) as session:
        first = broker_configs(session, [1], None)
        before = replace(first, told={**first.told, 99: first.told[1]})
        found = broker_configs(session, [1, 99], before)
        with pytest.raises(StreamopsError):
            broker_configs(session, [99], before)
    assert len(first.told[1].settings) > 200
    assert found.told[99] is before.told[99]
    assert found.told[1].at > first.told[1].at
    assert list(found.why) == [99]
    assert found.why[99].startswith("This was not told:")


def test_what_a_poll_has_no_time_for_is_a_finding(broker: LoneBroker) -> None:
    connection = Connection.from_params({"bootstrap_servers": broker.bootstrap_servers})
    with BoundedSession(connection, 120) as session:
        snapshot = take_snapshot(
            session, describe_quorum(session), min_insync=False, topics=topics_at(session, None, None)
        )
        sent = session.requests
    with BoundedSession(connection, -1) as late:
        health = judged(state_of(late, snapshot, {}, polled=True, watched=["orders"]), Limits())
        details = details_of(late, ["orders"], brokers=[1])
    assert (sent, late.requests) == (3, 0)
    assert (details.configs, details.users, details.acls, details.quotas) == (None, None, None, None)
    assert details.brokers is None
    assert len(details.why) == 5
    assert all("Raise poll_timeout" in one for one in details.why.values())
    assert {one["kind"] for one in health["findings"]} == {"untold"}
    assert all("Raise poll_timeout" in one["what"] for one in health["findings"]), health["findings"]
    assert "the watched groups" in " ".join(one["what"] for one in health["findings"])
    assert [one["partition_count"] for one in health["cluster"]["topics"] if one["name"] == "orders"] == [2]


def test_a_cluster_that_does_not_answer_spoils_no_other(page: Page) -> None:
    closed = r'cluster="closed \"port\""'
    page.wait_until(
        lambda: page.get("metrics").value(f"kafka_lag_poll_failures_total{{{closed}}}") >= 1, "a poll that failed"
    )
    answer = page.get("health")
    found = answer.json()
    assert (answer.status, found["status"]) == (503, "down")
    assert {name: one["status"] for name, one in found["clusters"].items()} == {
        "orders": "ok",
        'closed "port"': "down",
    }
    assert "127.0.0.1" not in answer.text
    text = page.get("metrics")
    assert text.value('kafka_lag_poll_failures_total{cluster="orders"}') == 0
    assert text.value(f"kafka_brokers{{{closed}}}") == 0
    assert text.value(f'streamops_page_cluster_status{{{closed},status="DOWN"}}') == 1


def test_every_name_of_the_page_in_alerts_and_dashboards_is_served(page: Page) -> None:
    # A group that committed a moment ago is no finding before the next poll.
    page.wait_until(lambda: missing("page", [page.get("metrics").text]) == set(), "a series of each name")


def test_only_get_is_answered_and_every_answer_has_the_headers(page: Page) -> None:
    for method, path, wanted in (("GET", "metrics", 200), ("POST", "metrics", 405), ("HEAD", "metrics", 200),
                                 ("GET", "none", 404), ("DELETE", "health", 405)):  # fmt: skip
        answer = page.get(path, method)
        assert answer.status == wanted, (method, path)
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; style-src 'self'; ")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["server"] is None


def test_scrapes_do_not_make_polls(page: Page) -> None:
    began = time.monotonic()
    polls = [page.get("metrics").value('kafka_lag_polls_total{cluster="orders"}') for _scrape in range(50)]
    assert polls[-1] - polls[0] <= (time.monotonic() - began) / 2 + 1


def test_a_broker_that_stops_leaves_the_picture_which_ages(broker: LoneBroker, page: Page) -> None:
    failures = 'kafka_lag_poll_failures_total{cluster="orders"}'
    before = page.get("metrics")
    broker.kill()
    try:
        until(lambda: status(page) == "down", "the cluster to be down", 120)
        age = 'kafka_lag_picture_age_seconds{cluster="orders"}'
        until(lambda: page.get("metrics").value(age) > 5, "the picture to age", 120)
        now = page.get("metrics")
        assert now.value(failures) > before.value(failures)
        assert now.value('streamops_page_cluster_status{cluster="orders",status="DOWN"}') == 1
        # What nobody sees any more is not told as if it stood still.
        assert 'kafka_topic_partition_current_offset{cluster="orders"' not in now.text
        assert "127.0.0.1" not in page.get("health").text
    finally:
        broker.start()
    until(lambda: status(page) == "ok", "a new picture", 120)

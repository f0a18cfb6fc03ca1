"""The modules of groups against a real broker with real groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._groups.look import group_info
from tests.support.cluster import free_port_base, until
from tests.support.groups import commit, make_topic, member, share_member
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module

EVERYTHING = {"groups": None, "types": [], "states": [], "topics": None, "members": True, "offsets": True}


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory, kafka_release: Callable[[str], Path]) -> Iterator[LoneBroker]:
    """One broker; each test has topics and groups of its own."""
    one = LoneBroker(
        kafka_release("4.3.1"),
        tmp_path_factory.mktemp("groups"),
        free_port_base(),
        **{"share.coordinator.state.topic.replication.factor": "1", "share.coordinator.state.topic.min.isr": "1"},
    )
    one.format("MkU3OEVBNTcwNTJENDM2Qk")
    one.start()
    yield one
    one.kill()


@pytest.fixture
def look(broker: LoneBroker) -> Callable[..., dict[str, Any]]:
    """Calls group_info for one group and returns that group."""

    def call(group: str, **options: Any) -> dict[str, Any]:
        options = {"bootstrap_servers": broker.bootstrap_servers, "groups": [group], **options}
        result = run_module("streamops.kafka.group_info", options, check=True)
        assert not result["failed"], result
        assert len(result["groups"]) == 1, result
        found: dict[str, Any] = result["groups"][0]
        return found

    return call


Look = Callable[..., dict[str, Any]]


def states(group: dict[str, Any], topic: str) -> dict[int, str]:
    """The state of each partition of a topic."""
    found = next(one for one in group["topics"] if one["name"] == topic)
    return {one["partition"]: one["state"] for one in found["partitions"]}


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_shows_members_assignment_and_lag(broker: LoneBroker, look: Look, protocol: str) -> None:
    topic, group = f"read-by-{protocol}", f"group-{protocol}"
    make_topic(broker.bootstrap_servers, topic, 2, records=10)
    commit(broker.bootstrap_servers, group, {(topic, 0): 4})
    with member(broker.bootstrap_servers, group, topic, protocol):
        until(lambda: look(group)["state"] == "Stable", "the group to be stable")
        found = look(group)
    assert (found["type"], found["member_count"], found["error"]) == (protocol, 1, None)
    assert found["members"][0]["client_id"] == f"client-of-{group}"
    assert found["members"][0]["host"] == "127.0.0.1"
    assert found["members"][0]["assignment"] == [{"topic": topic, "partitions": [0, 1]}]
    assert (found["lag"], found["lag_unknown"]) == (6, 1)
    assert states(found, topic) == {0: "known", 1: "no_offset"}


@pytest.mark.full
def test_a_share_group_is_no_dead_classic_group(broker: LoneBroker, look: Look) -> None:
    make_topic(broker.bootstrap_servers, "shared", 1, records=10)
    info = {"bootstrap_servers": broker.bootstrap_servers, "types": ["share"]}

    def listed() -> bool:
        found = run_module("streamops.kafka.group_info", info)["groups"]
        return [one["name"] for one in found if one["member_count"] and one["topics"]] == ["sharers"]

    with share_member(broker.release, broker.bootstrap_servers, "sharers", "shared"):
        until(listed, "the share group")
        found = look("sharers")
    assert (found["type"], found["state"], found["member_count"]) == ("share", "Stable", 1)
    assert found["members"][0]["assignment"] == [{"topic": "shared", "partitions": [0]}]


def test_a_deleted_topic_and_a_shortened_log_are_told_apart(broker: LoneBroker, look: Look) -> None:
    make_topic(broker.bootstrap_servers, "kept", 1, records=10)
    make_topic(broker.bootstrap_servers, "deleted", 1, records=10)
    commit(broker.bootstrap_servers, "readers", {("kept", 0): 99, ("deleted", 0): 3})
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers[0]})
    assert states(look("readers"), "kept") == {0: "beyond_end"}
    admin.delete_topics(["deleted"])["deleted"].result(30)
    until(lambda: "deleted" not in admin.list_topics(timeout=10).topics, "the topic to be gone")
    # The broker drops the offsets of a deleted topic by itself, a moment later.
    found = {one["name"]: one["partitions"][0]["state"] for one in look("readers")["topics"]}
    assert found.pop("deleted", "topic_deleted") == "topic_deleted"
    assert found == {"kept": "beyond_end"}


def test_a_group_that_no_broker_knows_is_missing(broker: LoneBroker) -> None:
    asked = {"bootstrap_servers": broker.bootstrap_servers, "groups": ["never-made"]}
    result = run_module("streamops.kafka.group_info", asked)
    assert (result["groups"], result["missing"], result["complete"]) == ([], ["never-made"], True)


def test_many_groups_take_a_bounded_number_of_requests(broker: LoneBroker, monkeypatch: pytest.MonkeyPatch) -> None:
    make_topic(broker.bootstrap_servers, "popular", 2, records=5)
    for number in range(60):
        commit(broker.bootstrap_servers, f"many-{number}", {("popular", 0): 2})
    sent: list[str] = []
    real = Session.send

    def counted(session: Session, what: str, *rest: Any, **more: Any) -> Any:
        sent.append(what)
        return real(session, what, *rest, **more)

    monkeypatch.setattr(Session, "send", counted)
    with Session(Connection(tuple(broker.bootstrap_servers))) as session:
        found = group_info(session, {**EVERYTHING, "topics": ["popular"]})
    many = [one for one in found["groups"] if one["name"].startswith("many-")]
    assert {one["lag"] for one in many} == {3}
    assert len(many) == 60
    # One broker: its list, a description and the offsets of each type that there is, and both ends of the logs.
    assert len(sent) <= 10, sent

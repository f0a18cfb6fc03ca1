"""The modules of groups against a real broker with real groups."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient

from ansible_collections.streamops.kafka.plugins.module_utils._client.connection import Connection
from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._groups.api import (
    commit_offsets,
    delete_offsets,
    describe_groups,
    list_groups,
)
from ansible_collections.streamops.kafka.plugins.module_utils._groups.look import group_info
from tests.support.cluster import free_port_base, until
from tests.support.groups import commit, make_topic, member, share_member
from tests.support.lone_broker import LoneBroker
from tests.support.modules import run_module

EVERYTHING = {"groups": None, "types": [], "states": [], "topics": None, "members": True}
EVERYTHING |= {"offsets": True, "lag_time": False}


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
        # A member has joined before its coordinator assigns it anything.
        ready = [one for one in found if one["topics"] and any(member["assignment"] for member in one["members"])]
        return [one["name"] for one in ready] == ["sharers"]

    with share_member(broker.release, broker.bootstrap_servers, "sharers", "shared"):
        until(listed, "the share group")
        found = look("sharers")
    assert (found["type"], found["state"], found["member_count"]) == ("share", "Stable", 1)
    assert found["members"][0]["assignment"] == [{"topic": "shared", "partitions": [0]}]


@pytest.mark.full
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


@pytest.mark.full
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


# -- moving offsets ----------------------------------------------------------------------------------------------


@pytest.fixture
def move(broker: LoneBroker) -> Callable[..., dict[str, Any]]:
    """Calls group_offsets, with a diff."""

    def call(group: str, check: bool = False, **options: Any) -> dict[str, Any]:
        options = {"bootstrap_servers": broker.bootstrap_servers, "group": group, **options}
        return run_module("streamops.kafka.group_offsets", options, check=check, diff=True)

    return call


Move = Callable[..., dict[str, Any]]


def committed(group: dict[str, Any]) -> dict[str, int | None]:
    """The committed offsets of a group, as orders-0."""
    return {
        f"{topic['name']}-{one['partition']}": one["committed"]
        for topic in group["topics"]
        for one in topic["partitions"]
    }


def test_offsets_go_where_they_are_sent(broker: LoneBroker, look: Look, move: Move, tmp_path: Path) -> None:
    make_topic(broker.bootstrap_servers, "sent", 2, records=10)
    commit(broker.bootstrap_servers, "movers", {("sent", 0): 4, ("sent", 1): 7})
    before = look("movers")
    planned = move("movers", check=True, to="latest")
    assert (planned["changed"], planned["records_skipped"], planned["read_again"]) == (True, 9, 0)
    assert planned["diff"]["before"] == {"sent-0": {"offset": 4}, "sent-1": {"offset": 7}}
    assert planned["diff"]["after"]["sent-0"] == {"offset": 10, "records_skipped": 6}
    assert committed(look("movers")) == committed(before)
    assert move("movers", to="latest")["moves"] == planned["moves"]
    assert committed(look("movers")) == {"sent-0": 10, "sent-1": 10}
    assert not move("movers", to="latest")["changed"]
    assert move("movers", to="shift", shift_by=-3, topics=["sent:1"])["read_again"] == 3
    assert committed(look("movers")) == {"sent-0": 10, "sent-1": 7}
    assert move("movers", to="timestamp", timestamp="0")["read_again"] == 17
    (tmp_path / "before.json").write_text(json.dumps({"groups": [before]}))
    assert move("movers", to="file", file=str(tmp_path / "before.json"))["records_skipped"] == 11
    assert committed(look("movers")) == committed(before)
    assert move("movers", to="none", topics=["sent:0"])["changed"]
    assert committed(look("movers")) == {"sent-0": None, "sent-1": 7}


def test_a_group_is_copied_and_deleted(broker: LoneBroker, look: Look, move: Move) -> None:
    make_topic(broker.bootstrap_servers, "copied", 1, records=10)
    commit(broker.bootstrap_servers, "original", {("copied", 0): 4})
    refused = move("copy", to="group", from_group="original")
    assert refused["failed"]
    assert "consent to make it with allow_create" in refused["msg"]
    made = move("copy", to="group", from_group="original", allow_create=True)
    assert made["moves"][0]["from"] is None, made
    assert committed(look("copy")) == {"copied-0": 4}
    assert move("copy", check=True, state="absent")["deleted"]
    gone = move("copy", state="absent")
    assert (gone["changed"], gone["diff"]["before"]["copy"]["offsets"]) == (True, {"copied-0": 4})
    assert not move("copy", state="absent")["changed"]


def test_offsets_outside_of_the_log_and_times_to_come_are_refused(broker: LoneBroker, look: Look, move: Move) -> None:
    make_topic(broker.bootstrap_servers, "bounded", 1, records=10)
    commit(broker.bootstrap_servers, "bound", {("bounded", 0): 4})
    for wanted in ({"to": "offset", "offset": 11}, {"to": "timestamp", "timestamp": "2099-01-01T00:00:00Z"}):
        refused = move("bound", **wanted)
        assert refused["failed"]
        assert "nothing was changed" in refused["msg"]
        assert refused["failure"]["violations"]
        assert committed(look("bound")) == {"bounded-0": 4}
    clipped = move("bound", to="offset", offset=11, clip=True)
    assert (clipped["moves"][0]["to"], clipped["moves"][0]["clipped"]) == (10, 11)
    assert move("bound", to="earliest", topics=["boundet"])["failed"]


@pytest.mark.full
def test_a_hostile_name_is_only_a_name(broker: LoneBroker, look: Look, move: Move) -> None:
    group = "<b>\"'{{ 7 * 7 }};$(id)\\".ljust(249, "x")
    make_topic(broker.bootstrap_servers, "hostile", 1, records=10)
    commit(broker.bootstrap_servers, group, {("hostile", 0): 4})
    assert (look(group)["name"], look(group)["lag"]) == (group, 6)
    assert move(group, to="latest")["records_skipped"] == 6
    assert move(group, state="absent")["deleted"]
    refused = move(group, to="latest")["msg"]
    assert f"group {group}: " in refused
    assert "nothing was changed" in refused
    assert "no broker knows it" in refused


@pytest.mark.parametrize("consent", [False, True])
def test_no_group_is_named(move: Move, consent: bool) -> None:
    refused = move(" ", to="latest", topics=["anything"], allow_create=consent)
    assert refused["failed"]
    assert "group: is empty. Name a group." in refused["msg"]


def test_a_group_that_vanishes_between_two_requests_is_named_as_such(broker: LoneBroker, move: Move) -> None:
    make_topic(broker.bootstrap_servers, "fleeting", 1, records=10)
    commit(broker.bootstrap_servers, "fleeing", {("fleeting", 0): 4})
    with Session(Connection((*broker.bootstrap_servers,))) as session:
        listed = [one for one in list_groups(session)[0] if one.name == "fleeing"]
        assert move("fleeing", state="absent")["deleted"]
        found = describe_groups(session, listed)["fleeing"]
    assert (found.vanished, found.error) == (True, "it was deleted between two requests")


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_with_members_is_left_alone(broker: LoneBroker, look: Look, move: Move, protocol: str) -> None:
    topic, group = f"held-by-{protocol}", f"holders-{protocol}"
    make_topic(broker.bootstrap_servers, topic, 1, records=10)
    commit(broker.bootstrap_servers, group, {(topic, 0): 4})
    with member(broker.bootstrap_servers, group, topic, protocol):
        for wanted in ({"to": "latest"}, {"to": "none"}, {"state": "absent"}):
            refused = move(group, **wanted)
            assert refused["failed"]
            assert f"client-of-{group} at 127.0.0.1" in refused["msg"]
        assert committed(look(group)) == {f"{topic}-0": 4}


@pytest.mark.full
def test_a_member_that_joins_at_the_last_moment_is_no_silent_success(broker: LoneBroker) -> None:
    make_topic(broker.bootstrap_servers, "raced", 1, records=10)
    with (
        member(broker.bootstrap_servers, "racers", "raced"),
        Session(Connection((*broker.bootstrap_servers,))) as session,
    ):
        answered = commit_offsets(session, 1, "racers", {("raced", 0): 3})
        deleted = delete_offsets(session, 1, "racers", [("raced", 0)])
    assert answered["raced", 0][0] == "UNKNOWN_MEMBER_ID"
    assert deleted["raced", 0][0] == "GROUP_SUBSCRIBED_TO_TOPIC"


@pytest.mark.full
def test_the_start_of_a_share_group_is_moved(broker: LoneBroker, look: Look, move: Move) -> None:
    make_topic(broker.bootstrap_servers, "shifted", 1, records=10)
    with share_member(broker.release, broker.bootstrap_servers, "shifters", "shifted"):
        until(lambda: _has_topics(broker, "shifters"), "the share group")
    until(lambda: look("shifters")["member_count"] == 0, "its member to leave")
    assert move("shifters", to="offset", offset=3, topics=["shifted"])["changed"]
    assert committed(look("shifters")) == {"shifted-0": 3}
    assert move("shifters", state="absent")["deleted"]


def _has_topics(broker: LoneBroker, group: str) -> bool:
    asked = {"bootstrap_servers": broker.bootstrap_servers, "groups": [group]}
    return any(one["topics"] for one in run_module("streamops.kafka.group_info", asked)["groups"])


# -- waiting -----------------------------------------------------------------------------------------------------


def test_a_wait_ends_when_the_group_has_read_all(broker: LoneBroker) -> None:
    make_topic(broker.bootstrap_servers, "awaited", 1, records=10)
    commit(broker.bootstrap_servers, "readers-awaited", {("awaited", 0): 4})
    asked = {"bootstrap_servers": broker.bootstrap_servers, "groups": ["readers-awaited"], "interval": 0.2}
    late = run_module("streamops.kafka.group_wait", {**asked, "timeout": 1})
    assert late["failed"]
    assert "- group readers-awaited: 6 records, state Empty, 0 member(s)" in late["msg"]
    assert (late["lag"], late["reached"]) == (6, False)
    enough = run_module("streamops.kafka.group_wait", {**asked, "max_lag": 6})
    assert (enough["failed"], enough["reached"], enough["looks"]) == (False, True, 1)
    wrong = run_module("streamops.kafka.group_wait", {**asked, "groups": ["never-made"]})
    assert "no broker knows group never-made" in wrong["msg"]


# -- records -----------------------------------------------------------------------------------------------------


@pytest.mark.full
def test_a_lag_is_shown_as_time_and_waited_for(broker: LoneBroker, look: Look) -> None:
    make_topic(broker.bootstrap_servers, "late", 4)
    ages = {0: [7200, 3600, 60], 1: [600], 2: []}
    now = time.time()
    writer = Producer({"bootstrap.servers": broker.bootstrap_servers[0]})
    for partition, some in ages.items():
        for age in some:
            writer.produce("late", value=b"x", partition=partition, timestamp=int((now - age) * 1000))
    assert writer.flush(60) == 0
    commit(broker.bootstrap_servers, "late-readers", {("late", 0): 1, ("late", 1): 1, ("late", 2): 0})
    found = look("late-readers", lag_time=True)
    seconds = [one["lag_seconds"] for one in found["topics"][0]["partitions"]]
    assert seconds[1:] == [0, 0, None]
    assert 3600 <= found["lag_seconds"] == seconds[0] <= 3600 * 1.02 + time.time() - now + 1
    assert "lag_seconds" not in look("late-readers")
    wait = {"bootstrap_servers": broker.bootstrap_servers, "groups": ["late-readers"], "topics": ["late"]}
    late = run_module("streamops.kafka.group_wait", {**wait, "max_lag_seconds": 3000, "timeout": 1})
    assert late["failed"], late
    assert "the oldest 1h" in late["msg"]
    reached = run_module("streamops.kafka.group_wait", {**wait, "max_lag_seconds": 7000, "timeout": 60})
    assert reached["reached"], reached


def test_records_are_counted_and_deleted_with_consent(broker: LoneBroker) -> None:
    make_topic(broker.bootstrap_servers, "counted", 2, records=10)
    asked = {"bootstrap_servers": broker.bootstrap_servers, "topics": ["counted:0"]}
    counted = run_module("streamops.kafka.topic_records", {**asked, "timestamp": "0"})
    assert (counted["changed"], counted["records"]) == (False, 10)
    assert counted["topics"][0]["partitions"][0]["offset_at"] == 0
    older = {**asked, "delete_before": "offset", "offset": 4}
    planned = run_module("streamops.kafka.topic_records", older, check=True, diff=True)
    assert (planned["deleted"], planned["consent_missing"]) == (4, ["counted"])
    refused = run_module("streamops.kafka.topic_records", {**older, "confirm": ["another"]})
    assert "confirm: does not name counted" in refused["msg"]
    done = run_module("streamops.kafka.topic_records", {**older, "confirm": ["counted"]})
    assert (done["changed"], done["deleted"]) == (True, 4), done
    assert not run_module("streamops.kafka.topic_records", {**older, "confirm": ["counted"]})["changed"]
    left = run_module("streamops.kafka.topic_records", {**asked, "topics": ["counted"]})
    assert [(one["start"], one["records"]) for one in left["topics"][0]["partitions"]] == [(4, 6), (0, 10)]

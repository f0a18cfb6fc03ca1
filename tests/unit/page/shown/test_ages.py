"""What the pages of a topic and of access say of details that are older than the picture, new, or not told."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import OF_TOPIC, TopicConfigs, TopicValue
from page.known.details import ACLS, CONFIGS, QUOTAS, USERS, Details
from page.known.picture import Picture, Polls
from page.known.poller import Seen
from page.shown.access import access
from page.shown.sheet import Sheet, State, state_of
from page.shown.topics import topic
from page.shown.wanted import Wanted
from tests.support.status_seen import hurt

NOON = 1_795_608_000.0
WHY = "This was not told: no right. Fix: grant it."


def state(details: Details) -> State:
    """A cluster that was polled at noon and is looked at ten seconds later."""
    of = {**hurt(), "moves": {"known": True, "partitions": [], "recorded": None, "throttles": []}}
    picture = Picture(NOON, 0.1, 1, 3, 0, {}, of["groups"]["groups"], of, details)
    return state_of("orders", Seen(Polls(NOON, 1), picture), NOON + 10, 300)


def details(asked: float = NOON - 300, told: float = NOON - 300, **more: Any) -> Details:
    """All parts, with settings of one topic."""
    configs = TopicConfigs({"orders": {"retention.ms": TopicValue("1", source=OF_TOPIC)}})
    parts = (CONFIGS, USERS, ACLS, QUOTAS)
    return Details(configs, [], [], [], asked, dict.fromkeys(parts, told), more.pop("why", {}))


def configuration(of: Details) -> tuple[str, str, Sheet]:
    """The note of the configuration of a topic, what stands there instead, and its page."""
    found = topic(state(of), "orders", Wanted())
    assert found
    (table,) = [one for one in found.tables if one.title == "Configuration"]
    return table.note, table.empty, found


def notes(of: Details) -> dict[str, str]:
    """The notes of the tables of access by their titles."""
    found = access(state(of), Wanted())
    tables = [*found.tables, *([found.lister.table] if found.lister else [])]
    return {one.title: one.note for one in tables}


def test_both_pages_say_when_they_were_told_and_how_long_ago() -> None:
    assert configuration(details())[0].endswith("As of 2026-11-25 11:55:00 UTC, 5m10s ago.")
    found = notes(details())
    assert sorted(found) == ["ACLs", "Client quotas", "SCRAM users"]
    assert all(note.endswith("As of 2026-11-25 11:55:00 UTC, 5m10s ago.") for note in found.values())
    data = access(state(details()), Wanted()).data
    assert data["as_of"] == dict.fromkeys((USERS, ACLS, QUOTAS), "2026-11-25T11:55:00Z")
    seen = configuration(details())[2].data
    assert (seen["config_as_of"], seen["config_not_told"]) == ("2026-11-25T11:55:00Z", "")


def test_what_failed_since_keeps_its_age_and_says_the_cause() -> None:
    of = details(told=NOON - 900, why={CONFIGS: WHY, ACLS: WHY})
    since = f"As of 2026-11-25 11:45:00 UTC, 15m10s ago. It was asked again at 2026-11-25 11:55:00 UTC. {WHY}"
    note, _empty, sheet = configuration(of)
    assert note.endswith(since)
    assert (sheet.data["config"][0]["name"], sheet.data["config_not_told"]) == ("retention.ms", WHY)
    found = notes(of)
    assert found["ACLs"] == since
    assert WHY not in found["SCRAM users"]
    assert access(state(of), Wanted()).data["not_told"] == {ACLS: WHY}


def test_a_topic_that_is_new_says_that_its_configuration_is_not_asked_yet() -> None:
    without = Details(TopicConfigs(), [], [], [], NOON - 300, {CONFIGS: NOON - 300})
    note, empty, sheet = configuration(without)
    assert note == ""
    assert re.match(r"It is new since 2026-11-25 11:55:00 UTC, .* not asked yet\. Next step: ", empty), empty
    assert (sheet.data["config"], sheet.data["config_as_of"], sheet.data["config_not_told"]) == (None, None, empty)
    failed = Details(TopicConfigs(), [], [], [], NOON - 1, {CONFIGS: NOON - 300}, {CONFIGS: WHY})
    assert configuration(failed)[1].endswith(WHY)


def test_what_was_never_told_says_why() -> None:
    never = Details(asked=NOON, why=dict.fromkeys((CONFIGS, USERS, ACLS, QUOTAS), WHY))
    assert configuration(never)[:2] == ("", WHY)
    found = access(state(never), Wanted())
    assert [one.empty for one in found.tables] == [WHY] * 3
    assert found.data["as_of"] == {USERS: None, ACLS: None, QUOTAS: None}
    assert "not been asked yet" in configuration(Details())[1]

# SPDX-License-Identifier: GPL-3.0-or-later
"""The rules on groups: who must be there and read, who has stopped, and that nothing is said of what is unknown."""

from __future__ import annotations

import time
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._health import group_rules, model
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import Groups, Limits, State

RULES = (
    group_rules.group_missing,
    group_rules.group_without_members,
    group_rules.group_stopped,
    group_rules.groups_unread,
)
SILENT = {2: "timed out"}
LATE = {"orders": {"paid": 900.0}}


def group(name: str = "orders", behind: int | None = 7, members: int = 0, **more: Any) -> dict[str, Any]:
    """Return a group as group_info does."""
    return {"name": name, "member_count": members, "behind": behind, "lag": behind, "error": None, **more}


def found(*groups: dict[str, Any], **values: Any) -> list[tuple[str, str]]:
    """Return kind and phrase of the findings on these groups."""
    state = State(None, groups=Groups(groups, **values))
    return [(one.kind, one.what) for rule in RULES for one in rule(state, Limits())]


def kinds(*groups: dict[str, Any], **values: Any) -> list[str]:
    """Return the kinds of the findings on these groups."""
    return [kind for kind, _what in found(*groups, **values)]


def test_a_watched_group_must_be_there_when_every_broker_told_its_groups() -> None:
    assert found(watched=["orders"]) == [("group_missing", "group orders does not exist")]
    assert found(watched=["orders"], silent=SILENT) == []
    assert found(group(behind=0), watched=["orders"]) == []
    assert kinds(group("a"), watched=["orders", "stock"], is_whole=True) == ["group_missing", "group_missing"]


def test_what_silent_brokers_and_failing_groups_hide_is_untold() -> None:
    groups = Groups([group(error="no answer"), group("stock")], SILENT, ["orders", "stock", "away"])
    assert list(group_rules.untold_groups(groups)) == [
        "whether group away exists (broker 2: timed out)",
        "how far group orders has read (no answer)",
    ]
    assert list(group_rules.untold_groups(Groups([group("b", error="no answer")], SILENT))) == []


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        (group(), ["group_without_members"]),
        (group(behind=0), []),
        (group(members=1), []),
        # Of one that could not be read nothing is known, its members included.
        (group(error="no answer", lag=None, behind=None), []),
        # A part is unknown: what is known counts.
        (group(behind=None, lag=3), ["group_without_members"]),
        (group(behind=None, lag=0), []),
        (group(behind=None, lag=None), []),
        ({"name": "orders", "member_count": 0, "error": None}, []),
        (group(type="share", state="Empty"), ["group_without_members"]),
        (group("unwatched"), ["group_missing"]),
    ],
)
def test_a_watched_group_with_records_to_read_needs_a_member(one: dict[str, Any], expected: list[str]) -> None:
    assert kinds(one, watched=["orders"]) == expected


@pytest.mark.parametrize(
    ("one", "stands", "expected"),
    [
        (group(members=1), LATE, ["group_stopped"]),
        (group(members=1), {"orders": {"paid": 899.0}}, []),
        (group(members=1), {"other": {"paid": 9000.0}}, []),
        (group(members=1), {}, []),
        (group(members=1, error="no answer"), LATE, []),
        (group(members=1, type="share"), LATE, ["group_stopped"]),
        (group(members=1, behind=None, lag=None), LATE, ["group_stopped"]),
        # That it has no member is its cause.
        (group(members=0), LATE, []),
    ],
)
def test_a_group_with_members_stops_when_it_commits_nothing(
    one: dict[str, Any], stands: dict[str, dict[str, float]], expected: list[str]
) -> None:
    assert kinds(one, stands=stands) == expected


@pytest.mark.parametrize(
    ("assignment", "watched", "expected"),
    [
        (["paid"], [], ["group_stopped"]),
        # It has stopped to read this topic on purpose: no member has partitions of it.
        (["made"], [], []),
        (["made"], ["orders"], ["group_stopped"]),
        # Streams groups tell no assignment, and there is none while a group cannot agree on one.
        ([], [], ["group_stopped"]),
    ],
)
def test_a_topic_that_no_member_has_counts_for_watched_groups_alone(
    assignment: list[str], watched: list[str], expected: list[str]
) -> None:
    members = [{"assignment": [{"topic": topic, "partitions": [0]} for topic in assignment]}, {"assignment": []}]
    assert kinds(group(members=2) | {"members": members}, stands=LATE, watched=watched) == expected


def test_a_watched_group_without_members_that_stands_is_one_finding() -> None:
    assert kinds(group(), stands=LATE, watched=["orders"]) == ["group_without_members"]


def test_a_stopped_group_says_where_and_for_how_long() -> None:
    stands = {"orders": {"paid": 3700.0, "made": 1000.0, "sent": 10.0}}
    (one,) = group_rules.group_stopped(State(None, groups=Groups([group(members=2)], stands=stands)), Limits())
    assert one.what == "group orders has stopped in made, paid"
    assert one.found == "nothing committed for 1h01m, and 7 records to read"
    assert one.severity == model.SERIOUS


def test_no_name_of_a_group_is_in_a_command() -> None:
    hostile = "x; rm -rf ~"
    groups = Groups(
        [group(hostile), group("b; y", members=1)], stands={"b; y": {"t": 900.0}}, watched=[hostile, "c; z"]
    )
    listed = [one for rule in RULES for one in rule(State(None, groups=groups), Limits())]
    assert [one.kind for one in listed] == ["group_missing", "group_without_members", "group_stopped"]
    assert not [one for one in listed for name in (hostile, "b; y", "c; z") if name in one.next_step]


def test_groups_that_nothing_reads_are_one_note_with_the_five_furthest_behind() -> None:
    groups = [group(f"g{number}", number) for number in range(8)]
    unread = {one["name"]: 7200.0 * (one["name"] == "g7") for one in groups}
    state = State(None, groups=Groups(groups, is_whole=True, unread=unread))
    (one,) = group_rules.groups_unread(state, Limits())
    assert one.what == "7 group(s) have records to read and no member"
    assert one.found == (
        "g7 (7 records for 2h00m or longer), g6 (6 records), g5 (5 records), g4 (4 records), g3 (3 records) and 2 more"
    )
    assert model.status_of([one]) == "OK"


def test_only_one_who_looked_at_all_groups_notes_those_that_nothing_reads() -> None:
    known = {"orders": 60.0}
    assert kinds(group(), unread=known, is_whole=True) == ["groups_unread"]
    assert kinds(group(), unread=known) == []
    # A consumer that assigns its partitions itself commits and is no member.
    assert kinds(group(), is_whole=True) == []
    assert kinds(group(), unread=known, is_whole=True, watched=["orders"]) == ["group_without_members"]


def test_ten_thousand_groups_are_judged_within_a_second_and_each_kind_says_it_once() -> None:
    groups = [group(f"g{number:05}", number, members=number % 2) for number in range(10_000)]
    names = {one["name"]: 1000.0 for one in groups}
    began = time.process_time()
    state = State(None, groups=Groups(groups, is_whole=True, unread=names, watched=[f"w{one}" for one in range(200)]))
    listed = [one for rule in RULES for one in rule(state, Limits())]
    assert time.process_time() - began < 1
    assert {one.kind for one in listed} == {"group_missing", "groups_unread"}
    assert listed[-1].what == "4999 group(s) have records to read and no member"

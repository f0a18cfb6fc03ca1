"""What positions and logs say about the lag of a group."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._groups.model import (
    Group,
    Listed,
    Member,
    Offset,
    Offsets,
    behind,
    by_topic,
    listed_of,
    position,
    shown,
    totals,
)
from ansible_collections.streamops.kafka.plugins.module_utils._logs.model import (
    NO_ANSWER,
    NOT_ALLOWED,
    TOPIC_DELETED,
    Log,
)

BILLING = Listed("billing", "classic", "Stable", "consumer", 2)


def test_lag_is_the_distance_to_the_end_of_the_log() -> None:
    found = position(3, Offset(40), Log(10, 100))
    assert found == {"partition": 3, "committed": 40, "start": 10, "end": 100, "lag": 60, "state": "known"}


def test_a_group_at_the_end_has_no_lag() -> None:
    assert position(0, Offset(100), Log(100, 100))["lag"] == 0


def test_without_an_offset_the_lag_depends_on_the_clients_and_is_unknown() -> None:
    found = position(0, Offset(None), Log(10, 100))
    assert (found["lag"], found["state"], found["lag_from_earliest"]) == (None, "no_offset", 90)


def test_records_that_retention_took_are_counted_as_lost() -> None:
    found = position(0, Offset(5), Log(10, 100))
    assert (found["lag"], found["state"], found["lost"]) == (95, "before_start", 5)


def test_an_offset_beyond_the_end_is_no_negative_lag() -> None:
    found = position(0, Offset(120), Log(0, 100))
    assert (found["lag"], found["state"], found["beyond"]) == (None, "beyond_end", 20)


@pytest.mark.parametrize("why", [TOPIC_DELETED, NO_ANSWER, NOT_ALLOWED])
def test_an_unknown_log_says_why(why: str) -> None:
    found = position(0, Offset(5), Log(missing=why))
    assert (found["lag"], found["end"], found["state"], found["committed"]) == (None, None, why, 5)


def test_an_offset_with_an_error_is_no_missing_offset() -> None:
    assert position(0, Offset(None, error="loading"), Log(0, 9))["state"] == NO_ANSWER


def test_the_lag_of_a_share_group_is_what_the_broker_counts() -> None:
    assert position(0, Offset(40, 7), Log(0, 100))["lag"] == 7
    assert position(0, Offset(40, -1), Log(0, 100))["lag"] is None


def test_totals_leave_unknown_lags_out_and_count_them() -> None:
    assert totals([{"lag": 5}, {"lag": None}, {"lag": 7}]) == {"lag": 12, "lag_unknown": 1}
    assert totals([]) == {"lag": 0, "lag_unknown": 0}


@pytest.mark.parametrize(
    ("positions", "records"),
    [
        ([], 0),
        ([{"state": "known", "lag": 5}, {"state": "no_offset", "lag": None, "lag_from_earliest": 7}], 12),
        ([{"state": "known", "lag": 5}, {"state": "beyond_end", "lag": None}], 5),
        ([{"state": "known", "lag": 5}, {"state": "topic_deleted", "lag": None}], 5),
        # A sum without what is unknown would fall when a broker freezes, and rise when it is back.
        ([{"state": "known", "lag": 5}, {"state": "no_answer", "lag": None}], None),
    ],
)
def test_a_group_is_behind_by_all_or_by_an_unknown_number(positions: list[dict[str, Any]], records: int | None) -> None:
    assert behind(positions) == records


def test_a_partition_that_was_never_read_shows_beside_those_that_were() -> None:
    logs = by_topic({("orders", 0): Log(0, 100), ("orders", 1): Log(0, 100), ("other", 0): Log(0, 9)})
    found = shown(Group(BILLING, "Empty"), Offsets({("orders", 0): Offset(100)}), logs, True)
    assert [(one["partition"], one["state"]) for one in found["topics"][0]["partitions"]] == [
        (0, "known"),
        (1, "no_offset"),
    ]
    assert (len(found["topics"]), found["lag"], found["lag_unknown"], found["members"]) == (1, 0, 1, [])
    assert found["behind"] == 100


def test_an_assigned_topic_is_shown_before_the_first_commit() -> None:
    member = Member("m-1", "app", "10.0.0.7", None, {"orders": (0,)})
    found = shown(Group(BILLING, "Stable", (member,)), Offsets(), {"orders": {0: Log(0, 5)}}, True)
    assert found["topics"][0]["partitions"][0]["state"] == "no_offset"
    assert found["members"][0]["assignment"] == [{"topic": "orders", "partitions": [0]}]
    assert str(member) == "app at 10.0.0.7"


def test_a_group_with_an_error_has_no_lag_that_looks_like_none() -> None:
    found = shown(Group(BILLING, error="broker 2 did not answer"), Offsets(error="the same"), {}, False)
    assert (found["lag"], found["error"], found["state"]) == (None, "broker 2 did not answer", "Stable")
    assert "members" not in found


def test_without_offsets_nothing_is_said_about_lag() -> None:
    assert "lag" not in shown(Group(BILLING, "Stable"), None, {}, True)


@pytest.mark.parametrize(("told", "meant"), [("Consumer", "consumer"), ("", "classic"), ("share", "share")])
def test_a_group_without_a_type_is_classic(told: str, meant: str) -> None:
    entry = SimpleNamespace(group_id="g", group_type=told, group_state="Empty", protocol_type="consumer")
    assert listed_of([entry], 4) == [Listed("g", meant, "Empty", "consumer", 4)]

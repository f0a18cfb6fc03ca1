"""Since when groups commit nothing: what makes a time begin, go on and end, from poll to poll."""

from __future__ import annotations

import time
from typing import Any

import pytest

from page.known.standing import Standing, seconds_of, stood

Row = dict[str, Any]


def at(committed: int | None, lag: int | None, state: str = "known", partition: int = 0) -> Row:
    """Return a position as group_info does."""
    more = {"lag_from_earliest": 9} if state == "no_offset" else {}
    return {"partition": partition, "committed": committed, "lag": lag, "state": state, **more}


def group(*positions: Row, members: int = 1, error: str | None = None, name: str = "g") -> list[Row]:
    """Return one group with these positions in a topic."""
    lag = sum(one["lag"] or 0 for one in positions)
    topics = [{"name": "t", "partitions": [*positions]}]
    return [{"name": name, "member_count": members, "error": error, "lag": lag, "behind": lag, "topics": topics}]


def after(*polls: list[Row], step: float = 100) -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    """Return for how long groups stand after these polls, one every C(step) seconds."""
    now, standing, last = 1000.0, Standing(), []
    for groups in polls:
        now += step
        standing, last = stood(standing, last, groups, now), groups
    return seconds_of(standing, now)


STANDS = group(at(5, 3))


@pytest.mark.parametrize(
    ("polls", "seconds"),
    [
        ([STANDS], 0),
        ([STANDS, STANDS, STANDS], 200),
        # It moves on: what is left to read is new.
        ([STANDS, STANDS, group(at(6, 2))], 0),
        # It goes back, which is a commit too.
        ([STANDS, STANDS, group(at(2, 6))], 0),
        # More comes to read; what stood still stands.
        ([STANDS, group(at(5, 900))], 100),
        # It had read everything, and a record comes: it has just begun to be late.
        ([group(at(5, 0)), group(at(5, 0)), group(at(5, 1))], 0),
        ([group(at(5, 0)), group(at(5, 1)), group(at(5, 1))], 100),
        # The leader does not answer: what stood goes on, and nothing begins.
        ([STANDS, group(at(5, None, "no_answer")), STANDS], 200),
        # A poll in which its coordinator did not answer, or that could not read its offsets, forgets.
        ([STANDS, STANDS, [], STANDS], 0),
        ([STANDS, STANDS, group(error="no answer"), STANDS], 0),
        # Partitions that are added begin with their own time.
        ([STANDS, group(at(5, 3), at(1, 1, partition=1))], 100),
    ],
)
def test_a_time_begins_with_a_record_to_read_and_ends_with_a_commit(polls: list[list[Row]], seconds: float) -> None:
    assert after(*polls)[0] == {"g": {"t": seconds}}


@pytest.mark.parametrize(
    "polls",
    [
        [STANDS, group(at(5, 0))],
        [group(at(5, None, "no_answer"))] * 3,
        [group(at(None, None, "no_offset"))] * 3,
        [STANDS, group(at(5, None, "topic_deleted"))],
        [STANDS, group(at(5, None, "beyond_end"))],
        [STANDS, []],
    ],
)
def test_what_has_nothing_to_read_does_not_stand(polls: list[list[Row]]) -> None:
    assert after(*polls)[0] == {}


def test_one_partition_that_stands_among_others_that_move_is_enough() -> None:
    polls = [group(at(5, 3), at(one, 3, partition=1)) for one in range(4)]
    assert after(*polls)[0] == {"g": {"t": 300}}


def test_a_group_without_a_member_is_unread_until_it_has_one_or_commits() -> None:
    alone = group(at(5, 3), members=0)
    assert after(alone, alone, alone)[1] == {"g": 200}
    assert after(alone, STANDS)[1] == {}
    assert after(alone, group(at(8, 0), members=0))[1] == {}
    assert after(alone, group(at(5, 3), members=0, error="no answer"))[1] == {}
    # A consumer that assigns itself is no member, and commits.
    assert after(alone, group(at(6, 3), members=0))[1] == {}
    assert after(alone, group(at(6, 3), members=0), group(at(6, 3), members=0))[1] == {"g": 0}


def test_a_clock_that_goes_back_makes_no_time_of_the_future() -> None:
    assert after(STANDS, STANDS, step=-50)[0] == {"g": {"t": 0}}


def test_a_group_without_offsets_is_no_error() -> None:
    bare = [{"name": "g", "member_count": 0, "error": "no answer"}]
    assert after(bare, bare) == ({}, {})


def test_ten_thousand_groups_cost_eight_bytes_a_partition_that_stands() -> None:
    groups = [
        one for number in range(10_000) for one in group(*(at(5, 3, partition=p) for p in range(20)), name=f"g{number}")
    ]
    began = time.process_time()
    standing = stood(stood(Standing(), [], groups, 10.0), groups, groups, 20.0)
    assert time.process_time() - began < 10
    assert len(standing.positions) == 10_000
    assert all(times["t"].itemsize * len(times["t"]) == 160 for times in standing.positions.values())
    assert seconds_of(standing, 20.0)[0]["g7"] == {"t": 10.0}

"""What groups with members never commit: a note, and in no sum of lags."""

from __future__ import annotations

from typing import Any

import pytest

from page.known.readers import notes_on, notes_on_all, uncommitted, word_of


def row(index: int, committed: int | None, there: int = 100) -> dict[str, Any]:
    """A position in a log of so many records."""
    if committed is None:
        return {"partition": index, "committed": None, "state": "no_offset", "lag": None, "lag_from_earliest": there}
    return {"partition": index, "committed": committed, "state": "known", "lag": there - committed}


def member(name: str, *partitions: int) -> dict[str, Any]:
    """A member that has these partitions of orders."""
    assignment = [{"topic": "orders", "partitions": list(partitions)}] if partitions else []
    return {"id": f"{name}-1", "client_id": name, "host": "/192.0.2.7", "assignment": assignment}


def group(*rows: dict[str, Any], members: Any = None, **more: Any) -> dict[str, Any]:
    """A group of one topic; unless told otherwise one member has all of its partitions."""
    some = [member("a", *(one["partition"] for one in rows))] if members is None else members
    return {"name": "billing", "type": "classic", "error": None, "member_count": len(some), "members": some,
            "topics": [{"name": "orders", "partitions": list(rows)}], **more}  # fmt: skip


def test_a_group_that_commits_only_some_of_its_partitions_says_which_and_how_much() -> None:
    found = group(row(0, 90), row(1, None, 4000), row(2, None, 879))
    (one,) = uncommitted(found)
    assert (one.topic, one.partitions, one.committed, one.every, one.records) == ("orders", [1, 2], 1, 3, 4879)
    assert word_of(found) == "commits 1 of 3 partitions"
    (note,) = notes_on(found)
    assert (note["severity"], note["what"], note["found"]) == (
        "note",
        "group billing commits only 1 of 3 partitions of orders, 4,879 records are not accounted for",
        "no offset in partition 1, 2",
    )


def test_a_member_that_never_commits_is_named_beside_one_that_does() -> None:
    found = group(row(0, 90), row(1, None, 7118), members=[member("a", 0), member("b", 1), member("idle")])
    assert [note["what"] for note in notes_on(found)][1:] == ["member b at /192.0.2.7 never commits"]
    assert word_of(group(row(0, None), row(1, None))) == "never committed"


@pytest.mark.parametrize(
    "found",
    [
        group(row(0, 90), row(1, 0)),
        group(row(0, 90), row(1, None, 0)),
        group(row(0, 90), row(1, None), members=[member("a", 0)]),
        group(row(0, 90), row(1, None), members=[]),
        group(row(0, None), type="share"),
        group(row(0, None), error="the coordinator did not answer"),
        {"name": "g", "type": "consumer", "error": None, "member_count": 1},
    ],
    ids=["all", "nothing there", "of another", "no member", "share", "not told", "no offsets"],
)
def test_who_commits_what_it_reads_has_no_note(found: dict[str, Any]) -> None:
    assert (uncommitted(found), word_of(found), notes_on(found), notes_on_all([found])) == ([], "", [], [])


def test_where_members_tell_no_partitions_all_of_the_topic_count() -> None:
    assert uncommitted(group(row(0, 90), row(1, None), members=[member("a")]))[0].partitions == [1]


def test_of_a_cluster_there_is_one_note_with_the_furthest_first() -> None:
    some = [{**group(row(0, None, 10 + number)), "name": f"g{number}"} for number in range(7)]
    (note,) = notes_on_all(some)
    assert note["what"] == "7 group(s) with members do not commit all that they read"
    assert note["found"].startswith("g6 never committed in orders, 16 records")
    assert note["found"].endswith("and 2 more")

"""Whether brokers were up is judged over all looks of a run."""

from __future__ import annotations

import time

from spark_validation.smoke.presence import Presence, Watch


def looks(*seen: set[int] | None) -> Presence:
    """A run of brokers 1, 2 and 3 with one look each five seconds; None: nothing answered."""
    presence = Presence({3, 1, 2})
    for number, live in enumerate(seen):
        if live is None:
            presence.missed()
        else:
            presence.saw(live, 1_795_224_000.0 + 5 * number)
    return presence


ALL = {1, 2, 3}


def test_brokers_that_every_look_found_were_up_and_a_new_one_changes_nothing() -> None:
    check = looks(ALL, ALL | {4}, None, ALL).check()
    assert (check.status, check.expected, check.actual, check.suggests) == ("pass", 3, 3, "")


def test_a_broker_that_was_away_in_between_is_named_although_it_is_back() -> None:
    check = looks(ALL, {1, 3}, {1, 3}, {1, 3}, ALL).check()
    assert (check.status, check.actual) == ("fail", 2)
    assert check.suggests == "broker 2 was away for about 10 s from 01:20:05 UTC on and came back: its log says why"
    assert check.examples == [{"broker": 2, "away_seconds": 10.0, "is_back": True}]


def test_a_broker_that_is_away_at_the_end_is_told_from_one_that_came_back() -> None:
    check = looks(ALL, {1, 3}, ALL, {1, 2}).check()
    assert [(example["broker"], example["is_back"]) for example in check.examples] == [(2, True), (3, False)]
    assert "broker 3 went away at 01:20:15 UTC and has not come back" in check.suggests


def test_a_cluster_that_does_not_answer_at_the_end_is_not_judged() -> None:
    assert looks(ALL, None).check().status == "inconclusive"
    assert looks({1, 2}, None).check().status == "fail"


def test_a_watch_asks_all_along_and_once_more_at_the_end() -> None:
    presence, answers = Presence([1]), [[1], [], [1]]
    with Watch(presence, lambda: answers.pop(0) if answers else [1], every=0.01):
        deadline = time.monotonic() + 10
        while answers and time.monotonic() < deadline:
            time.sleep(0.01)
    assert presence.check().examples[0]["is_back"]
    before = presence.looks
    with Watch(presence, list, every=60):
        pass
    assert presence.looks == before + 1
    assert not presence.check().examples[0]["is_back"]

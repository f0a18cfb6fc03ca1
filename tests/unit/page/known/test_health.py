"""What is fresh, by cluster and as a whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from page.core.exposition import exposition
from page.known.freshness import freshness
from page.known.health import health, is_current
from page.known.metrics import families_of_polls
from page.known.picture import Picture, Polls

SEEN = Picture(1000.0, 0.25, 7, 3, 0, {}, [])


@pytest.mark.parametrize(
    ("seen", "now", "status"),
    [(None, 510.0, "unknown"), (None, 900.0, "unknown"), (SEEN, 1010.0, "ok"), (SEEN, 1400.0, "stale"),
     (SEEN, 10.0, "ok")],
)  # fmt: skip
def test_a_cluster_is_unknown_ok_or_stale(seen: Picture | None, now: float, status: str) -> None:
    found = health({"orders": (Polls(500.0), seen)}, now, 300)
    assert (found["status"], found["clusters"]["orders"]["status"]) == (status, status)


def test_a_cluster_of_which_no_server_answers_is_down_at_once() -> None:
    polls = Polls(500.0, 9, 1, "no bootstrap server answered", is_down=True)
    for seen in (SEEN, None):
        found = health({"orders": (polls, seen), "b": (Polls(500.0), None)}, 1001.0, 300)
        assert (found["status"], found["clusters"]["orders"]["status"]) == ("down", "down")


@pytest.mark.parametrize(
    ("judged", "polls", "status"),
    [
        ("DOWN", Polls(500.0), "down"),
        ("DEGRADED", Polls(500.0), "ok"),
        # What was down then may be well now.
        ("DOWN", Polls(500.0, 9, 1, "the coordinator did not answer"), "stale"),
    ],
)
def test_a_cluster_that_is_judged_down_is_down_here_too(judged: str, polls: Polls, status: str) -> None:
    found = health({"orders": (polls, replace(SEEN, cluster={"status": judged}))}, 1001.0, 300)
    assert found["clusters"]["orders"]["status"] == status


def test_what_was_seen_is_told_as_long_as_it_holds() -> None:
    assert is_current(Polls(500.0), SEEN, 1010.0, 300)
    assert not is_current(Polls(500.0), SEEN, 1400.0, 300)
    assert not is_current(Polls(500.0, is_down=True), SEEN, 1010.0, 300)
    assert not is_current(Polls(500.0), None, 510.0, 300)
    # One poll that fails must end no alert.
    assert is_current(Polls(500.0, 9, 1, "the coordinator did not answer"), SEEN, 1010.0, 300)


def test_a_poll_that_failed_makes_a_cluster_stale_at_once_as_on_its_page() -> None:
    polls = Polls(500.0, 9, 1, "the coordinator did not answer")
    assert freshness(polls, SEEN, 1001.0, 300).state == "stale"
    assert health({"orders": (polls, SEEN)}, 1001.0, 300)["status"] == "stale"
    text = exposition([families_of_polls("orders", polls, replace(SEEN, cluster={"status": "OK"}), 1001.0, 300)])
    assert 'streamops_page_cluster_status{cluster="orders",status="UNKNOWN"} 1\n' in text


def test_one_cluster_that_is_not_fresh_is_enough() -> None:
    fresh, old = (Polls(500.0), SEEN), (Polls(500.0), Picture(10.0, 0.25, 7, 3, 0, {}, []))
    unknown = (Polls(500.0, 4, 4, "kafka1:9092: User:secret has no right"), None)
    assert health({"a": fresh, "b": fresh}, 1001.0, 300)["status"] == "ok"
    assert health({"a": fresh, "b": old}, 1001.0, 300)["status"] == "stale"
    found = health({"a": fresh, "b": old, "c": unknown}, 1001.0, 300)
    assert found["status"] == "unknown"
    assert [one["status"] for one in found["clusters"].values()] == ["ok", "stale", "unknown"]
    assert found["clusters"]["c"] == {"status": "unknown", "age_seconds": 501.0, "polls": 4, "polls_failed": 4}
    assert "secret" not in json.dumps(found)

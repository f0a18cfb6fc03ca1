"""How old a picture is, in words, and why it is not newer."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from page.core.exposition import exposition
from page.known.freshness import FAILED, FRESH, LOADING, SILENT, STALE, freshness, health, is_current
from page.known.metrics import families_of_polls
from page.known.picture import Picture, Polls
from page.shown.names import names_in, path
from tests.support.page_seen import HOSTILE

SEEN = Picture(1000.0, 0.25, 7, 3, 0, {}, [])


@pytest.mark.parametrize(
    ("polls", "seen", "now", "state", "what"),
    [
        (Polls(1000.0), None, 1004.0, LOADING, "under way for 4s"),
        (Polls(1000.0, 3, 3, "refused"), None, 1090.0, FAILED, "No poll has succeeded yet."),
        (Polls(500.0), SEEN, 1000.0, FRESH, "Seen 0s ago."),
        (Polls(500.0), SEEN, 10.0, FRESH, "Seen 0s ago."),
        (Polls(500.0), SEEN, 1300.0, FRESH, "Seen 5m00s ago."),
        (Polls(500.0), SEEN, 1301.0, STALE, "Stale. Seen 5m01s ago."),
        (Polls(500.0, 9, 1, "refused"), SEEN, 1001.0, STALE, "Stale: polls fail. Seen 1s ago."),
        (
            Polls(500.0, 9, 1, "silence", True),
            SEEN,
            1001.0,
            SILENT,
            "No server of the cluster answers. Last seen 1s ago.",
        ),
        (Polls(500.0, 9, 9, "silence", True), None, 1001.0, SILENT, "It was never seen from here."),
    ],
)
def test_every_state_has_words(polls: Polls, seen: Picture | None, now: float, state: str, what: str) -> None:
    found = freshness(polls, seen, now, 300)
    assert found.state == state
    assert what in found.what
    assert found.is_fresh == (not found.next_step)
    assert found.taken == ("1970-01-01T00:16:40Z" if seen else None)
    assert found.cause == polls.error or state == STALE


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_every_name_comes_back_from_its_address(name: str) -> None:
    address = path("clusters", name, "groups", name)
    assert address.isascii()
    assert not {"", ".", ".."} & set(address[1:].split("/"))
    assert names_in(address.encode()) == ["clusters", name, "groups", name]


AT_1000 = Picture(1000.0, 0.25, 7, 3, 0, {}, [])


@pytest.mark.parametrize(
    ("seen", "now", "status"),
    [(None, 510.0, "unknown"), (None, 900.0, "unknown"), (AT_1000, 1010.0, "ok"), (AT_1000, 1400.0, "stale"),
     (AT_1000, 10.0, "ok")],
)  # fmt: skip
def test_a_cluster_is_unknown_ok_or_stale(seen: Picture | None, now: float, status: str) -> None:
    found = health({"orders": (Polls(500.0), seen)}, now, 300)
    assert (found["status"], found["clusters"]["orders"]["status"]) == (status, status)


def test_a_cluster_of_which_no_server_answers_is_down_at_once() -> None:
    polls = Polls(500.0, 9, 1, "no bootstrap server answered", is_down=True)
    for seen in (AT_1000, None):
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
    found = health({"orders": (polls, replace(AT_1000, cluster={"status": judged}))}, 1001.0, 300)
    assert found["clusters"]["orders"]["status"] == status


def test_what_was_seen_is_told_as_long_as_it_holds() -> None:
    assert is_current(Polls(500.0), AT_1000, 1010.0, 300)
    assert not is_current(Polls(500.0), AT_1000, 1400.0, 300)
    assert not is_current(Polls(500.0, is_down=True), AT_1000, 1010.0, 300)
    assert not is_current(Polls(500.0), None, 510.0, 300)
    # One poll that fails must end no alert.
    assert is_current(Polls(500.0, 9, 1, "the coordinator did not answer"), AT_1000, 1010.0, 300)


def test_a_poll_that_failed_makes_a_cluster_stale_at_once_as_on_its_page() -> None:
    polls = Polls(500.0, 9, 1, "the coordinator did not answer")
    assert freshness(polls, AT_1000, 1001.0, 300).state == "stale"
    assert health({"orders": (polls, AT_1000)}, 1001.0, 300)["status"] == "stale"
    text = exposition([families_of_polls("orders", polls, replace(AT_1000, cluster={"status": "OK"}), 1001.0, 300)])
    assert 'streamops_page_cluster_status{cluster="orders",status="UNKNOWN"} 1\n' in text


def test_one_cluster_that_is_not_fresh_is_enough() -> None:
    fresh, old = (Polls(500.0), AT_1000), (Polls(500.0), Picture(10.0, 0.25, 7, 3, 0, {}, []))
    unknown = (Polls(500.0, 4, 4, "kafka1:9092: User:secret has no right"), None)
    assert health({"a": fresh, "b": fresh}, 1001.0, 300)["status"] == "ok"
    assert health({"a": fresh, "b": old}, 1001.0, 300)["status"] == "stale"
    found = health({"a": fresh, "b": old, "c": unknown}, 1001.0, 300)
    assert found["status"] == "unknown"
    assert [one["status"] for one in found["clusters"].values()] == ["ok", "stale", "unknown"]
    assert found["clusters"]["c"] == {"status": "unknown", "age_seconds": 501.0, "polls": 4, "polls_failed": 4}
    assert "secret" not in json.dumps(found)

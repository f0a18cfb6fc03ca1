"""How old a picture is, in words, and why it is not newer."""

from __future__ import annotations

import pytest

from page.known.freshness import FAILED, FRESH, LOADING, SILENT, STALE, freshness
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

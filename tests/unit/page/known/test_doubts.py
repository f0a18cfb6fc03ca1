"""What takes several polls: leaders that come and go, and brokers that do not reach their ensemble."""

from __future__ import annotations

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._health.look import AFTER_SESSION, UNLED_SECONDS
from ansible_collections.streamops.kafka.plugins.module_utils._node import quorum_watch
from page.known import doubts
from page.known.doubts import Epoch, ensemble_by_polls, followed_epochs, unread_since, unsteady_by_polls


def polled(epochs: list[int | None], interval: float) -> tuple[Epoch, ...]:
    """Return what is remembered after polls that saw these epochs."""
    kept: tuple[Epoch, ...] = ()
    for number, epoch in enumerate(epochs):
        kept = followed_epochs(kept, 1000 + number * interval, epoch)
    return kept


@pytest.mark.parametrize(
    ("epochs", "interval", "told"),
    [
        ([7], 30, ""),
        ([7, 7, 7], 30, ""),
        # One election, and one with votes that were split, is none that stays.
        ([7, 8, 8], 30, ""),
        ([7, 7, 11, 11], 30, ""),
        ([7, 15, 24], 30, "epochs 7 to 24 within 60 s"),
        # What came between did not answer.
        ([7, None, 24], 30, "epochs 7 to 24 within 60 s"),
        # Too early to say.
        ([7, 15], 30, ""),
        # It has ended.
        ([7, 15, 24, 24, 24], 30, ""),
        # Polls each second, an election in four.
        ([7 + second // 4 for second in range(40)], 1, "epochs 8 to 16 within 32 s"),
        ([7 + second // 10 for second in range(40)], 1, ""),
        # Polls each hour, and an election between two of them.
        ([7, 8, 9, 10], 3600, ""),
    ],
)
def test_a_quorum_is_unsteady_by_the_rate_of_its_elections(
    epochs: list[int | None], interval: float, told: str
) -> None:
    assert unsteady_by_polls(polled(epochs, interval)).get("epochs", "") == told


def test_the_page_and_the_watch_of_controllers_have_the_same_rate() -> None:
    assert (doubts.EPOCHS, doubts.WATCH) == (quorum_watch.EPOCHS, quorum_watch.WATCH)


def test_only_what_a_later_poll_needs_is_remembered() -> None:
    assert len(polled([7] * 1000, 1)) == UNLED_SECONDS + 1
    assert unsteady_by_polls(()) == {}


def test_brokers_that_do_not_reach_their_ensemble_are_told_after_a_session() -> None:
    began = unread_since(None, 100.0, is_unread=True, is_sure=True)
    assert began == 100.0
    assert ensemble_by_polls(began, 100 + AFTER_SESSION - 1) == ""
    # Their threads are used up by now, and they answer nothing else either.
    again = unread_since(began, 130.0, is_unread=True, is_sure=False)
    assert ensemble_by_polls(again, 130.0).startswith("for 30 s no broker has told")
    assert unread_since(began, 130.0, is_unread=False, is_sure=True) is None


def test_a_broker_that_is_silent_says_nothing_of_the_ensemble() -> None:
    assert unread_since(None, 100.0, is_unread=True, is_sure=False) is None
    assert ensemble_by_polls(None, 100.0) == ""

# SPDX-License-Identifier: GPL-3.0-or-later
"""A wait until every broker knows a change goes on while fewer and fewer miss it, and ends where nothing moves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from ansible_collections.streamops.kafka.plugins.module_utils._client import settle
from ansible_collections.streamops.kafka.plugins.module_utils._client.settle import wait_until_none, wait_until_seen
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import StreamopsError, WaitTimeoutError
from ansible_collections.streamops.kafka.plugins.module_utils._core.progress import PATIENCE


class Clock:
    """Stands for the module time: only sleep lets it pass, ten seconds each."""

    def __init__(self) -> None:
        self.now = 1000.0

    def monotonic(self) -> float:
        """Return the seconds so far."""
        return self.now

    def sleep(self, _seconds: float) -> None:
        """Let ten seconds pass."""
        self.now += 10


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that waits for nobody."""
    stands_in = Clock()
    monkeypatch.setattr(settle, "time", stands_in)
    return stands_in


def left(counts: Iterator[int]) -> Sequence[str]:
    """Return as many names as the next number says."""
    return [f"topic {number}" for number in range(next(counts))]


def test_a_wait_that_misses_less_and_less_has_its_whole_time_again(clock: Clock) -> None:
    counts = iter([5, 5, 4, 4, 3, 3, 2, 2, 1, 1, 0])
    wait_until_none("topics", lambda: left(counts), 15)
    assert clock.now == 1100


@pytest.mark.parametrize("counts", [[3] * 99, [3, 4, 3, 4] * 30])
def test_a_wait_in_which_nothing_moves_or_only_to_and_fro_ends_after_its_time(counts: list[int], clock: Clock) -> None:
    looks = iter(counts)
    with pytest.raises(WaitTimeoutError, match="not seen within 20 s"):
        wait_until_none("topics", lambda: left(looks), 15)
    assert clock.now == 1020


def test_no_wait_goes_on_for_ever(clock: Clock) -> None:
    looks = iter(range(10_000, 0, -1))
    with pytest.raises(WaitTimeoutError):
        wait_until_none("topics", lambda: left(looks), 15)
    assert clock.now - 1000 <= PATIENCE * 15 + 10


def test_a_broker_that_does_not_answer_is_no_progress(clock: Clock) -> None:
    """One sentence of an error is less than the hundred names before it."""
    looks = iter(range(99))

    def missing_at(_broker: int) -> list[str]:
        if next(looks) == 0:
            return [f"topic {number}" for number in range(100)]
        raise StreamopsError("no answer")

    with pytest.raises(WaitTimeoutError, match="101 missing"):
        wait_until_seen("topics", lambda: [1], missing_at, 15)
    assert clock.now == 1020

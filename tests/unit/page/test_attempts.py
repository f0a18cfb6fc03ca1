"""Turns of logins by address: slowed down, never locked out, in a table that does not grow."""

from __future__ import annotations

import pytest

from page.attempts import ADDRESSES, AT_ONCE, EVERY, LONGEST_WAIT, Attempts, network


def test_some_are_checked_at_once_then_they_wait_then_they_are_refused() -> None:
    attempts = Attempts()
    turns = [attempts.book("192.0.2.1", 100.0) for _turn in range(1000)]
    assert [turn.seconds for turn in turns[:AT_ONCE]] == [0.0] * AT_ONCE
    assert [turn.seconds for turn in turns[AT_ONCE : AT_ONCE + 2]] == [1.0, 2.0]
    assert not any(turn.refused for turn in turns[: AT_ONCE + 2])
    assert all(turn.refused and 0 < turn.seconds <= 1 for turn in turns[AT_ONCE + 2 :])


def test_an_hour_of_wrong_logins_gets_one_check_a_second_and_locks_nothing_out() -> None:
    attempts = Attempts()
    turns = [attempts.book("192.0.2.1", tick / 100) for tick in range(60_00)]
    checked = sum(not turn.refused for turn in turns)
    assert 60 / EVERY <= checked <= 60 / EVERY + AT_ONCE + LONGEST_WAIT
    assert attempts.book("192.0.2.2", 60.0) == (0.0, False)
    # All that was booked is over by then, so the next one waits a second at most, whatever was wrong before.
    after = attempts.book("192.0.2.1", 60.0 + LONGEST_WAIT)
    assert not after.refused
    assert after.seconds <= 1
    assert attempts.book("192.0.2.1", 60.0 + 20) == (0.0, False)


def test_a_right_login_takes_back_what_was_booked() -> None:
    attempts = Attempts()
    for _turn in range(20):
        attempts.book("192.0.2.1", 5.0)
    attempts.succeeded("192.0.2.1")
    attempts.succeeded("192.0.2.9")
    assert attempts.book("192.0.2.1", 5.0) == (0.0, False)


def test_the_table_is_bounded_and_forgets_what_is_over() -> None:
    attempts = Attempts()
    for number in range(5000):
        attempts.book(f"10.{number >> 8}.{number & 255}.1", 1.0)
    assert len(attempts) == ADDRESSES
    attempts.book("192.0.2.1", 10_000.0)
    assert len(attempts) == 1


@pytest.mark.parametrize(
    ("address", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:2", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("testclient", ""),
    ],
)
def test_an_address_is_counted_with_its_network(address: str, counted: str) -> None:
    assert network(address) == counted

"""What a canary says of events: what came, what is late, what is missing, and that cuts and restarts are no loss."""

from __future__ import annotations

from dataclasses import replace

from canary.event import Place
from canary.ledger import MOST, WINDOW, Account, Ledger, Limits, together

LIMITS = Limits(late=120, missing=3600)
EVERY = 60.0


def place(number: int, series: int = 1) -> Place:
    return Place(series, number)


def written(numbers: range, begins: float = 0.0) -> Ledger:
    """A ledger to which one event a minute was written, of which none came."""
    ledger = Ledger()
    for number in numbers:
        ledger.written(place(number), begins + (number - numbers.start) * EVERY)
    return ledger


def mirrored(numbers: range) -> Ledger:
    """A ledger whose events came a second after they were written."""
    ledger = Ledger()
    for number in numbers:
        ledger.written(place(number), number * EVERY)
        ledger.arrived(place(number), number * EVERY + 1)
    return ledger


def test_nothing_is_wrong_where_nothing_happened() -> None:
    assert Ledger().account(10, LIMITS) == Account()


def test_events_that_come_are_counted_and_nothing_waits() -> None:
    account = mirrored(range(5)).account(4 * EVERY + 11, LIMITS)
    assert account == Account(written=5, arrived=5, last_arrived=10)


def test_a_copy_that_is_read_before_its_original_is_well() -> None:
    ledger = Ledger()
    ledger.arrived(place(0), 1)
    ledger.written(place(0), 2)
    assert ledger.account(500, LIMITS) == Account(written=1, arrived=1, last_arrived=499)


def test_an_event_on_its_way_waits_then_is_late_then_missing() -> None:
    ledger = written(range(1))
    assert ledger.account(120, LIMITS) == Account(written=1, waiting=1, oldest_waiting=120)
    assert ledger.account(121, LIMITS) == Account(written=1, waiting=1, late=1, oldest_waiting=121)
    assert ledger.account(3601, LIMITS) == Account(written=1, missing=1)


def test_a_mirror_that_is_down_for_an_hour_loses_nothing() -> None:
    ledger = written(range(60))
    account = ledger.account(59 * EVERY + 30, LIMITS)
    assert (account.missing, account.late, account.waiting) == (0, 58, 60)
    for number in range(60):
        ledger.arrived(place(number), 3600)
    assert ledger.account(3601, LIMITS) == Account(written=60, arrived=60, last_arrived=1)


def test_nothing_becomes_late_or_missing_while_the_copy_cannot_be_read() -> None:
    ledger = written(range(5))
    assert ledger.account(4000, LIMITS, seen=100) == Account(written=5, waiting=5, oldest_waiting=100)
    assert ledger.account(4000, LIMITS, seen=0) == Account(written=5, waiting=5, oldest_waiting=0)


def test_what_is_missing_stays_so_while_the_copy_cannot_be_read() -> None:
    ledger = written(range(3))
    ledger.arrived(place(2), 150)
    assert ledger.account(280, LIMITS).missing == 2
    assert ledger.account(400, LIMITS, seen=280) == replace(ledger.account(280, LIMITS), last_arrived=250)


def test_an_event_that_was_overtaken_is_missing_soon() -> None:
    ledger = written(range(3))
    ledger.arrived(place(0), 121)
    ledger.arrived(place(2), 122)
    assert ledger.account(122 + 120, LIMITS).missing == 0
    assert ledger.account(122 + 121, LIMITS).missing == 1


def test_the_last_event_is_overtaken_too_where_it_is_asked_for_again() -> None:
    ledger = mirrored(range(3))
    now = WINDOW + 1000.0
    ledger.account(now, LIMITS)
    ledger.written(place(2), now)
    ledger.written(place(3), now)
    ledger.arrived(place(3), now + 1)
    account = ledger.account(now + 1 + LIMITS.late + 1, LIMITS)
    assert (account.missing, account.late) == (1, 0)


def test_an_event_that_comes_behind_a_later_one_is_out_of_order_and_not_missing() -> None:
    ledger = written(range(3))
    for number in (0, 2, 1):
        ledger.arrived(place(number), 200)
    account = ledger.account(1000, LIMITS)
    assert (account.out_of_order, account.missing, account.repeated) == (1, 0, 0)


def test_a_mirror_that_goes_back_repeats_and_disorders_nothing() -> None:
    ledger = mirrored(range(4))
    assert [ledger.arrived(place(number), 300) for number in (2, 3, 4)] == [False, False, True]
    account = ledger.account(301, LIMITS)
    assert (account.repeated, account.out_of_order, account.missing) == (2, 0, 0)


def test_what_stands_twice_at_the_source_is_not_repeated_by_the_mirror() -> None:
    ledger = Ledger()
    for now in (0.0, 1.0):
        ledger.written(place(0), now)
        ledger.arrived(place(0), now + 0.5)
    assert ledger.account(2, LIMITS).repeated == 0
    ledger.arrived(place(0), 3)
    assert ledger.account(4, LIMITS).repeated == 1


def test_a_gap_in_the_numbers_is_missing_also_where_the_source_forgot_it() -> None:
    """After a restart: the source was purged before the mirror copied 3 and 4, and holds only later ones."""
    ledger = Ledger()
    for number in (0, 1, 2, 5):
        ledger.arrived(place(number), 1000, age=600 - number * EVERY)
    ledger.written(place(5), 1000, age=300)
    account = ledger.account(1001, LIMITS)
    assert (account.missing, account.written, account.arrived) == (2, 6, 4)


def test_a_new_series_begins_without_a_gap() -> None:
    ledger = mirrored(range(4))
    ledger.written(place(0, series=2), 300)
    ledger.arrived(place(0, series=2), 301)
    account = ledger.account(600, LIMITS)
    assert (account.missing, account.out_of_order, account.arrived) == (0, 0, 5)


def test_what_a_deleted_topic_held_and_was_not_mirrored_is_missing() -> None:
    """The topic is made anew, numbers go on, and what was not copied of the old one never comes."""
    ledger = mirrored(range(4))
    for number in (4, 5):
        ledger.written(place(number), number * EVERY)
    ledger.arrived(place(5), 301)
    assert ledger.account(301 + 121, LIMITS).missing == 1


def test_a_restart_goes_on_from_what_both_logs_hold() -> None:
    before = Ledger()
    after = Ledger()
    for number in range(10):
        before.written(place(number), number * EVERY)
        after.written(place(number), 600, age=600 - number * EVERY)
    for number in range(8):
        before.arrived(place(number), number * EVERY)
        after.arrived(place(number), 600, age=600 - number * EVERY)
    assert after.account(600, LIMITS) == before.account(600, LIMITS)
    assert after.last_place() == place(9)


def test_a_copy_that_lost_its_beginning_asks_for_nothing_before_its_first_event() -> None:
    ledger = written(range(10))
    for number in range(6, 10):
        ledger.arrived(place(number), 600)
    ledger.begin_where_the_copy_does()
    ledger.written(place(3), 601)
    assert ledger.account(2000, LIMITS).missing == 0


def test_a_copy_that_is_empty_asks_for_nothing_that_is_known() -> None:
    ledger = written(range(3))
    ledger.begin_where_the_copy_does()
    assert ledger.account(600, LIMITS).waiting == 0
    ledger.written(place(3), 600)
    assert ledger.account(800, LIMITS).late == 1


def test_events_that_are_too_old_are_not_asked_for() -> None:
    ledger = Ledger()
    ledger.written(place(0), 0, age=WINDOW + 1)
    assert ledger.account(1, LIMITS) == Account()


def test_the_window_forgets_what_was_wrong() -> None:
    ledger = written(range(3))
    ledger.arrived(place(2), 150)
    assert ledger.account(1000, LIMITS).missing == 2
    assert ledger.account(WINDOW + 300, LIMITS) == Account()
    assert not ledger._overtaken
    assert not ledger._written


def test_the_last_place_is_known_also_when_its_event_is_forgotten() -> None:
    ledger = mirrored(range(3))
    ledger.forget(WINDOW + 1000)
    assert not ledger._written
    assert ledger.last_place() == place(2)


def test_a_ledger_does_not_grow_without_end() -> None:
    ledger = Ledger()
    for number in range(MOST + 100):
        ledger.written(place(number), number / 100)
        ledger.arrived(place(number), number / 100)
    account = ledger.account(MOST / 100, LIMITS)
    assert (account.arrived, account.missing, account.waiting) == (MOST, 0, 0)


def test_a_number_from_nowhere_asks_for_no_more_than_is_remembered() -> None:
    ledger = Ledger()
    ledger.arrived(place(0), 0)
    ledger.arrived(place(10**12), 1)
    assert ledger.account(500, LIMITS).missing == MOST


def test_partitions_together_have_the_oldest_that_waits_and_the_youngest_that_came() -> None:
    parts = [
        Account(written=2, arrived=1, waiting=1, oldest_waiting=50, last_arrived=70),
        Account(1, 1, last_arrived=5),
    ]
    assert together(parts) == Account(3, 2, 1, oldest_waiting=50, last_arrived=5)
    assert together([]) == Account()

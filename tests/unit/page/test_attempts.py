"""Places of logins by address and name: whoever takes many leaves some to others, in a table that does not grow."""

from __future__ import annotations

from collections import Counter

import pytest

from page.attempts import LOGINS, PLACES, SECONDS, Attempts, Remembered, network


def taken(attempts: Attempts, address: str, names: list[str], tries: int = 1000) -> int:
    """How many places somebody gets who tries again and again, with each name in turn."""
    return sum(attempts.take(address, names[number % len(names)]) for number in range(tries))


def test_one_name_of_one_address_gets_a_third_and_leaves_room_for_others() -> None:
    attempts = Attempts()
    assert taken(attempts, "192.0.2.1", ["ann"]) == PLACES // 3 == 8
    assert attempts.take("192.0.2.1", "ben"), "another name"
    assert attempts.take("192.0.2.2", "ann"), "another address"


def test_a_few_names_of_one_address_keep_out_no_other_name() -> None:
    attempts = Attempts()
    assert taken(attempts, "192.0.2.1", ["a", "b", "c"]) < PLACES // 2
    assert attempts.take("192.0.2.1", "ann")


@pytest.mark.parametrize("names", [["ann"], [f"name{number}" for number in range(100)]])
@pytest.mark.parametrize("addresses", [1, 2, 3, 10, PLACES - 1])
def test_however_many_names_some_addresses_try_another_address_has_a_place(addresses: int, names: list[str]) -> None:
    attempts = Attempts()
    for number in range(1000):
        attempts.take(f"192.0.2.{number % addresses}", names[number % len(names)])
    assert len(attempts) < PLACES
    assert attempts.take("198.51.100.1", "ann")


def test_a_place_that_was_given_back_is_free_and_leaves_nothing_in_the_table() -> None:
    attempts = Attempts()
    count = taken(attempts, "192.0.2.1", ["ann"])
    assert not attempts.take("192.0.2.1", "ann")
    for _login in range(count):
        attempts.leave("192.0.2.1", "ann")
    assert vars(attempts)["_under_way"] == Counter()
    assert len(vars(attempts)["_under_way"]) == 0
    assert taken(attempts, "192.0.2.1", ["ann"]) == count


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


def test_a_login_is_remembered_as_a_whole_and_prolonged_by_use() -> None:
    remembered = Remembered(b"secret")
    remembered.add("192.0.2.1", "a", b"one", 100.0)
    assert remembered.has("192.0.2.1", "a", b"one", 100.0 + SECONDS - 1)
    assert remembered.has("192.0.2.1", "a", b"one", 100.0 + 2 * SECONDS - 2)
    assert not remembered.has("192.0.2.1", "a", b"two", 101.0)
    assert not remembered.has("192.0.2.1", "b", b"one", 101.0)
    assert not remembered.has("192.0.2.2", "a", b"one", 101.0)
    assert not remembered.has("192.0.2.1", "a:o", b"ne", 101.0)
    assert not remembered.has("192.0.2.1", "a", b"one", 100.0 + 4 * SECONDS)
    assert len(remembered) == 0


def test_the_login_that_was_not_used_for_longest_makes_room() -> None:
    remembered = Remembered(b"secret")
    for number in range(LOGINS):
        remembered.add("192.0.2.1", str(number), b"x", 1.0)
    assert remembered.has("192.0.2.1", "0", b"x", 2.0)
    remembered.add("192.0.2.1", "new", b"x", 3.0)
    assert len(remembered) == LOGINS
    assert remembered.has("192.0.2.1", "0", b"x", 4.0)
    assert not remembered.has("192.0.2.1", "1", b"x", 4.0)


def test_nothing_in_memory_is_a_password_or_a_plain_digest_of_one() -> None:
    one, other = Remembered(b"secret"), Remembered(b"another")
    for remembered in (one, other):
        remembered.add("192.0.2.1", "user", b"password", 1.0)
    assert b"password" not in repr(vars(one)).encode()
    assert vars(one)["_until"].keys() != vars(other)["_until"].keys()

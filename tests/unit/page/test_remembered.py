"""Logins in memory: only those that were right, for some minutes, and few."""

from __future__ import annotations

from page.remembered import LOGINS, SECONDS, Remembered


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

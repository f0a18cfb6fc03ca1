"""Logins in one event loop: many at once, bounded work."""

from __future__ import annotations

import asyncio
import base64
import time
from typing import Any

import pytest

from page.access import WRONG, Access, Answer
from page.attempts import PLACES
from page.login import digest, is_right, scrypt_of

USERS = {"prometheus": scrypt_of(digest("right", b"s" * 16))}


def basic(password: str, user: str = "prometheus") -> bytes:
    return b"Basic " + base64.b64encode(f"{user}:{password}".encode())


def test_a_right_login_is_let_in_among_a_thousand_wrong_ones() -> None:
    async def run() -> None:
        access = Access(USERS)
        assert await access.judge(basic("right"), "192.0.2.1") == Answer(200, user="prometheus")
        began = time.process_time()
        wrong = [asyncio.ensure_future(access.judge(basic(f"wrong{one}"), "192.0.2.1")) for one in range(1000)]
        await asyncio.sleep(0)
        # From the same address, while they are under way, and again from one that never logged in before.
        assert await access.judge(basic("right"), "192.0.2.1") == Answer(200, user="prometheus")
        assert await Access(USERS).judge(basic("right"), "192.0.2.2") == Answer(200, user="prometheus")
        answers = await asyncio.gather(*wrong)
        assert {one.status for one in answers} == {401, 429}
        assert sum(one.status == 401 for one in answers) == 8, "as many as one name of one address has places"
        assert time.process_time() - began < 10

    asyncio.run(run())


def test_a_right_login_that_is_not_remembered_waits_behind_wrong_ones_and_gets_in() -> None:
    async def run() -> None:
        access = Access(USERS)
        assert await access.judge(basic("right"), "192.0.2.2") == Answer(200, user="prometheus")
        wrong = [asyncio.ensure_future(access.judge(basic("wrong"), "192.0.2.1")) for _login in range(3)]
        await asyncio.sleep(0)
        began = time.monotonic()
        assert await access.judge(basic("wrong", "other"), "192.0.2.1") == Answer(401)
        assert not wrong[-1].done(), "beside them"
        assert await access.judge(basic("right"), "192.0.2.1") == Answer(200, user="prometheus")
        assert all(one.done() for one in wrong), "in the order in which they came, one after the other"
        assert time.monotonic() - began >= 3 * WRONG
        assert len(vars(access)["_turns"]) == 0, "what nobody waits for is forgotten"

    asyncio.run(run())


def test_a_password_is_remembered_for_the_address_that_had_it_alone() -> None:
    async def run() -> None:
        access = Access(USERS)
        assert await access.judge(basic("right"), "192.0.2.2") == Answer(200, user="prometheus")
        guesses = [access.judge(basic(f"wrong{number}"), "192.0.2.1") for number in range(50)]
        *_answers, right = await asyncio.gather(*guesses, access.judge(basic("right"), "192.0.2.1"))
        assert right == Answer(429), "a guess that is right is not let in among more than are checked"

    asyncio.run(run())


def test_logins_that_are_right_and_come_at_once_are_derived_once(monkeypatch: pytest.MonkeyPatch) -> None:
    derived = []

    def is_right_(*given: Any) -> bool:
        derived.append(given)
        return is_right(*given)

    monkeypatch.setattr("page.access.is_right", is_right_)

    async def run() -> None:
        access = Access(USERS)
        answers = await asyncio.gather(*(access.judge(basic("right"), "192.0.2.1") for _part in range(8)))
        assert answers == [Answer(200, user="prometheus")] * 8

    asyncio.run(run())
    assert len(derived) == 1


def test_a_flood_from_many_addresses_queues_no_more_than_a_few() -> None:
    async def run() -> None:
        access = Access(USERS)
        assert await access.judge(basic("right"), "192.0.2.1") == Answer(200, user="prometheus")
        flood = (access.judge(basic("wrong"), f"10.0.{one >> 8}.{one & 255}") for one in range(500))
        answers = await asyncio.gather(*flood)
        assert sum(one.status == 401 for one in answers) == PLACES
        assert await access.judge(basic("right"), "10.0.0.1") == Answer(200, user="prometheus")

    asyncio.run(run())


def test_what_is_no_login_costs_nothing() -> None:
    async def run() -> None:
        access = Access(USERS)
        began = time.process_time()
        for header in (None, b"Basic", b"Bearer x") * 300:
            assert await access.judge(header, "192.0.2.1") == Answer(401)
        assert time.process_time() - began < 5
        assert await access.judge(basic("right"), "192.0.2.1") == Answer(200, user="prometheus")

    asyncio.run(run())

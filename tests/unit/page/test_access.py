"""Logins in one event loop: many at once, bounded work."""

from __future__ import annotations

import asyncio
import base64
import time

from page.access import Access, Answer
from page.login import digest, scrypt_of

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
        assert sum(one.status == 401 for one in answers) == 7, "as many as have a turn"
        assert all(one.retry_after >= 1 for one in answers if one.status == 429)
        assert time.process_time() - began < 10

    asyncio.run(run())


def test_a_right_login_that_is_not_remembered_waits_a_second_after_wrong_ones() -> None:
    async def run() -> None:
        access = Access(USERS)
        wrong = (access.judge(basic("wrong"), "192.0.2.1") for _one in range(50))
        await asyncio.gather(*wrong)
        assert await access.judge(basic("right"), "192.0.2.1") == Answer(200, user="prometheus")

    asyncio.run(run())


def test_a_flood_from_many_addresses_queues_no_more_than_a_few() -> None:
    async def run() -> None:
        access = Access(USERS)
        assert await access.judge(basic("right"), "192.0.2.1") == Answer(200, user="prometheus")
        flood = (access.judge(basic("wrong"), f"10.0.{one >> 8}.{one & 255}") for one in range(500))
        answers = await asyncio.gather(*flood)
        assert 2 <= sum(one.status == 401 for one in answers) <= 20
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

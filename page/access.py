"""Let readers in by HTTP basic login, with bounded work whatever they send."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from weakref import WeakValueDictionary

from page.attempts import Attempts, Remembered, network
from page.login import Scrypt, credentials_of, is_right

#: Derivations at once, each 16 MiB and a processor.
_CHECKS = 2
#: Seconds that a wrong login keeps the next one of its address and name waiting.
WRONG = 1.0


@dataclass(frozen=True)
class Answer:
    """What a login gets: C(status) 200, 401 or 429, and with 200 the C(user)."""

    status: int
    user: str = ""


class Access:
    """Judges logins in one event loop; derivations run in threads beside it."""

    def __init__(self, users: Mapping[str, Scrypt]) -> None:
        self._users = users
        self._attempts = Attempts()
        self._remembered = Remembered(secrets.token_bytes(32))
        self._threads = ThreadPoolExecutor(_CHECKS, thread_name_prefix="login")
        #: Each is there as long as a login waits for it or holds it.
        self._turns: WeakValueDictionary[tuple[str, str], asyncio.Lock] = WeakValueDictionary()

    async def judge(self, header: bytes | None, address: str) -> Answer:
        """Return what the login in an Authorization header from an address gets.

        A login that was right from there some minutes ago is let in at once. Others of one address and name are checked
        one after the other, in the order in which they came: a right one after wrong ones waits, and gets in.
        """
        credentials = credentials_of(header)
        if credentials is None:
            return Answer(401)
        (name, password), where = credentials, network(address)
        if self._remembered.has(where, name, password, time.monotonic()):
            return Answer(200, name)
        if not self._attempts.take(where, name):
            return Answer(429)
        try:
            async with self._turns.setdefault((where, name), asyncio.Lock()):
                # A browser asks for a page and all that is in it at once.
                if self._remembered.has(where, name, password, time.monotonic()):
                    return Answer(200, name)
                loop = asyncio.get_running_loop()
                if not await loop.run_in_executor(self._threads, is_right, self._users, name, password):
                    await asyncio.sleep(WRONG)
                    return Answer(401)
        finally:
            self._attempts.leave(where, name)
        self._remembered.add(where, name, password, time.monotonic())
        return Answer(200, name)

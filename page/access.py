"""Let readers in by HTTP basic login, with bounded work whatever they send."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import asyncio
import math
import secrets
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from page.attempts import Attempts
from page.login import Scrypt, credentials_of, is_right
from page.remembered import Remembered

#: Derivations at once, each 16 MiB and a processor.
_CHECKS = 2
#: Logins that wait for their turn or for a check: far fewer than connections, so that others are still answered.
_WAITING = 8
_QUEUED = 16


@dataclass(frozen=True)
class Answer:
    """What a login gets: C(status) 200, 401 or 429, after how many seconds to come back, and with 200 the C(user)."""

    status: int
    retry_after: int = 0
    user: str = ""


class Access:
    """Judges logins in one event loop; derivations run in threads beside it."""

    def __init__(self, users: Mapping[str, Scrypt]) -> None:
        self._users = users
        self._attempts = Attempts()
        self._remembered = Remembered(secrets.token_bytes(32))
        self._threads = ThreadPoolExecutor(_CHECKS, thread_name_prefix="login")
        self._waiting = self._queued = 0

    async def judge(self, header: bytes | None, address: str) -> Answer:
        """Return what the login in an Authorization header from an address gets.

        A login that was right some minutes ago is let in at once: wrong ones from the same address neither delay nor
        lock it out. Others take turns by address (page/attempts.py).
        """
        credentials = credentials_of(header)
        if credentials is None:
            return Answer(401)
        if self._remembered.has(*credentials, time.monotonic()):
            return Answer(200, user=credentials[0])
        turn = self._attempts.book(address, time.monotonic())
        if turn.refused or (turn.seconds and self._waiting >= _WAITING):
            return Answer(429, math.ceil(turn.seconds) or 1)
        if turn.seconds:
            self._waiting += 1
            try:
                await asyncio.sleep(turn.seconds)
            finally:
                self._waiting -= 1
        if self._queued >= _QUEUED:
            return Answer(429, 1)
        self._queued += 1
        try:
            right = await asyncio.get_running_loop().run_in_executor(self._threads, is_right, self._users, *credentials)
        finally:
            self._queued -= 1
        if not right:
            return Answer(401)
        self._attempts.succeeded(address)
        self._remembered.add(*credentials, time.monotonic())
        return Answer(200, user=credentials[0])

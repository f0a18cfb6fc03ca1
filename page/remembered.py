"""Remember logins that were right, so that each scrape need not cost a derivation. Pure: the caller tells the time."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
from collections import OrderedDict

#: Seconds that a login is remembered after its last use; Prometheus comes every 15 to 60 s.
SECONDS = 300.0
#: Logins in memory. Only right ones come in, each user from the addresses where it reads.
LOGINS = 256


class Remembered:
    """Right logins, as digests with a C(secret) of this process: memory that leaks tells no password to try elsewhere.

    Use prolongs a login. That lets in nothing that a check would keep out, since users change by a restart only. A
    login counts for its own address: from another one a password cannot be guessed faster than checks are made.
    """

    def __init__(self, secret: bytes, logins: int = LOGINS) -> None:
        self._secret, self._most = secret, logins
        #: When each login is forgotten, the next one first.
        self._until: OrderedDict[bytes, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._until)

    def has(self, address: str, user: str, password: bytes, now: float) -> bool:
        """Return whether a login is remembered, and remember it longer; C(now) is in seconds."""
        key = self._key(address, user, password)
        if self._until.get(key, now) <= now:
            self._until.pop(key, None)
            return False
        self.add(address, user, password, now)
        return True

    def add(self, address: str, user: str, password: bytes, now: float) -> None:
        """Remember a login that was right; the one that was not used for longest makes room."""
        key = self._key(address, user, password)
        self._until[key] = now + SECONDS
        self._until.move_to_end(key)
        while len(self._until) > self._most:
            self._until.popitem(last=False)

    def _key(self, address: str, user: str, password: bytes) -> bytes:
        # An address has no blank and a user no colon (RFC 7617), so no other login has the same text.
        return hashlib.blake2b(f"{address} {user}:".encode() + password, key=self._secret, digest_size=32).digest()

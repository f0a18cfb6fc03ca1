"""Keep the logins under way, bounded by address and name, and remember those that were right. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import ipaddress
from collections import Counter, OrderedDict

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


#: Logins at once that wait or are checked: far fewer than connections, so that others are still answered. One address
#: with one name gets 8 of them, and each wrong one takes a second: a right one behind them has its turn within the 10 s
#: that Prometheus waits.
PLACES = 24
#: An attacker has a whole network of IPv6 as easily as one address of it.
_IPV6_NETWORK = 64


class Attempts:
    """Logins under way, each an address (C(network)) with a name.

    A name may have as many places as its address has left, and an address as many as all leave free. So whoever takes
    many leaves some to another name, and to another address: the dynamic thresholds of Choudhury and Hahne (IEEE/ACM
    Transactions on Networking 6.2, 1998).
    """

    def __init__(self, places: int = PLACES) -> None:
        self._places = places
        self._under_way: Counter[tuple[str, str]] = Counter()

    def __len__(self) -> int:
        return self._under_way.total()

    def take(self, address: str, name: str) -> bool:
        """Take a place for a login; return whether there is one."""
        of_address = sum(count for (where, _name), count in self._under_way.items() if where == address)
        if self._under_way[address, name] >= self._places - len(self) - of_address:
            return False
        self._under_way[address, name] += 1
        return True

    def leave(self, address: str, name: str) -> None:
        """Give back the place of a login that has its answer."""
        self._under_way -= Counter([(address, name)])


def network(address: str) -> str:
    """Return what of an address is counted: all of IPv4, also where it is mapped, and the network of IPv6."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return ""
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((int(parsed), _IPV6_NETWORK), strict=False))

"""Slow down the logins of each address, with a table that cannot grow. Pure: the caller tells the time."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress
from collections import OrderedDict
from typing import NamedTuple

#: Logins of an address that are checked at once; after them one every EVERY seconds.
AT_ONCE = 5
EVERY = 1.0
#: Longest wait in seconds of a login before it is checked; one that had to wait longer is refused.
LONGEST_WAIT = 2.0
#: Addresses in the table.
ADDRESSES = 1024
#: An attacker has a whole network of IPv6 as easily as one address of it.
_IPV6_NETWORK = 64


class Turn(NamedTuple):
    """When a login may be checked: in C(seconds), or C(refused), then its address may try again after them."""

    seconds: float
    refused: bool


class Attempts:
    """When each address may have its next login checked.

    A login is booked before it is checked, so that a thousand at once are no way around; a right one makes up for it.
    It never locks an address out: the next turn is at most some seconds away however many logins were wrong, since
    refused ones book nothing. This is the leaky bucket of ITU-T I.371 in its form with one time for each address.
    """

    def __init__(self, addresses: int = ADDRESSES) -> None:
        self._most = addresses
        #: When the bucket of an address is empty again, those that came last at the end.
        self._empty: OrderedDict[str, float] = OrderedDict()

    def __len__(self) -> int:
        return len(self._empty)

    def book(self, address: str, now: float) -> Turn:
        """Book the next turn of an address; C(now) is in seconds of a clock that only goes forward."""
        key = network(address)
        empty = max(self._empty.get(key, now), now)
        wait = max(0.0, empty - now - (AT_ONCE - 1) * EVERY)
        if wait > LONGEST_WAIT:
            return Turn(wait - LONGEST_WAIT, refused=True)
        self._empty[key] = empty + EVERY
        self._empty.move_to_end(key)
        self._forget_old(now)
        return Turn(wait, refused=False)

    def succeeded(self, address: str) -> None:
        """Take back what the logins of an address have booked."""
        self._empty.pop(network(address), None)

    def _forget_old(self, now: float) -> None:
        while len(self._empty) > self._most or next(iter(self._empty.values())) <= now:
            self._empty.popitem(last=False)


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

"""Count the logins under way by address and name, so that those of one keep no place from those of others. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import ipaddress
from collections import Counter

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

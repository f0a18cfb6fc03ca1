"""Judge the header Host, so that a site of others cannot read a page without a login through a browser. Pure.

Such a site gives its own name the address 127.0.0.1 (DNS rebinding), and the browser then takes this page for one of
that site. What it sends as Host is still the name of the site.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import re

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[([0-9a-f:.%]+)\]|([^\[\]:@/]+))(?::[0-9]{0,5})?")


def names_served(host: str, has_login: bool) -> frozenset[str] | None:
    """Return the names that a request may be for; None for any.

    C(host) is where the page listens. With a login any name is served: a browser has no login for the name of a site
    of others, and a proxy may keep the name that its reader used.
    """
    return None if has_login else _LOOPBACK | {host.lower()}


def is_served(header: bytes, served: frozenset[str] | None) -> bool:
    """Return whether a request with this header Host may be answered."""
    if served is None:
        return True
    found = _HOST.fullmatch(header.decode("latin-1").lower())
    return found is not None and (found[1] or found[2]) in served

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How a host resolves the names of others, asked as its processes ask (files, DNS, whatever it is set up for)."""

from __future__ import annotations

import concurrent.futures
import socket
from collections.abc import Sequence


def names(wanted: Sequence[str]) -> dict[str, list[str]]:
    """Return the addresses of each name, none for one that this host cannot resolve; all are asked at once."""
    if not wanted:
        return {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(len(wanted), 16)) as pool:
        asked = {name: pool.submit(_addresses, name) for name in wanted}
    return {name: answer.result() for name, answer in asked.items()}


def _addresses(name: str) -> list[str]:
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return sorted({str(address[0]) for *_kind, address in found})

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a host sees of its network: the bytes that interfaces carry, and the addresses of names."""

from __future__ import annotations

import concurrent.futures
import time
from collections.abc import Sequence
from typing import Any

from .._core.network import resolve

COUNTERS = "/proc/net/dev"


def busiest(seconds: float) -> dict[str, Any] | None:
    """The interface that carries most, measured over so many seconds; None where the kernel tells nothing."""
    try:
        before, start = counters(_read()), time.monotonic()
        time.sleep(seconds)
        return rate(before, counters(_read()), time.monotonic() - start)
    except OSError:
        return None


def _read() -> str:
    with open(COUNTERS, encoding="ascii", errors="replace") as file:
        return file.read()


def counters(text: str) -> dict[str, tuple[int, int]]:
    """Bytes received and sent by interface but the loopback: first and ninth number of /proc/net/dev (proc(5))."""
    found = {}
    for line in text.splitlines()[2:]:
        name, _colon, rest = line.partition(":")
        numbers = rest.split()
        if name.strip() != "lo" and len(numbers) >= 9:
            found[name.strip()] = (int(numbers[0]), int(numbers[8]))
    return found


def rate(
    before: dict[str, tuple[int, int]], after: dict[str, tuple[int, int]], seconds: float
) -> dict[str, Any] | None:
    """The interface with the most bytes one way: interface, received and sent in bytes a second.

    Bonds and bridges count what their members count too, so interfaces are compared and not added up.
    """
    rates = [
        (int((after[name][0] - received) / seconds), int((after[name][1] - sent) / seconds), name)
        for name, (received, sent) in before.items()
        if name in after
    ]
    if not rates:
        return None
    received, sent, name = max(rates, key=lambda one: (max(one[0], one[1]), one[2]))
    return {"interface": name, "received_bytes_per_second": received, "sent_bytes_per_second": sent}


def names(wanted: Sequence[str]) -> dict[str, list[str]]:
    """The addresses of each name as processes of this host resolve it, none where it cannot; all are asked at once."""
    if not wanted:
        return {}
    with concurrent.futures.ThreadPoolExecutor(max_workers=min(len(wanted), 16)) as pool:
        asked = {name: pool.submit(_addresses, name) for name in wanted}
    return {name: answer.result() for name, answer in asked.items()}


def _addresses(name: str) -> list[str]:
    try:
        found = resolve(name, None)
    except (OSError, UnicodeError):
        return []
    return sorted({str(address[0]) for *_kind, address in found})

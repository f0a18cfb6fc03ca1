"""Which TCP ports answer: reads a list of [address, port] as JSON on standard input, prints those that are open.

Runs on any machine with Python alone.
"""

from __future__ import annotations

import json
import socket
import sys
from concurrent.futures import ThreadPoolExecutor

PATIENCE = 3.0


def is_open(place: tuple[str, int]) -> bool:
    """Whether somebody takes the connection; a reset, a refusal and silence are all no."""
    try:
        socket.create_connection(place, timeout=PATIENCE).close()
    except OSError:
        return False
    return True


def main() -> None:
    """Tries all of them, 64 at a time."""
    places = [(address, port) for address, port in json.load(sys.stdin)]
    with ThreadPoolExecutor(64) as pool:
        answers = list(pool.map(is_open, places))
    print(json.dumps([place for place, answer in zip(places, answers, strict=True) if answer]))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Measures how long no controller of a cluster says that it is the active one."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Iterable

#: DescribeQuorum in its first version: request header 2 without a client id, and partition 0 of the metadata log.
_API_KEY, _VERSION, _TOPIC = 55, 0, b"__cluster_metadata"
_BODY = b"\x02" + bytes([len(_TOPIC) + 1]) + _TOPIC + b"\x02" + struct.pack(">i", 0) + b"\0\0\0"
_REQUEST = struct.pack(">hhihb", _API_KEY, _VERSION, 1, -1, 0) + _BODY
#: Seconds for one answer of a controller of this machine, and between two looks.
_PATIENCE, _PAUSE = 0.5, 0.02


def leads(port: int, node: int) -> bool:
    """Whether the controller at this port of this machine answers that it leads the quorum, as only the leader does."""
    with (
        contextlib.suppress(OSError, struct.error),
        socket.create_connection(("127.0.0.1", port), _PATIENCE) as channel,
    ):
        channel.sendall(struct.pack(">i", len(_REQUEST)) + _REQUEST)
        answer = _received(channel, struct.unpack(">i", _received(channel, 4))[0])
        # Header: correlation id and no tags. Then the error, one topic, its name, one partition, its index and error.
        at = 5
        if struct.unpack_from(">h", answer, at)[0]:
            return False
        at += 2 + 1 + 1 + len(_TOPIC) + 1
        _index, error, leader = struct.unpack_from(">ihi", answer, at)
        return not error and leader == node
    return False


def _received(channel: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = channel.recv(size - len(found))
        if not part:
            raise ConnectionResetError
        found += part
    return found


class Leaderless:
    """Asks controllers many times a second who leads; C(longest) is the longest time in seconds in which none did.

    C(times) are all such times of more than two looks. The controllers are asked in the order in which one led last.
    """

    def __init__(self, controllers: Callable[[], Iterable[tuple[int, int]]]) -> None:
        self._controllers = controllers
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self.times: list[float] = []
        self.looks = 0

    @property
    def longest(self) -> float:
        """The longest time without an active controller, in seconds."""
        return max(self.times, default=0.0)

    def _look(self) -> None:
        last, since = time.monotonic(), 0
        while not self._stop.is_set():
            known = sorted(self._controllers(), key=lambda one: one[0] != since)
            led = next((node for node, port in known if leads(port, node)), None)
            now = time.monotonic()
            self.looks += 1
            if led is not None:
                if now - last > 5 * _PAUSE:
                    self.times.append(now - last)
                last, since = now, led
            time.sleep(_PAUSE)
        self.times.append(time.monotonic() - last)

    def __enter__(self) -> Leaderless:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

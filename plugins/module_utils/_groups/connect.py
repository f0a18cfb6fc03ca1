# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Read which tasks a worker of Kafka Connect runs, from what its group keeps of it. Pure.

The formats are those of ConnectProtocol (version 0) and IncrementalCooperativeConnectProtocol (from version 1 on). From
version 1 on an assignment says only what is added and what is taken away (IncrementalCooperativeAssignor); what the
worker had before stands in its metadata, as it joined (WorkerCoordinator.onJoinComplete).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

#: A task: the name of its connector, and its number; -1 is the connector itself.
Task = tuple[str, int]


def tasks_of(metadata: bytes, assignment: bytes) -> frozenset[Task]:
    """Return what a worker runs since its group was last balanced; ValueError where the bytes are not of Connect."""
    try:
        before, _revoked = _assignment(_allocation(metadata))
        added, revoked = _assignment(assignment)
    except (struct.error, UnicodeDecodeError) as error:
        raise ValueError(f"these bytes are not of a worker of Kafka Connect: {error}") from error
    return (before - revoked) | added


class _Reader:
    """Takes values of Kafka's protocol from bytes, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, form: str) -> int:
        """Take a number; C(form) as struct names it."""
        value: int = struct.unpack_from(f">{form}", self._data, self._at)[0]
        self._at += struct.calcsize(f">{form}")
        return value

    def taken(self, length: int) -> bytes:
        """Take so many bytes; none for null, which has a negative length."""
        value = self._data[self._at : self._at + max(0, length)]
        if len(value) < length:
            raise struct.error(f"{length} bytes are announced, {len(value)} are there")
        self._at += len(value)
        return value

    def tasks(self) -> Iterator[Task]:
        """Take a list of connectors, each with its tasks."""
        for _connector in range(self.number("i")):
            name = self.taken(self.number("h")).decode()
            for _task in range(self.number("i")):
                yield name, self.number("i")


def _allocation(metadata: bytes) -> bytes:
    """Return the assignment that a worker had when it joined; empty before version 1, which takes all away then."""
    reader = _Reader(metadata)
    if not metadata or reader.number("h") < 1:
        return b""
    reader.taken(reader.number("h"))  # The URL of the worker.
    reader.number("q")  # How far it has read the configurations.
    return reader.taken(reader.number("i"))


def _assignment(data: bytes) -> tuple[frozenset[Task], frozenset[Task]]:
    """Return what an assignment adds, and what it takes away."""
    if not data:
        return frozenset(), frozenset()
    reader = _Reader(data)
    version = reader.number("h")
    reader.number("h")  # An error.
    for _text in ("leader", "URL of the leader"):
        reader.taken(reader.number("h"))
    reader.number("q")  # How far the leader has read the configurations.
    added = frozenset(reader.tasks())
    return added, frozenset(reader.tasks()) if version >= 1 else frozenset()

"""Let few reads run at once: one of each reader, and some of all."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from page.records import bounds


class TooManyError(Exception):
    """A read that must wait: C(status) 429 where the reader has one under way, 503 where others have all of them."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


class Gate:
    """Counts the reads under way. A read that gets no place waits for none: threads of the service are few."""

    def __init__(self, most: int = bounds.READS) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._readers: set[str] = set()

    @contextmanager
    def place(self, user: str) -> Iterator[None]:
        """Take a place for the time of a read. Raises TooManyError."""
        with self._lock:
            if user in self._readers:
                raise TooManyError(429, "Another read of yours is under way, and each reader has one at a time.")
            if len(self._readers) >= self._most:
                raise TooManyError(503, f"{self._most} other readers read now, and no more may at a time.")
            self._readers.add(user)
        try:
            yield
        finally:
            with self._lock:
                self._readers.discard(user)

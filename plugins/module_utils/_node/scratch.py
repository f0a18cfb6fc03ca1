# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A directory for what a program of Kafka or Java is given to read: of this user alone, and gone in the end."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def scratch(purpose: str) -> Iterator[str]:
    """Make a directory of our own (0700), whose name tells its C(purpose), and remove it with all that is in it."""
    place = tempfile.mkdtemp(prefix=f"kafka-{purpose}-")
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def write(place: str, name: str, text: str) -> str:
    """Write a new file (0600) into such a directory; its path."""
    path = os.path.join(place, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        file.write(text)
    return path


def write_bytes(place: str, name: str, content: bytes) -> str:
    """Write a new file (0600) into such a directory, in directories of its own where C(name) has any; its path."""
    path = os.path.join(place, name)
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
    return path

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a program of Kafka or Java is given: a directory of this user alone, gone in the end, and silent loggers."""

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


_FILES = {
    "log4j.properties": "log4j.rootLogger=OFF\n",
    "log4j2.properties": "status=off\nrootLogger.level=off\n",
}
_OPTIONS = {"log4j.properties": "-Dlog4j.configuration", "log4j2.properties": "-Dlog4j2.configurationFile"}


def prepare(place: str) -> None:
    """Write the configurations into a directory of scratch."""
    for name, text in _FILES.items():
        write(place, name, text)


def options(place: str) -> list[str]:
    """Return the arguments of Java that have a tool read them."""
    return [f"{option}=file:{os.path.join(place, name)}" for name, option in _OPTIONS.items()]

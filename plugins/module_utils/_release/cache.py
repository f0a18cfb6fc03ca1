# Copyright: the streamops engineers
# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The cache on the control node: where things lie, one writer at a time, and nothing half done in sight."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from .errors import CacheBusy

_POLL = 0.2


def default_directory(environment: Mapping[str, str]) -> str:
    """The cache directory by the XDG rules: $XDG_CACHE_HOME, else ~/.cache."""
    base = environment.get("XDG_CACHE_HOME") or os.path.join(environment.get("HOME", "/"), ".cache")
    return os.path.join(base, "streamops-kafka")


@dataclass(frozen=True)
class Cache:
    """The directories of a cache: finished archives, verified downloads, work in progress, locks."""

    root: str

    def prepare(self) -> None:
        """Make the directories."""
        for directory in (self.releases, self.downloads, self.staging, self.locks):
            os.makedirs(directory, exist_ok=True)

    @property
    def releases(self) -> str:
        """Directory of the finished archives."""
        return os.path.join(self.root, "releases")

    @property
    def downloads(self) -> str:
        """Directory of what was downloaded from a URL."""
        return os.path.join(self.root, "downloads")

    @property
    def staging(self) -> str:
        """Directory of what is being made; nothing in it is ever used."""
        return os.path.join(self.root, "staging")

    @property
    def locks(self) -> str:
        """Directory of the lock files of running makers."""
        return os.path.join(self.root, "locks")

    def archive(self, name: str) -> str:
        """Return where the archive of a release lies."""
        return os.path.join(self.releases, f"{name}.tar")


@contextlib.contextmanager
def exclusive(path: str, seconds: float) -> Iterator[None]:
    """Hold the lock C(path); CacheBusy after C(seconds). The kernel frees it when its holder dies."""
    deadline = time.monotonic() + seconds
    with open(path, "a+", encoding="utf-8") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError as error:
                if time.monotonic() > deadline:
                    file.seek(0)
                    raise CacheBusy(
                        f"Lock {path}",
                        f"process {file.read().strip() or 'unknown'} has held it for more than {seconds:g} s",
                        "Wait for the other run to end, then run again.",
                    ) from error
                time.sleep(_POLL)
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


@contextlib.contextmanager
def workplace(directory: str, prefix: str) -> Iterator[str]:
    """An own directory for work in progress, gone afterwards whatever happens."""
    path = tempfile.mkdtemp(dir=directory, prefix=f"{prefix}.")
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)

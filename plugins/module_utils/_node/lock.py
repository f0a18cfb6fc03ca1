# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""One run at a time may change a cluster: a lock in a file on one of the cluster's own machines.

The file is empty when nobody holds the lock, else a JSON object {run, owner, purpose, seconds}. Who reads or writes it
holds flock(2) on it meanwhile, so two who ask at once get two answers. Ages are those of the file, by the clock of its
machine alone.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from .._core.errors import StreamopsError

#: Longest time to wait for others who read or write the file, each of whom needs milliseconds.
SECONDS = 15.0
_POLL = 0.02


@dataclass(frozen=True)
class Held:
    """A lock as it was found: who says to hold it (run for programs, owner for people) and for what playbook.

    age -- seconds since its holder took it last. seconds -- the age at which it ends, as its holder said; None when it
    said none, so that the age that whoever asks allows counts.
    """

    run: str
    owner: str
    age: float
    purpose: str = ""
    seconds: float | None = None

    def limit(self, max_age: float) -> float:
        """Return the age in seconds at which this lock ends."""
        return max_age if self.seconds is None else self.seconds


class LockHeldError(StreamopsError):
    """Another run holds the lock."""

    def __init__(self, cluster: str, path: str, held: Held, max_age: float) -> None:
        purpose = f" ({held.purpose})" if held.purpose else ""
        super().__init__(
            f"cluster {cluster}: another run is changing it{purpose}, {held.owner}, since {held.age:.0f} s; two at "
            "once could take more nodes away than the cluster can spare. Nothing was changed by this step. Run again "
            f"when that run has ended. If it was killed, its lock ends by itself after {held.limit(max_age):.0f} s, or "
            f"when {path} is removed, or for a run that is given kafka_ended_run '{held.owner}'.",
            cluster=cluster,
            path=path,
            owner=held.owner,
            purpose=held.purpose,
            run=held.run,
            age=round(held.age),
        )


class LockUnusableError(StreamopsError):
    """The file of the lock cannot be read or written, so nothing is known of other runs."""

    def __init__(self, path: str, error: OSError) -> None:
        super().__init__(
            f"lock {path}: this run cannot keep it there ({error.strerror or error}). Nothing was changed by this "
            "step. fix: let the run become the owner of the nodes' files on this machine, or make room on its disk.",
            path=path,
        )


class LockStuckError(StreamopsError):
    """A process keeps the file of the lock to itself, as one that is frozen in the middle of it."""

    def __init__(self, path: str, process: str, held: Held | None, seconds: float) -> None:
        owner = f", whose lock in it is that of {held.owner}" if held is not None else ""
        super().__init__(
            f"lock {path}: {process} has kept this file to itself for more than {seconds:g} s{owner}, so no run can "
            "take or give back the lock. Nothing was changed by this step. fix: look at that process on this machine "
            "(stopped or frozen?), let it go on or end it, then run again.",
            path=path,
            process=process,
            seconds=seconds,
        )


def take(
    path: str, run: str, owner: str, max_age: float, dead: str = "", ended: str = "", purpose: str = ""
) -> tuple[bool, Held | None]:
    """Take the lock for max_age seconds; return whether it is this run's now, and the lock that was found.

    A run that has it already takes it anew. The lock of another run gives way when it is older than its holder said,
    when its run is the dead one, or when its owner is the one that an operator says has ended. The directory of the
    file is made where it is missing, as before the first installation.
    """
    os.makedirs(os.path.dirname(path), mode=0o755, exist_ok=True)
    with _open(path) as file:
        found = _read(file)
        if found is not None and stands(found, run, max_age, dead, ended):
            return False, found
        _write(file, json.dumps({"run": run, "owner": owner, "purpose": purpose, "seconds": max_age}))
        return True, found if found is not None and found.run != run else None


def release(path: str, run: str) -> bool:
    """Give the lock back if it is still this run's; return whether it was."""
    if not os.path.exists(path):
        return False
    with _open(path) as file:
        found = _read(file)
        mine = found is not None and found.run == run
        if mine:
            _write(file, "")
        return mine


def stands(found: Held, run: str, max_age: float, dead: str, ended: str = "") -> bool:
    """Return whether a lock that was found keeps this run away."""
    if found.run in (run, dead or run) or (ended and found.owner == ended):
        return False
    return found.age <= found.limit(max_age)


def look(path: str, run: str, max_age: float, dead: str = "", ended: str = "") -> Held | None:
    """Return who else holds the lock, None when nobody does; changes nothing."""
    try:
        with open(path, encoding="utf-8") as file:
            found = _read(file)
    except FileNotFoundError:
        return None
    return found if found is not None and stands(found, run, max_age, dead, ended) else None


@contextlib.contextmanager
def _open(path: str) -> Iterator[TextIO]:
    """The file, made when it is not there, locked against all others who open it so."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+", encoding="utf-8") as file:
        deadline = time.monotonic() + SECONDS
        while not _locked(file):
            if time.monotonic() >= deadline:
                raise LockStuckError(path, _process_at(file), _read(file), SECONDS)
            time.sleep(_POLL)
        yield file


def _locked(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _process_at(file: TextIO) -> str:
    """The process that holds flock(2) on a file, as the kernel names it."""
    inode = str(os.fstat(file.fileno()).st_ino)
    with contextlib.suppress(OSError):
        for line in Path("/proc/locks").read_text().splitlines():
            # 1: FLOCK ADVISORY WRITE 4711 fd:01:131098 0 EOF; one that waits has an arrow before FLOCK.
            words = line.split()
            if words[1] == "FLOCK" and words[5].rpartition(":")[2] == inode:
                return f"process {words[4]}{_name_of(words[4])}"
    return "a process that the kernel does not name here"


def _name_of(pid: str) -> str:
    try:
        return f" ({Path('/proc', pid, 'comm').read_text().strip()})"
    except OSError:
        return ""


def _read(file: TextIO) -> Held | None:
    """Return who holds the lock; what cannot be understood was written by somebody all the same."""
    text = file.read()
    if not text:
        return None
    age = max(0.0, time.time() - os.fstat(file.fileno()).st_mtime)
    try:
        said: Any = json.loads(text)
        seconds = said.get("seconds")
        limit = None if seconds is None else float(seconds)
        return Held(str(said["run"]), str(said["owner"]), age, str(said.get("purpose", "")), limit)
    except (ValueError, KeyError, TypeError, AttributeError):
        return Held("", "a run that cannot be named", age)


def _write(file: TextIO, text: str) -> None:
    file.seek(0)
    file.truncate()
    file.write(text)
    file.flush()
    os.utime(file.fileno())  # Truncating an empty file alone would leave its age.

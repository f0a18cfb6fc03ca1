"""Read a directory of reports, and nothing outside of it.

Below it are folders, in these X.html with X.json beside it, or directories with report.html and report.json or
result.json. Names come from the directory alone: a reader sends a key, which is compared with those of what is there.
Symbolic links are not followed at any step, and what is no regular file is not opened.
"""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

import hashlib
import os
import stat
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from page.filed.told import Told, told_of

#: Bytes of the largest report that is served, of the largest JSON that is read, and of all that one look reads anew.
LARGEST_PAGE = 20_000_000
LARGEST_DATA = 4_000_000
_AT_ONCE = 32_000_000
#: Reports that are listed, and names of the directory that are looked at.
MOST_REPORTS = 1_000
MOST_NAMES = 20_000
_PAGE, _DATA = ".html", ".json"
#: The names of a report in a directory of its own, and of its data.
_REPORT, _RESULT = "report.html", "result.json"
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
#: What makes a file the same: device, inode, bytes, times of its content and of its attributes in ns.
_Same = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class Report:
    """One report: C(parts) is its path below the directory, C(written) in seconds since 1970, C(size) in bytes."""

    key: str
    parts: tuple[str, ...]
    size: int
    written: float
    told: Told = field(default_factory=Told)

    @property
    def folder(self) -> str:
        """The folder that it is in."""
        return self.parts[0]

    @property
    def name(self) -> str:
        """Its path in the folder."""
        return "/".join(self.parts[1:])

    @property
    def begun(self) -> float:
        """When what it tells of began, or else when it was written, in seconds since 1970."""
        return self.written if self.told.began is None else self.told.began

    @property
    def is_served(self) -> bool:
        """Whether it is small enough."""
        return self.size <= LARGEST_PAGE


@dataclass(frozen=True)
class Shelved:
    """What is there: the newest C(reports), C(left_out) older ones, and why it is not known; empty when it is."""

    reports: Sequence[Report] = ()
    left_out: int = 0
    problem: str = ""
    is_cut: bool = False


class Shelf:
    """The directory C(root); empty where there is none. What JSON told is remembered while its file is the same."""

    def __init__(self, root: str) -> None:
        self._root = root
        self._turn = threading.Lock()
        self._told: dict[str, tuple[_Same, Told]] = {}

    def look(self) -> Shelved:
        """Return the reports that are there now. One look at a time, so that its cost stays that of one."""
        if not self._root:
            return Shelved(problem="no directory of reports is set")
        with self._turn:
            try:
                root = os.open(self._root, _DIRECTORY)
            except OSError as error:
                return Shelved(problem=f"{self._root} cannot be read: {error.strerror}")
            try:
                return self._seen(root)
            except OSError as error:
                return Shelved(problem=f"{self._root} cannot be read: {error.strerror}")
            finally:
                os.close(root)

    def page(self, report: Report) -> bytes | None:
        """Return a report, None where it is not there any more, or cannot be read, or is too large now."""
        return self._content(report.parts, LARGEST_PAGE)

    def data(self, report: Report) -> bytes | None:
        """Return the JSON beside a report, None where there is none."""
        for name in _data_names(report.parts[-1]):
            found = self._content((*report.parts[:-1], name), LARGEST_DATA)
            if found is not None:
                return found
        return None

    def _content(self, parts: tuple[str, ...], most: int) -> bytes | None:
        try:
            root = os.open(self._root, _DIRECTORY)
        except OSError:
            return None
        try:
            with _opened(root, parts) as file:
                return _read(file, most)
        except OSError:
            return None
        finally:
            os.close(root)

    def _seen(self, root: int) -> Shelved:
        budget = _Budget(MOST_NAMES)
        found = sorted(_found(root, budget), key=lambda one: (-one.written, one.parts))
        left = _AT_ONCE
        shown = []
        known: dict[str, tuple[_Same, Told]] = {}
        for one in found[:MOST_REPORTS]:
            same, told, used = self._telling(root, one, left)
            left -= used
            if same:
                known[one.key] = same, told
            shown.append(Report(one.key, one.parts, one.size, one.written, told))
        self._told = known
        return Shelved(shown, len(found) - len(shown), is_cut=budget.left < 0)

    def _telling(self, root: int, report: Report, left: int) -> tuple[_Same | None, Told, int]:
        """Return what the JSON of a report tells, its file, and the bytes that were read anew of C(left)."""
        for name in _data_names(report.parts[-1]):
            try:
                with _opened(root, (*report.parts[:-1], name)) as file:
                    at = os.fstat(file)
                    same = at.st_dev, at.st_ino, at.st_size, at.st_mtime_ns, at.st_ctime_ns
                    before = self._told.get(report.key)
                    if before and before[0] == same:
                        return same, before[1], 0
                    if at.st_size > LARGEST_DATA:
                        said = f"The JSON beside it has {at.st_size:,} bytes; at most {LARGEST_DATA:,} are read."
                        return None, Told(said=said), 0
                    if at.st_size > left:
                        return None, Told(said="Not read yet, as others came before it. Look again."), 0
                    text = _read(file, LARGEST_DATA)
            except FileNotFoundError:
                continue
            except OSError as error:
                return None, Told(said=f"The JSON beside it cannot be read: {error.strerror}."), 0
            if text is None:
                return None, Told(said="The JSON beside it is being written. Look again."), 0
            return same, told_of(text.decode("utf-8", "replace")), len(text)
        return None, Told(said="There is no JSON beside it."), 0


class _Budget:
    """Counts names, so that a directory of millions takes no longer than one of some thousands."""

    def __init__(self, left: int) -> None:
        self.left = left

    def is_spent(self) -> bool:
        """Take one; return whether there was none."""
        self.left -= 1
        return self.left < 0


def _found(root: int, budget: _Budget) -> Iterator[Report]:
    for folder, is_directory in _names(root, budget):
        if not is_directory:
            continue
        try:
            with _opened(root, (folder,), is_directory=True) as there:
                for name, is_own in [*_names(there, budget)]:
                    parts = (folder, name, _REPORT) if is_own else (folder, name)
                    if is_own or name.endswith(_PAGE):
                        yield from _report(root, parts)
        except OSError:
            # It may not be read, or is gone meanwhile: others are.
            continue


def _report(root: int, parts: tuple[str, ...]) -> Iterator[Report]:
    try:
        with _directory(root, parts[:-1]) as there:
            at = os.stat(parts[-1], dir_fd=there, follow_symlinks=False)
    except OSError:
        return
    if stat.S_ISREG(at.st_mode):
        key = hashlib.sha256(b"/".join(os.fsencode(one) for one in parts)).hexdigest()[:32]
        yield Report(key, parts, at.st_size, at.st_mtime)


def _names(directory: int, budget: _Budget) -> Iterator[tuple[str, bool]]:
    """Yield what is in an open directory, and whether it is a directory itself; a link is none."""
    with os.scandir(directory) as entries:
        for one in entries:
            if budget.is_spent():
                return
            yield one.name, one.is_dir(follow_symlinks=False)


def _data_names(page: str) -> list[str]:
    return [page.removesuffix(_PAGE) + _DATA, *([_RESULT] if page == _REPORT else [])]


@contextmanager
def _directory(root: int, parts: Sequence[str]) -> Iterator[int]:
    """Open a directory below another one, step by step. Raises OSError, also for a link."""
    there = os.dup(root)
    try:
        for one in parts:
            deeper = os.open(one, _DIRECTORY | os.O_NOFOLLOW, dir_fd=there)
            os.close(there)
            there = deeper
        yield there
    finally:
        os.close(there)


@contextmanager
def _opened(root: int, parts: Sequence[str], is_directory: bool = False) -> Iterator[int]:
    """Open a regular file, or a directory, below another one. Raises OSError for all else."""
    if is_directory:
        with _directory(root, parts) as there:
            yield there
        return
    with _directory(root, parts[:-1]) as there:
        file = os.open(parts[-1], _FLAGS, dir_fd=there)
    try:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise OSError(0, "it is no regular file")
        yield file
    finally:
        os.close(file)


def _read(file: int, most: int) -> bytes | None:
    """Return the whole of an open file; None where it has more than C(most) bytes."""
    left, found = most + 1, []
    while left and (part := os.read(file, min(left, 1 << 20))):
        found.append(part)
        left -= len(part)
    return b"".join(found) if left else None

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Files of other people's installations, read and never changed; what cannot be read is noted with its reason."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat as modes
from collections.abc import Iterator, Sequence

from .._core.commands import Rights, rights_of

#: More than any file of settings has; what is larger is none.
_LIMIT = 1 << 20
#: Enough of a store to know its kind: a PEM file may begin with the attributes of its bags.
_HEAD = 1 << 16
_CHUNK = 1 << 20
#: A relative path is no file of the directory that this module works in.
RELATIVE = "it is relative, and this user may not see where the process works"


class Files:
    """Reads files for one process. C(digests) may be shared by several, since their jars are often the same.

    rights -- with which files are opened, None for ours.
    """

    def __init__(self, digests: dict[str, str] | None = None, rights: Rights | None = None) -> None:
        self.unread: dict[str, str] = {}
        self._digests = {} if digests is None else digests
        self.rights = rights

    def named_by(self, rights: Rights) -> Files:
        """Return a reader of what a process names, with what that process may read, and one list of what is unread.

        Anybody may start a process that names the files of others as its settings: root would show them.
        """
        theirs = Files(self._digests, rights if os.geteuid() == 0 else None)
        theirs.unread = self.unread
        return theirs

    def text(self, path: str, encoding: str = "utf-8", is_optional: bool = False) -> str | None:
        """Return a file as text, None where it cannot be read; one that may be missing is then not written down."""
        content = self._read(path, _LIMIT + 1, is_optional)
        if content is not None and len(content) > _LIMIT:
            self.unread[path] = f"it has more than {_LIMIT} bytes"
            return None
        return None if content is None else content.decode(encoding, "backslashreplace")

    def head(self, path: str) -> bytes | None:
        """Return how a file begins, None where it cannot be read."""
        return self._read(path, _HEAD)

    def digest(self, path: str) -> str | None:
        """Return the SHA-256 of a file, None where it cannot be read."""
        if path not in self._digests:
            value = hashlib.sha256()
            try:
                with self._opened(path) as number:
                    while chunk := os.read(number, _CHUNK):
                        value.update(chunk)
            except OSError as problem:
                self.unread[path] = _why(problem)
                return None
            self._digests[path] = value.hexdigest()
        return self._digests[path]

    def names(self, directory: str) -> Sequence[str]:
        """Return the names in a directory, none where it cannot be read."""
        try:
            _refuse_relative(directory)
            with rights_of(self.rights):
                return os.listdir(directory)
        except OSError as problem:
            self.unread[directory] = _why(problem)
            return ()

    def link(self, path: str) -> str:
        """Return where a symbolic link goes, "" where it cannot be read."""
        try:
            return os.readlink(path)
        except OSError as problem:
            self.unread[path] = _why(problem)
            return ""

    def _read(self, path: str, limit: int, is_optional: bool = False) -> bytes | None:
        parts: list[bytes] = []
        try:
            with self._opened(path) as number:
                # A file of /proc gives no more than a page at once.
                while limit > 0 and (part := os.read(number, limit)):
                    parts.append(part)
                    limit -= len(part)
        except OSError as problem:
            if not (is_optional and isinstance(problem, FileNotFoundError)):
                self.unread[path] = _why(problem)
            return None
        return b"".join(parts)

    @contextlib.contextmanager
    def _opened(self, path: str) -> Iterator[int]:
        _refuse_relative(path)
        # A pipe that nobody writes to would hold a reader for ever: it is opened without waiting, and left.
        with rights_of(self.rights):
            number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if not modes.S_ISREG(os.fstat(number).st_mode):
                raise _NoFileError(0, "it is no regular file")
            yield number
        finally:
            os.close(number)


class _NoFileError(OSError):
    """Something that is there and is no file, such as a pipe or a device."""


def _refuse_relative(path: str) -> None:
    if not os.path.isabs(path):
        raise _NoFileError(0, RELATIVE)


def _why(problem: OSError) -> str:
    return problem.strerror or str(problem)

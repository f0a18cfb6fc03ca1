# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What a node is to be on its machine: properties, Java arguments, directories, files and who may read them. Pure.

One `Manifest` holds all that the roles write for a node, compare its process with, and have judged before. It is the
same type for brokers, controllers, servers of ZooKeeper and mirrors; `kinds.py` makes it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from posixpath import basename, dirname
from typing import Any

from ...module_utils._core.compared import declare

#: What a change of a file needs. RESTART: a restart, whatever changed in it. KEYS: what the changed keys or arguments
#: need (module_utils/_node/restart_reasons.py). LIVE: nothing, the running process reads it again. START: nothing, the
#: next start reads it.
RESTART, KEYS, LIVE, START = "restart", "keys", "live", "start"


@dataclass(frozen=True)
class Access:
    """Who owns a file or directory, and its permissions as an octal string; an owner of None is left alone."""

    mode: str
    owner: str | None
    group: str | None

    def plain(self) -> dict[str, Any]:
        """Return it as the modules take it."""
        return {"mode": self.mode, "owner": self.owner, "group": self.group}


@dataclass(frozen=True)
class Directory:
    """A directory of a node."""

    path: str
    access: Access

    def plain(self) -> dict[str, Any]:
        """Return it as the module node_files takes it."""
        return {"path": self.path, **self.access.plain()}


@dataclass(frozen=True)
class File:
    """A file of a node: where it is on the machine, its whole text, and what a change of it needs.

    secret -- whether no output may show its text. needs -- RESTART, KEYS, LIVE or START.
    """

    path: str
    content: str
    access: Access
    secret: bool = False
    needs: str = RESTART

    @property
    def name(self) -> str:
        """Its name without its directory."""
        return basename(self.path)

    def plain(self) -> dict[str, Any]:
        """Return it as the modules node_files and node_generation take it."""
        return {"path": self.path, "content": self.content, **self.access.plain()}


@dataclass(frozen=True)
class Manifest:
    """All that a node is started with, and the directories around it.

    config -- the directory of its configuration. Files right in it are read at a start, and are switched as one set.
    properties -- its native properties; jvm -- its Java arguments; limits -- what its service gives the process beyond
    its files, by the name of the variable.
    """

    config: str
    properties: Mapping[str, Any]
    jvm: tuple[str, ...]
    limits: Mapping[str, Any]
    directories: tuple[Directory, ...]
    files: tuple[File, ...]

    def after(self, files: Iterable[File]) -> Manifest:
        """Return the manifest with these files before its own."""
        return replace(self, files=(*files, *self.files))

    def start_files(self) -> list[File]:
        """Return the files that belong to its generation."""
        return [file for file in self.files if dirname(file.path) == self.config]

    def other_files(self) -> list[File]:
        """Return the files that nodes share, or that are read while the node runs."""
        return [file for file in self.files if dirname(file.path) != self.config]

    def watched(self) -> list[File]:
        """Return the files of which any change needs a restart, by path."""
        return sorted((file for file in self.files if file.needs == RESTART), key=lambda file: file.path)

    def wanted(self) -> dict[str, Any]:
        """Return what its process should run with, as the module node_info takes it: no secret is in it."""
        return {
            "properties": declare(self.properties),
            "jvm": list(self.jvm),
            "files": {file.path: digest(file.content) for file in self.watched()},
            "limits": dict(self.limits),
        }


def digest(content: str) -> str:
    """Return the SHA-256 of a text, as the start of a node records it of the file."""
    return hashlib.sha256(content.encode("utf-8", "surrogateescape")).hexdigest()


def shown(files: Iterable[File]) -> list[dict[str, Any]]:
    """Return those of the files whose text may be shown, as modules take them."""
    return [file.plain() for file in files if not file.secret]


def hidden(files: Iterable[File]) -> list[dict[str, Any]]:
    """Return those of the files that are secret, as modules take them."""
    return [file.plain() for file in files if file.secret]


def readable(model: Mapping[str, Any], mode: str) -> Access:
    """Return the access to what a node only reads."""
    return Access(mode, model["owners"]["root"], model["owners"]["group"])


def writable(model: Mapping[str, Any], mode: str) -> Access:
    """Return the access to what a node writes."""
    return Access(mode, model["owners"]["node"], model["owners"]["group"])

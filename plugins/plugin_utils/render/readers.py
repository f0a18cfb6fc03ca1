# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who reads the variables of hosts for the view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from ..inventory.mirror_release import MirrorVariables
from ..inventory.model import GROUPS, MIRROR_GROUP


class Reader(Protocol):
    """Who reads the variables of hosts: task.TaskReader, or a test."""

    host: str

    def read(self, host: str) -> Mapping[str, Any]:
        """The typed variables of a host."""

    def is_host(self, name: str) -> bool:
        """Return whether the inventory has a host of this name."""

    def managed(self, template: str) -> str:
        """The line by which Ansible is known in a file that this template (a path) makes, unless a user sets it."""

    @property
    def groups(self) -> Mapping[str, list[str]]:
        """The groups of the inventory."""

    @property
    def play_hosts(self) -> Sequence[str]:
        """All hosts of the play."""


class MirrorReader:
    """Reads the variables of hosts, of which a mirror has a release of its own (inventory/mirror_release.py)."""

    def __init__(self, reader: Reader) -> None:
        self._reader, self.host = reader, reader.host
        self.is_host, self.managed = reader.is_host, reader.managed

    def read(self, host: str) -> Mapping[str, Any]:
        """The typed variables of a host."""
        found = self._reader.read(host)
        members = {group for group in GROUPS.values() if host in self.groups.get(group, ())}
        return MirrorVariables(found) if members == {MIRROR_GROUP} else found

    @property
    def groups(self) -> Mapping[str, list[str]]:
        """The groups of the inventory."""
        return self._reader.groups

    @property
    def play_hosts(self) -> Sequence[str]:
        """All hosts of the play."""
        return self._reader.play_hosts

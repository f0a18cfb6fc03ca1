# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Who listens on a TCP port of this host, from /proc alone (no ss or lsof needed)."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .processes import command, pids

# State LISTEN in /proc/net/tcp (include/net/tcp_states.h).
_LISTEN = "0A"
# Open files looked at in one call, over all processes: a host full of connections must not make this slow.
_BOUND = 200_000


def ports(wanted: Sequence[int], own_pid: int | None) -> dict[str, dict[str, Any] | None]:
    """Return for each port None (nobody listens) or {pid, command, ours, note}.

    own_pid -- the node's process; looked at first, and `ours` says whether it is the one that listens.
    pid is None when the owner cannot be seen: without root, only one's own processes show their sockets.
    """
    inodes = {port: listening(port) for port in wanted}
    searched = {inode for found in inodes.values() for inode in found}
    owners = _owners(searched, [own_pid] if own_pid else [])
    if searched - owners.keys():
        owners.update(_owners(searched - owners.keys(), [pid for pid in pids() if pid != own_pid]))
    return {str(port): _owner(found, owners, own_pid) for port, found in inodes.items()}


def listening(port: int) -> list[int]:
    """Return the inodes of the sockets that listen on this port, of any address, IPv4 and IPv6."""
    return [inode for at, inode in _listeners("/proc/net") if at == port]


def ports_of(pid: int) -> list[int] | None:
    """Return the TCP ports that a process listens on, in order; None where this user may not see its sockets.

    They are read in the network namespace of the process.
    """
    try:
        links = {_link(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")}
    except OSError:
        return None
    return sorted({port for port, inode in _listeners(f"/proc/{pid}/net") if f"socket:[{inode}]" in links})


def _listeners(directory: str) -> Iterator[tuple[int, int]]:
    """Yield (port, inode) of each TCP socket that listens in a namespace of the network, by its directory in /proc."""
    for table in ("tcp", "tcp6"):
        for row in _rows(f"{directory}/{table}"):
            if row[3] == _LISTEN:
                yield int(row[1].rsplit(":", 1)[1], 16), int(row[9])


def _rows(table: str) -> Iterable[list[str]]:
    try:
        with open(table, encoding="ascii") as file:
            return [line.split() for line in file.readlines()[1:]]
    except OSError:
        return []


def _owner(inodes: Sequence[int], owners: dict[int, int], own_pid: int | None) -> dict[str, Any] | None:
    if not inodes:
        return None
    holders = [owners[inode] for inode in inodes if inode in owners]
    if own_pid is not None and own_pid in holders:
        return {"pid": own_pid, "command": command(own_pid), "ours": True, "note": ""}
    if holders:
        return {"pid": holders[0], "command": command(holders[0]), "ours": False, "note": ""}
    note = "the owner cannot be seen by this user; run as root to learn it"
    return {"pid": None, "command": "", "ours": False, "note": note}


def _owners(inodes: set[int], candidates: Iterable[int]) -> dict[int, int]:
    """Map socket inodes to the process that holds them, among these processes."""
    links = {f"socket:[{inode}]": inode for inode in inodes}
    owners: dict[int, int] = {}
    looked = 0
    for pid in candidates:
        if len(owners) == len(links) or looked >= _BOUND:
            break
        # Another user's process, or one that ended meanwhile.
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                looked += 1
                inode = links.get(_link(f"/proc/{pid}/fd/{name}"))
                if inode is not None:
                    owners.setdefault(inode, pid)
    return owners


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the disks of an ensemble belong to the servers that the inventory says, and are not less than they were.

Two servers out of three that lost their disks are a majority: started empty, they elect each other, and the third,
which has everything, follows them and throws its data away. So an empty disk in an ensemble that has run is refused
unless a playbook made for it (replace_node.yml, zookeeper_members.yml) names the server, one at a time. When all of
them are empty, files elsewhere and the data of brokers say whether the ensemble is a new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .rule import Problem

# Above it ZooKeeper refuses to start (QuorumPeerConfig: the id becomes one byte of session ids).
MAX_ID = 255
_UNTOUCHED = "nothing was changed on any host"


@dataclass(frozen=True)
class Server:
    """One server: its id in the inventory, its two directories as node_info saw them (None when it did not answer).

    emptied -- a playbook for single nodes said that its disks are empty on purpose. traces -- files outside of them
    that say that there has been data.
    """

    host: str
    id: int | None
    disks: Sequence[Mapping[str, Any]] | None
    emptied: bool = False
    traces: Sequence[str] = ()

    @property
    def data(self) -> Mapping[str, Any]:
        """The directory with myid and snapshots."""
        return self.disks[0] if self.disks else {}

    @property
    def empty(self) -> bool:
        """Nothing of a server is on its disks: no identity, no election, no log."""
        known = bool(self.disks) and not self.data.get("error")
        return known and not self.ran and self.data.get("myid") is None

    @property
    def ran(self) -> bool:
        """It has been part of a quorum, or has served alone: its data counts."""
        log = self.data.get("myid") is not None and any(disk.get("served") for disk in (self.disks or ())[1:])
        return bool(self.data.get("served")) or log

    @property
    def left(self) -> list[str]:
        """Return what there still is of a server whose data directory is empty."""
        logs = [f"{disk['path']} (transaction log)" for disk in (self.disks or ())[1:] if not disk.get("empty", True)]
        return [*self.traces, *logs]


@dataclass(frozen=True)
class Kind:
    """A kind of what does not fit: what it is, what is allowed, and the fix."""

    what: str
    allowed: str
    fix: str


_UNREADABLE = Kind(
    what="the data directory cannot be read",
    allowed="a directory that can be read, or none",
    fix="repair or mount it",
)
_NO_LOG = Kind(
    what="the transaction log of a server is missing",
    allowed="its log, or no data at all",
    fix="mount the disk and run again: without its log the server forgets what it has acknowledged since its last "
    "snapshot. If the disk is gone, move the data directory away too and run playbooks/replace_node.yml",
)
_NO_MYID = Kind(
    what="myid is missing beside the data of a server",
    allowed="{id} (zookeeper_id)",
    fix="find out whose disk it is (its log names the id) and write that number into it",
)
_NO_NUMBER = Kind(
    what="myid is not just a number",
    allowed="{id} (zookeeper_id)",
    fix="write the number of this server and nothing else into it",
)
_OTHER_SERVER = Kind(
    what="the disk is that of another server",
    allowed="{id} (zookeeper_id)",
    fix="set zookeeper_id of {host} back to {myid}: the id of a server never changes; or mount the disk where it "
    "belongs",
)
_KAFKA_DATA = Kind(
    what="the directory holds the data of a Kafka node",
    allowed="a directory of its own",
    fix="give the server another directory",
)
_TWICE = Kind(
    what="several servers have the same id on their disks",
    allowed="an id of its own on every server",
    fix="a copied disk? Put the copy away",
)
_NO_MAJORITY = Kind(
    what="the servers with data are no majority: empty ones would outvote them and all would be lost",
    allowed="at least {majority} servers with their data",
    fix="bring back the disks of the others first; is one not mounted?",
)
_EMPTY = Kind(
    what="an ensemble that has run has a server without data",
    allowed="the data of every server, or one empty server that a playbook names",
    fix="is its disk not mounted? An empty server comes back by playbooks/replace_node.yml, a new one by "
    "playbooks/zookeeper_members.yml, one at a time",
)
_VANISHED = Kind(
    what="no server of the ensemble has data, although it is not a new one",
    allowed="the data of the servers, or no trace of an earlier start",
    fix="after a power loss disks are often not mounted: mount them and run again. Only for a cluster that is to begin "
    "anew, without anything that it had: remove these files, and move the data of its brokers away",
)


def _problem(kind: Kind, servers: Sequence[Server], path: Any, found: str, **words: Any) -> Problem:
    """A problem of this kind; C(words) stand in braces in the texts of the kind."""
    fix = kind.fix.format(**words)
    end = " " if fix.endswith("?") else "; "
    hosts = tuple(server.host for server in servers)
    return Problem(hosts, kind.what, found, kind.allowed.format(**words), f"{fix}{end}{_UNTOUCHED}", str(path))


def zookeeper_refusals(servers: Sequence[Server], brokers: Sequence[str] = ()) -> list[Problem]:
    """Everything on the disks that does not fit the inventory.

    brokers -- where brokers have data that they could not have without this ensemble, in words.
    """
    found = [one for server in servers if server.disks for one in _own(server)]
    found += _twice(servers)
    if all(server.disks is not None for server in servers):
        found += [*_emptied(servers), *_vanished(servers, brokers)]
    return found


def _own(server: Server) -> Iterator[Problem]:
    unreadable = [one for one in server.disks or () if one.get("error")]
    without_log = [str(one["path"]) for one in (server.disks or ())[1:] if one.get("empty")]
    for one in unreadable:
        yield _problem(_UNREADABLE, [server], one["path"], str(one["error"]))
    if unreadable:
        return
    if server.ran and without_log:
        found = "an empty directory, or one that is not mounted, beside the snapshots of the server"
        yield _problem(_NO_LOG, [server], ", ".join(without_log), found)
    else:
        yield from _identity(server)


def _identity(server: Server) -> Iterator[Problem]:
    """Yield what speaks against a directory being this server's: its myid, or the data of a Kafka node in it."""
    path, myid = server.data.get("path"), server.data.get("myid")
    words = {"id": server.id, "host": server.host, "myid": myid}
    if myid is None and server.ran:
        yield _problem(_NO_MYID, [server], f"{path}/myid", "no file", **words)
    elif myid is not None and not myid.isdigit():
        yield _problem(_NO_NUMBER, [server], f"{path}/myid", repr(myid), **words)
    elif myid is not None and int(myid) != server.id:
        yield _problem(_OTHER_SERVER, [server], f"{path}/myid", f"myid {myid}", **words)
    elif server.data.get("meta_properties"):
        yield _problem(_KAFKA_DATA, [server], path, "meta.properties")


def _twice(servers: Sequence[Server]) -> Iterator[Problem]:
    by_id: dict[str, list[Server]] = {}
    for server in servers:
        if server.data.get("myid"):
            by_id.setdefault(server.data["myid"], []).append(server)
    for myid, alike in by_id.items():
        if len(alike) > 1:
            yield _problem(_TWICE, alike, "myid", f"myid {myid}")


def _emptied(servers: Sequence[Server]) -> Iterator[Problem]:
    ran = [server for server in servers if server.ran]
    empty = [server for server in servers if not server.ran and (server.emptied or server.empty)]
    refused = [server for server in empty if not server.emptied]
    total, majority = len(servers), len(servers) // 2 + 1
    if not ran or not empty:
        return
    arithmetic = f"{len(ran)} of {total} with data, a majority is {majority}"
    if len(ran) < majority:
        yield _problem(_NO_MAJORITY, empty, empty[0].data.get("path"), arithmetic, majority=majority)
    elif refused or len(empty) > 1:
        named = refused or empty
        yield _problem(_EMPTY, named, named[0].data.get("path"), arithmetic)


def _vanished(servers: Sequence[Server], brokers: Sequence[str]) -> Iterator[Problem]:
    """No server has served, and something says that the empty ones among them have."""
    if any(server.ran for server in servers):
        return
    lost = [one for one in servers if one.empty and (brokers or (one.left and not one.emptied))]
    traces = [f"{trace} on {server.host}" for server in lost for trace in server.left]
    if lost:
        found = f"empty or not mounted on all of them, while there is {', '.join([*traces, *brokers])}"
        yield _problem(_VANISHED, lost, lost[0].data.get("path"), found)

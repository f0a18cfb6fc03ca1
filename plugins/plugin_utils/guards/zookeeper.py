# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the disks of an ensemble belong to the servers that the inventory says, and are not less than they were.

Two servers out of three that lost their disks are a majority: started empty, they elect each other, and the third,
which has everything, follows them and throws its data away. So an empty disk in an ensemble that has run is refused
unless a playbook made for it (replace_node.yml, zookeeper_members.yml) names the server, one at a time. When all of
them are empty, files elsewhere and the data of brokers say whether the ensemble is a new one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# Above it ZooKeeper refuses to start (QuorumPeerConfig: the id becomes one byte of session ids).
MAX_ID = 255
UNTOUCHED = "nothing was changed on any host"


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
        """What there still is of a server whose data directory is empty."""
        logs = [f"{disk['path']} (transaction log)" for disk in (self.disks or ())[1:] if not disk.get("empty", True)]
        return [*self.traces, *logs]


@dataclass(frozen=True)
class Finding:
    """What does not fit, in the fields of a preflight violation."""

    hosts: tuple[str, ...]
    where: str
    what: str
    found: str
    allowed: str
    way_out: str


def zookeeper_refusals(servers: Sequence[Server], brokers: Sequence[str] = ()) -> list[Finding]:
    """Everything on the disks that does not fit the inventory.

    brokers -- where brokers have data that they could not have without this ensemble, in words.
    """
    found = [one for server in servers if server.disks for one in _own(server)]
    found += _twice(servers)
    if all(server.disks is not None for server in servers):
        found += _emptied(servers) + _vanished(servers, brokers)
    return found


def _own(server: Server) -> list[Finding]:
    unreadable = [one for one in server.disks or () if one.get("error")]
    if unreadable:
        return [
            Finding(
                (server.host,), str(one["path"]), "the data directory cannot be read", str(one["error"]),
                "a directory that can be read, or none", f"repair or mount it; {UNTOUCHED}",
            )
            for one in unreadable
        ]  # fmt: skip
    without_log = [str(one["path"]) for one in (server.disks or ())[1:] if one.get("empty")]
    if server.ran and without_log:
        return [
            Finding(
                (server.host,), ", ".join(without_log), "the transaction log of a server is missing",
                "an empty directory, or one that is not mounted, beside the snapshots of the server",
                "its log, or no data at all",
                "mount the disk and run again: without its log the server forgets what it has acknowledged since its "
                "last snapshot. If the disk is gone, move the data directory away too and run "
                f"playbooks/replace_node.yml; {UNTOUCHED}",
            )
        ]  # fmt: skip
    return _identity(server)


def _identity(server: Server) -> list[Finding]:
    """What speaks against a directory being that of this server: its myid, or the data of a Kafka node in it."""
    data, where = server.data, f"{server.data.get('path')}/myid"
    myid, wanted = data.get("myid"), f"{server.id} (zookeeper_id)"
    if myid is None and server.ran:
        return [
            Finding(
                (server.host,), where, "myid is missing beside the data of a server", "no file", wanted,
                f"find out whose disk it is (its log names the id) and write that number into it; {UNTOUCHED}",
            )
        ]  # fmt: skip
    if myid is not None and not myid.isdigit():
        return [
            Finding(
                (server.host,), where, "myid is not just a number", repr(myid), wanted,
                f"write the number of this server and nothing else into it; {UNTOUCHED}",
            )
        ]  # fmt: skip
    if myid is not None and int(myid) != server.id:
        return [
            Finding(
                (server.host,), where, "the disk is that of another server", f"myid {myid}", wanted,
                f"set zookeeper_id of {server.host} back to {myid}: the id of a server never changes; or mount the "
                f"disk where it belongs; {UNTOUCHED}",
            )
        ]  # fmt: skip
    if data.get("meta_properties"):
        return [
            Finding(
                (server.host,), str(data["path"]), "the directory holds the data of a Kafka node", "meta.properties",
                "a directory of its own", f"give the server another directory; {UNTOUCHED}",
            )
        ]  # fmt: skip
    return []


def _twice(servers: Sequence[Server]) -> list[Finding]:
    by_id: dict[str, list[str]] = {}
    for server in servers:
        if server.data.get("myid"):
            by_id.setdefault(server.data["myid"], []).append(server.host)
    return [
        Finding(
            tuple(hosts), "myid", "several servers have the same id on their disks", f"myid {myid}",
            "an id of its own on every server", f"a copied disk? Put the copy away; {UNTOUCHED}",
        )
        for myid, hosts in by_id.items()
        if len(hosts) > 1
    ]  # fmt: skip


def _emptied(servers: Sequence[Server]) -> list[Finding]:
    ran = [server for server in servers if server.ran]
    empty = [server for server in servers if not server.ran and (server.emptied or server.empty)]
    refused = [server for server in empty if not server.emptied]
    if not ran or not (refused or len(empty) > 1 or len(ran) <= len(servers) // 2):
        return []
    total, majority = len(servers), len(servers) // 2 + 1
    arithmetic = f"{len(ran)} of {total} with data, a majority is {majority}"
    if len(ran) < majority and empty:
        return [
            Finding(
                tuple(server.host for server in empty), str(empty[0].data.get("path")),
                "the servers with data are no majority: empty ones would outvote them and all would be lost",
                arithmetic, f"at least {majority} servers with their data",
                f"bring back the disks of the others first; is one not mounted? {UNTOUCHED}",
            )
        ]  # fmt: skip
    if not refused and len(empty) <= 1:
        return []
    return [
        Finding(
            tuple(server.host for server in refused or empty), str((refused or empty)[0].data.get("path")),
            "an ensemble that has run has a server without data", arithmetic,
            "the data of every server, or one empty server that a playbook names",
            "is its disk not mounted? An empty server comes back by playbooks/replace_node.yml, a new one by "
            f"playbooks/zookeeper_members.yml, one at a time; {UNTOUCHED}",
        )
    ]  # fmt: skip


def _vanished(servers: Sequence[Server], brokers: Sequence[str]) -> list[Finding]:
    """No server has served, and something says that the empty ones among them have."""
    if any(server.ran for server in servers):
        return []
    lost = [one for one in servers if one.empty and (brokers or (one.left and not one.emptied))]
    traces = [f"{trace} on {server.host}" for server in lost for trace in server.left]
    if not lost:
        return []
    return [
        Finding(
            tuple(server.host for server in lost), str(lost[0].data.get("path")),
            "no server of the ensemble has data, although it is not a new one",
            f"empty or not mounted on all of them, while there is {', '.join([*traces, *brokers])}",
            "the data of the servers, or no trace of an earlier start",
            "after a power loss disks are often not mounted: mount them and run again. Only for a cluster that shall "
            "begin anew, without anything that it had: remove these files, and move the data of its brokers away; "
            f"{UNTOUCHED}",
        )
    ]  # fmt: skip

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""How an ensemble of ZooKeeper stands: what its servers answered, read and judged. Nothing here asks anybody.

The whole ensemble is as it should be when every server of the inventory serves, one of them leads, all are in the
leader's epoch (the upper half of a zxid), none is read-only, and each was started with the inventory's members.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .._core.addresses import host_port, plain_host

LEADER, FOLLOWER, OBSERVER, STANDALONE, READ_ONLY = "leader", "follower", "observer", "standalone", "read-only"
NOT_SERVING, UNREACHABLE = "not serving", "unreachable"
#: Seconds between two looks at an ensemble that may be electing.
_PAUSE = 2.0
SERVING = (LEADER, FOLLOWER, STANDALONE)


@dataclass(frozen=True)
class Member:
    """One server of the inventory: its id and the address that its clients use."""

    id: int
    host: str
    port: int

    @property
    def address(self) -> str:
        """host:port as people and libraries write it."""
        return host_port(self.host, self.port)


def members_of(listed: Iterable[Mapping[str, Any]]) -> tuple[Member, ...]:
    """The members in a module's parameter C(servers)."""
    return tuple(Member(one["id"], plain_host(one["host"]), one["port"]) for one in listed)


@dataclass(frozen=True)
class Server:
    """What one server answered. C(state) is one of the words above; C(members) are the ids it was started with."""

    id: int
    address: str
    state: str
    version: str = ""
    epoch: int | None = None
    zxid: str = ""
    synced_followers: int | None = None
    members: tuple[int, ...] = ()
    error: str = ""

    def as_dict(self) -> dict[str, Any]:
        """The fields as a module returns them."""
        return dict(asdict(self), members=list(self.members))


@dataclass(frozen=True)
class Goal:
    """What is waited for: the members of the inventory; those that may be away; those that somebody wants to stop."""

    members: tuple[Member, ...]
    stopping: frozenset[int] = frozenset()
    away: frozenset[int] = frozenset()
    # Not while members change: then the servers are restarted with the new ones, one after the other.
    compare_members: bool = True

    @classmethod
    def from_params(cls, params: Mapping[str, Any]) -> Goal:
        """The goal in a module's parameters."""
        members = members_of(params["servers"])
        stopping, away = (frozenset(params[name]) for name in ("stopping", "away"))
        return cls(members, stopping, away, params["compare_members"])


def read_words(member: Member, srvr: str, conf: str, mntr: str) -> Server:
    """A server from the texts it answered to srvr, conf and mntr."""
    answer = pairs(srvr, ": ")
    if "Mode" not in answer:
        return Server(member.id, member.address, NOT_SERVING, error=(srvr.strip().splitlines() or ["no answer"])[0])
    zxid = answer.get("Zxid", "")
    started_with = tuple(sorted(int(key[7:]) for key in pairs(conf, "=") if key.startswith("server.")))
    followers = pairs(mntr, "\t").get("zk_synced_followers")
    return Server(
        id=member.id,
        address=member.address,
        state=answer["Mode"],
        version=answer.get("Zookeeper version", "").partition("-")[0],
        epoch=int(zxid, 16) >> 32 if zxid.startswith("0x") else None,
        zxid=zxid,
        synced_followers=int(float(followers)) if followers else None,
        # One that serves alone (standaloneEnabled) names no members.
        members=(member.id,) if answer["Mode"] == STANDALONE else started_with,
    )


def pairs(text: str, separator: str) -> dict[str, str]:
    """The lines of an answer that are a name and a value."""
    split = (line.partition(separator) for line in text.splitlines())
    return {name.strip(): value.strip() for name, found, value in split if found}


def leader_of(servers: Sequence[Server]) -> int | None:
    """The id of the one server that leads, None when none or several say so."""
    leading = [server.id for server in servers if server.state in (LEADER, STANDALONE)]
    return leading[0] if len(leading) == 1 else None


def problems(servers: Sequence[Server], goal: Goal) -> list[str]:
    """Everything that is not as it should be, a sentence each."""
    # One that does not serve may be stopped: what counts then is who is left.
    expected = goal.away | goal.stopping | _waiting(servers, goal)
    found = [_silent(server) for server in servers if server.state not in SERVING and server.id not in expected]
    serving = [server for server in servers if server.state in SERVING]
    leading = [server for server in serving if server.state in (LEADER, STANDALONE)]
    if not leading:
        found.append(lost(servers, goal))
    elif len(leading) > 1:
        named = ", ".join(f"{server.id} in epoch {server.epoch}" for server in leading)
        found.append(f"several servers say that they lead ({named}): their members differ, or one has not noticed yet")
    else:
        found += _behind(serving, leading[0])
    return [*found, *(_strangers(serving, goal) if goal.compare_members else [])]


def lost(servers: Sequence[Server], goal: Goal) -> str:
    """Why the ensemble has no quorum; empty of one in which a server leads, or several say so."""
    if any(server.state in (LEADER, STANDALONE) for server in servers):
        return ""
    serving = sum(server.state in SERVING for server in servers)
    return f"no server leads: {majority_words(serving, len(goal.members))}"


def _waiting(servers: Sequence[Server], goal: Goal) -> frozenset[int]:
    """The second server of two, while members change: it waits until the one that serves alone restarts as its peer.

    A server alone holds no election. Of three, two that are empty would have a majority without the one with the data.
    """
    alone = any(server.state == STANDALONE for server in servers)
    if goal.compare_members or len(goal.members) != 2 or not alone:
        return frozenset()
    return frozenset(server.id for server in servers if server.state == NOT_SERVING)


def _silent(server: Server) -> str:
    why = f" ({server.error})" if server.error else ""
    return f"server {server.id} at {server.address} is {server.state}{why}"


def majority_words(serving: int, total: int) -> str:
    """The arithmetic of a quorum for people."""
    return f"{serving} of {total} servers serve, a majority is {total // 2 + 1}"


def _behind(serving: Sequence[Server], leader: Server) -> list[str]:
    """Servers that are not where their leader is.

    A server tells the epoch of its last transaction, and until the first one of a new epoch that is the old epoch. Its
    leader counts it among its synced followers only after it has taken up the new one, so that count decides.
    """
    followers = [server for server in serving if server.state == FOLLOWER]
    synced = leader.synced_followers
    all_synced = synced is not None and synced >= len(followers)
    found = [
        f"server {server.id} is in epoch {server.epoch}, its leader {leader.id} in {leader.epoch}"
        for server in followers
        if server.epoch != leader.epoch and not (all_synced and (server.epoch or 0) < (leader.epoch or 0))
    ]
    if synced is not None and not all_synced:
        found.append(f"{synced} of {len(followers)} followers have all that leader {leader.id} has")
    return found


def needs_transaction(servers: Sequence[Server]) -> bool:
    """Tell whether only a transaction can show that the followers have taken up the epoch of their leader.

    A leader that does not answer mntr (4lw.commands.whitelist is srvr alone by default) counts no synced followers.
    """
    leader = next((server for server in servers if server.id == leader_of(servers)), None)
    if leader is None or leader.synced_followers is not None:
        return False
    return any(server.state == FOLLOWER and (server.epoch or 0) < (leader.epoch or 0) for server in servers)


def _strangers(serving: Sequence[Server], goal: Goal) -> list[str]:
    """Servers that were started with other members than the inventory has."""
    wanted = {member.id for member in goal.members}
    found = []
    for server in serving:
        if server.members and set(server.members) != wanted:
            found.append(
                f"server {server.id} was started with the members {_ids(server.members)}, "
                f"the inventory has {_ids(wanted)}"
            )
    return found


def _ids(ids: Iterable[int]) -> str:
    return ", ".join(str(one) for one in sorted(ids))


def stop_refusals(servers: Sequence[Server], goal: Goal) -> list[str]:
    """Return why the servers of goal.stopping may not be stopped now, with the arithmetic; an empty list allows it."""
    if not goal.stopping:
        return []
    total = len(goal.members)
    if total == 1 or _waiting(servers, goal):
        return []  # Nothing to count: whoever restarts a server that serves alone knows that it is away meanwhile.
    majority = total // 2 + 1
    left = [server.id for server in servers if server.state in SERVING and server.id not in goal.stopping]
    if len(left) >= majority:
        return []
    return [
        f"without server {_ids(goal.stopping)} {len(left)} of {total} servers would serve ({_ids(left) or 'none'}), "
        f"a majority is {majority}: the brokers would lose their metadata"
    ]


def view(servers: Sequence[Server], goal: Goal) -> dict[str, Any]:
    """The ensemble as a module returns it."""
    found, refused = problems(servers, goal), stop_refusals(servers, goal)
    leader = leader_of(servers)
    epochs = [server.epoch for server in servers if server.id == leader]
    return {
        "servers": [server.as_dict() for server in servers],
        "leader_id": leader,
        "epoch": epochs[0] if epochs else None,
        "problems": found,
        "lost": lost(servers, goal),
        "healthy": not found,
        "refusals": refused,
        "stopping_leader": leader is not None and leader in goal.stopping,
    }


def settled(
    look: Callable[[], dict[str, Any]], seconds: float, clock: Callable[[], float], sleep: Callable[[float], None]
) -> dict[str, Any]:
    """Return the first view in which a server leads, or the last one where none did for so many seconds."""
    until = clock() + seconds
    found = look()
    while found["lost"] and clock() < until:
        sleep(_PAUSE)
        found = look()
    return found


def reached(found: Mapping[str, Any]) -> bool:
    """Return whether a view is what was waited for."""
    return bool(found["healthy"]) and not found["refusals"]

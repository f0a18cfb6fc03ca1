# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What follows from brokers that are findings already: the partitions that lack nothing but their replicas.

One cause is one finding. What no finding on brokers explains stands alone; partitions without a leader always do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from .._cluster.attribution import UNKNOWN, Attribution

#: A partition by topic and number.
Key = tuple[Any, Any]
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Lacking:
    """How many partitions with a leader lack replicas because of a broker.

    ``refusing`` of them refuse acks=all, and ``close`` would if one more replica were lost.
    """

    partitions: int = 0
    refusing: int = 0
    close: int = 0

    @property
    def phrase(self) -> str:
        """The partitions in words, behind the name of the broker that they lack; empty without one."""
        if not self.partitions:
            return ""
        lack = "partition lacks" if self.partitions == 1 else "partitions lack"
        return ", ".join([f"{self.partitions:,} {lack} this replica", *self.refusals])

    @property
    def refusals(self) -> Iterator[str]:
        """What they mean for acks=all."""
        if self.refusing:
            yield f"{self.refusing:,} of them {'refuses' if self.refusing == 1 else 'refuse'} acks=all"
        if self.close:
            yield f"{self.close:,} would refuse acks=all with one replica less"


@dataclass(frozen=True)
class Consequences:
    """What follows from each cause, and all partitions that are explained so, or have no leader.

    C(of) are by id brokers that are down, C(attributed) by its place an attribution.
    """

    of: Mapping[int, Lacking] = field(default_factory=dict)
    attributed: Mapping[int, Lacking] = field(default_factory=dict)
    explained: frozenset[Key] = frozenset()

    def lacking(self, broker: int) -> Lacking:
        """Return what follows from a broker that is down."""
        return self.of.get(broker, Lacking())

    def because_of(self, place: int) -> Lacking:
        """Return what follows from the attribution at this place."""
        return self.attributed.get(place, Lacking())

    def left(self, rows: Collection[Row]) -> list[Row]:
        """Return the partitions that nothing explains, of a list of cluster_info."""
        return [row for row in rows if _key(row) not in self.explained]


def down_brokers(
    nodes: Collection[Row], registered: Collection[Row], silent: Mapping[int, str] = MappingProxyType({})
) -> dict[int, str]:
    """Return by id how brokers are down: ``silent``, with what happened at their address, fenced, or not registered.

    They are those of the inventory; without one (``nodes`` is empty) those that are registered. The silent ones come
    first: metadata that nobody writes any more (a quorum without a leader, a session that has not ended yet) has them
    alive, and they may be why.
    """
    fenced = {broker["id"]: broker["fenced"] for broker in registered}
    wanted = [node["node_id"] for node in nodes if "broker" in node["roles"]] if nodes else [*fenced]
    how = {broker: "fenced" if broker in fenced else "not registered" for broker in wanted if fenced.get(broker, True)}
    return {**{broker: f"no answer, twice: {silent[broker]}" for broker in wanted if broker in silent}, **how}


def consequences(info: Row, away: Collection[int], attributed: Sequence[Attribution] = ()) -> Consequences:
    """Return what follows from brokers that are found ``away`` (down), and from who is at fault or catches up.

    A partition does where all replicas that it lacks are on brokers that are away, or are ``attributed`` to somebody.
    ``info`` is what cluster_info returns.
    """
    refusing, close = ({_key(row) for row in info.get(kind) or ()} for kind in ("under_min_isr", "at_min_isr"))
    of: dict[int, Lacking] = {}
    because_of: dict[int, Lacking] = {}
    explained = {_key(row) for row in info.get("offline") or ()}
    places = {
        (key, follower): place
        for place, attribution in enumerate(attributed)
        if attribution.kind != UNKNOWN
        for key, followers in attribution.missing.items()
        for follower in followers
    }
    for row in info.get("under_replicated") or ():
        key = _key(row)
        missing = {broker for broker in row["replicas"] if broker not in row["isr"]}
        if key in explained or not all(broker in away or (key, broker) in places for broker in missing):
            continue
        for broker in missing.intersection(away):
            of[broker] = _with(of.get(broker, Lacking()), key in refusing, key in close)
        for place in {places[key, broker] for broker in missing.difference(away)}:
            because_of[place] = _with(because_of.get(place, Lacking()), key in refusing, key in close)
        if missing:
            explained.add(key)
    return Consequences(of, because_of, frozenset(explained))


def _with(lacking: Lacking, refuses: bool, is_close: bool) -> Lacking:
    """Return what follows from a cause with one partition more."""
    return replace(
        lacking,
        partitions=lacking.partitions + 1,
        refusing=lacking.refusing + refuses,
        close=lacking.close + is_close,
    )


def awaited(offline: Collection[Row]) -> list[int]:
    """Return the brokers that partitions without a leader wait for: who may lead them, as far as that is known.

    That is who was in sync last, or is eligible (KIP-966); else who led last; else any that has a replica.
    """
    found: set[int] = set()
    for one in offline:
        may = {*(one.get("isr") or ()), *(one.get("eligible_leaders") or ())}
        found |= may or set(one.get("last_known_leaders") or one.get("replicas") or ())
    return sorted(found)


def _key(row: Row) -> Key:
    return row.get("topic"), row.get("partition")

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What the loss of one rack, or site, would take from a cluster as it is now, and the rules for clusters that shall
survive it.

It goes by what is in sync and alive at this moment, so it holds while a broker is down and after replicas have moved.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from .._cluster.snapshot import Partition
from .._core.names import capped
from .model import BALANCE, SERIOUS, SHOWN, SITE, HealthFinding, Limits, State


@dataclass(frozen=True)
class RackLoss:
    """What is left without a rack.

    ``brokers`` and ``voters`` are the ids in it. ``voters_left`` are the voters elsewhere that are alive, of which the
    quorum needs ``voters_needed``; with ZooKeeper, or where the quorum is unknown, both are None. ``refusing`` are the
    partitions that take acks=all now and would refuse it, ``leaderless`` those of them that would have no leader;
    ``names`` are some of them.
    """

    rack: str
    brokers: Sequence[int]
    voters: Sequence[int]
    voters_left: int | None
    voters_needed: int | None
    refusing: int
    leaderless: int
    names: Sequence[str]

    @property
    def keeps_quorum(self) -> bool:
        """Whether a majority of the voters is left, as far as the voters are known."""
        return self.voters_left is None or self.voters_needed is None or self.voters_left >= self.voters_needed

    @property
    def survives(self) -> bool:
        """Whether the cluster goes on without this rack."""
        return self.keeps_quorum and not self.refusing

    def as_dict(self) -> dict[str, Any]:
        """Return it as a module returns it."""
        return {**asdict(self), "survives": self.survives}


def rack_losses(
    racks: Mapping[int, str],
    brokers_alive: Collection[int],
    voters: Mapping[int, bool] | None,
    partitions: Iterable[Partition],
) -> list[RackLoss]:
    """Return what the loss of each rack would take, by name of the rack.

    A quorum that has no majority now, and a partition that refuses acks=all now, is not laid to a rack: it is lost
    already, and other findings say so.

    Args:
        racks: The rack of each broker and voter, as far as it is known. A node without one is lost with no rack.
        brokers_alive: The brokers that take part.
        voters: Whether each voter is alive; None where they are unknown, or there are none (ZooKeeper).
        partitions: With their min.insync.replicas; where these are unknown one replica is enough.
    """
    needed = None if voters is None else len(voters) // 2 + 1
    has_majority = voters is not None and needed is not None and sum(voters.values()) >= needed
    lost: dict[str, list[tuple[Partition, bool]]] = {}
    for one in partitions:
        in_sync = [broker for broker in one.isr if broker in brokers_alive]
        least = max(1, one.needed)
        if one.leader is None or len(in_sync) < least:
            continue
        # Only a rack that holds one of these can take the partition with it.
        for rack in {racks[broker] for broker in in_sync if broker in racks}:
            left = sum(racks.get(broker) != rack for broker in in_sync)
            if left < least:
                lost.setdefault(rack, []).append((one, left == 0))
    return [
        _loss(rack, racks, brokers_alive, voters if has_majority else None, needed if has_majority else None, lost)
        for rack in sorted(set(racks.values()))
    ]


def _loss(
    rack: str,
    racks: Mapping[int, str],
    brokers: Collection[int],
    voters: Mapping[int, bool] | None,
    needed: int | None,
    lost: Mapping[str, Sequence[tuple[Partition, bool]]],
) -> RackLoss:
    """Return what is left without one rack."""
    inside = sorted(node for node, its in racks.items() if its == rack)
    gone = lost.get(rack, ())
    return RackLoss(
        rack,
        [node for node in inside if node in brokers],
        [node for node in inside if node in (voters or {})],
        None if voters is None else sum(alive and racks.get(node) != rack for node, alive in voters.items()),
        needed,
        len(gone),
        sum(leaderless for _one, leaderless in gone),
        [f"{one.topic}-{one.index}" for one, _leaderless in gone[:SHOWN]],
    )


# -- rules ---------------------------------------------------------------------------------------------------------


def losses(state: State, limits: Limits) -> list[RackLoss]:
    """Return what the loss of each rack would take; nothing of a cluster with fewer than two racks."""
    racks = _racks(state)
    if len(set(racks.values())) < 2:
        return []
    alive = {broker["id"] for broker in state.seen["nodes"] if not broker["fenced"]}
    return rack_losses(racks, alive, _voters(state, limits), state.partitions)


def rack_loss(state: State, limits: Limits) -> Iterator[HealthFinding]:
    """Find racks whose loss would end the majority of the quorum or writes with acks=all, and nodes of unknown rack
    (rack_unknown), where the cluster shall survive the loss of any one rack."""
    if not state.survive_rack_loss:
        return
    racks = _racks(state)
    members = {broker["id"] for broker in state.seen["nodes"]} | (_voters(state, limits) or {}).keys()
    unknown = [f"{state.name(node)} (id {node})" for node in sorted(members - racks.keys())]
    if unknown or len(set(racks.values())) < 2:
        yield HealthFinding(
            "rack_unknown",
            SERIOUS,
            f"unknown rack: {capped(unknown, SHOWN)}; what is lost with a rack leaves them out"
            if unknown
            else "all nodes are in one rack, so its loss is the loss of the cluster",
            found=f"{len(unknown)} nodes without a rack, {len(set(racks.values()))} racks",
            allowed="a rack for each broker and controller, and at least 2 racks",
            next_step=f"set kafka_rack for each broker and each controller, then: {SITE}",
        )
    is_whole = not state.down and all((_voters(state, limits) or {}).values())
    for loss in losses(state, limits):
        if not loss.survives:
            yield HealthFinding(
                "rack_loss",
                SERIOUS,
                f"the cluster does not survive the loss of rack {loss.rack}: {'; '.join(_lost(loss))}",
                found=_found(loss),
                allowed="a majority of the voters, and min.insync.replicas of each partition, outside of each rack",
                next_step=_next_step(loss, is_whole),
            )


def _lost(loss: RackLoss) -> Iterator[str]:
    """Say what would be lost, a phrase each."""
    if not loss.keeps_quorum:
        left = "no voter is" if not loss.voters_left else f"{loss.voters_left} of the voters would be"
        yield f"{left} left, and the quorum needs {loss.voters_needed}"
    if loss.refusing:
        more = "" if loss.refusing <= len(loss.names) else f" and {loss.refusing - len(loss.names)} more"
        partitions = "partition" if loss.refusing == 1 else "partitions"
        leaderless = f", {loss.leaderless:,} of them without a leader" if loss.leaderless else ""
        yield f"{loss.refusing:,} {partitions} would refuse acks=all{leaderless} ({', '.join(loss.names)}{more})"


def _found(loss: RackLoss) -> str:
    """Return the figures of a loss."""
    voters = [] if loss.voters_left is None else [f"{loss.voters_left} voters left"]
    return ", ".join([*voters, f"{loss.refusing} partitions lost for writes"])


def _next_step(loss: RackLoss, is_whole: bool) -> str:
    """Say what to do: first bring back what is down, since that may be all."""
    if not is_whole:
        return f"bring back what is down and let replicas catch up, before anything else: {SITE}"
    steps = []
    if not loss.keeps_quorum:
        steps.append("give each rack one voter, of three racks at least (docs/quorum.md)")
    if loss.refusing:
        steps.append(
            f"see that these partitions are in sync; spread their replicas over the racks: {BALANCE}; with too few "
            "replicas: ansible-playbook streamops.kafka.change_replication_factor -i INVENTORY"
        )
    return "; ".join(steps)


def _racks(state: State) -> Mapping[int, str]:
    """Return by id the racks that brokers have registered; of controllers those that the inventory tells."""
    registered = {broker["id"]: broker["rack"] for broker in state.seen["nodes"] if broker.get("rack")}
    voters = {one["id"] for one in _quorum(state).get("voters") or ()}
    return {**{node: rack for node, rack in state.voter_racks.items() if rack and node in voters}, **registered}


def _voters(state: State, limits: Limits) -> Mapping[int, bool] | None:
    """Return whether each voter keeps up; None where that is unknown."""
    listed = _quorum(state).get("voters")
    if not listed:
        return None
    ages = {one["id"]: one["last_caught_up_ms_ago"] for one in listed}
    return {node: age is not None and age <= limits.max_quorum_lag * 1000 for node, age in ages.items()}


def _quorum(state: State) -> Mapping[str, Any]:
    """Return the quorum as far as it is known."""
    quorum: Mapping[str, Any] | None = state.seen.get("quorum")
    return {} if quorum is None or quorum.get("error") else quorum

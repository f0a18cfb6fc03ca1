# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on the loss of a rack, for clusters that shall survive it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._core.names import capped
from ansible_collections.streamops.kafka.plugins.module_utils._health.model import (
    BALANCE,
    SERIOUS,
    SHOWN,
    SITE,
    Finding,
    Limits,
    State,
)
from ansible_collections.streamops.kafka.plugins.module_utils._health.racks import RackLoss, rack_losses


def losses(state: State, limits: Limits) -> list[RackLoss]:
    """Return what the loss of each rack would take; nothing of a cluster with fewer than two racks."""
    racks = _racks(state)
    if len(set(racks.values())) < 2:
        return []
    alive = {broker["id"] for broker in state.seen["nodes"] if not broker["fenced"]}
    return rack_losses(racks, alive, _voters(state, limits), state.partitions)


def rack_loss(state: State, limits: Limits) -> Iterator[Finding]:
    """Find racks whose loss would end the majority of the quorum or writes with acks=all, and nodes of unknown rack
    (rack_unknown), where the cluster shall survive the loss of any one rack."""
    if not state.survive_rack_loss:
        return
    racks = _racks(state)
    members = {broker["id"] for broker in state.seen["nodes"]} | (_voters(state, limits) or {}).keys()
    unknown = [f"{state.name(node)} (id {node})" for node in sorted(members - racks.keys())]
    if unknown or len(set(racks.values())) < 2:
        yield Finding(
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
            yield Finding(
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

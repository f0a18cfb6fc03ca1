# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which brokers are sick themselves, and which partitions are low only because of them.

A gate that waits for such partitions would wait for ever: what keeps it shut is the node that must be restarted with
other files. That is allowed under these rules, for one node at a time
(docs/restarts.md#a-node-that-is-itself-the-cause):

- a broker that is fenced leads nothing and is in no ISR but as the last of it, so its stop takes nothing away;
- a broker at whose address another node answers is reached by nobody, and only other files of its own can change that;
- a broker that followers cannot fetch from (_cluster/attribution.py) is alone in the ISR, and holds records that nobody
  else has. They stay on its disk while it restarts. What its followers have must not grow meanwhile: one that catches
  up copies. No other replica may become leader, since none is in the ISR, unless unclean election is on: then the
  partition is not spared. All its other replicas must be alive, so that they copy once it is back.
"""

from __future__ import annotations

from collections.abc import Iterable

from .._cluster.attribution import FOLLOWER, LEADER, Attribution
from .._cluster.snapshot import Key, Partition, Snapshot, ids_alive


def is_fenced(snapshot: Snapshot, broker: int) -> bool:
    """Tell whether a broker is registered and takes no part."""
    return any(known.id == broker and known.fenced for known in snapshot.brokers)


def sick(snapshot: Snapshot, attributed: Iterable[Attribution]) -> dict[int, str]:
    """Return why each sick broker is; one that is fenced may just as well be stopped.

    Of a pair that does not copy, nothing tells which of the two is; one that catches up is well.
    """
    fenced = [broker.id for broker in snapshot.brokers if broker.fenced]
    return {
        **{broker: f"broker {broker} is not reached: {why}" for broker, why in snapshot.elsewhere.items()},
        **{
            broker: fault.phrase
            for fault in attributed
            if fault.kind in (FOLLOWER, LEADER)
            for broker in fault.at_fault
        },
        **{broker: f"broker {broker} is fenced: the controllers hear nothing of it in time" for broker in fenced},
    }


def missed(attributed: Iterable[Attribution], broker: int) -> dict[Key, tuple[int, ...]]:
    """Return the followers that cannot copy from a broker that is at fault as a leader, by partition."""
    followers: dict[Key, tuple[int, ...]] = {}
    for attribution in attributed:
        if attribution.kind == LEADER and broker in attribution.leaders:
            followers.update(attribution.missing)
    return followers


def low_because_of(snapshot: Snapshot, broker: int, attributed: Iterable[Attribution]) -> set[Key]:
    """Return the partitions that nothing but this broker keeps low, and that lose nothing while it restarts."""
    cut = missed(attributed, broker)
    alive = set(ids_alive(snapshot.brokers)) - set(snapshot.silent)
    mine = [partition for partition in snapshot.partitions if _key(partition) in cut and {*partition.isr} == {broker}]
    return {_key(partition) for partition in mine if not partition.unclean and alive >= {*partition.replicas}}


def _key(partition: Partition) -> Key:
    return partition.topic, partition.index

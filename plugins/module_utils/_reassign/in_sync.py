# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which replicas of a change are in sync when it has ended: a change never drops the last one that is.

New replicas count as in sync, since Kafka takes old ones away only when all new ones are. A change that takes away more
than it adds can leave fewer of them than before, so it must leave as many as min.insync.replicas asks for, or as many
as there were.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from collections.abc import Set as AbstractSet

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import Change, Cluster
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.spec import shown


def too_thin(before: Sequence[int], after: Sequence[int], isr: Collection[int], min_insync: int) -> str | None:
    """Why a partition must not go from these replicas to those while only C(isr) are in sync; None where it may.

    C(min_insync) is 0 where it is not known.
    """
    added = [broker for broker in after if broker not in before]
    removed = [broker for broker in before if broker not in after]
    if len(removed) <= len(added):
        return None
    kept = [broker for broker in after if broker in isr or broker in added]
    said = f"its replicas {list(before)} would become {list(after)} while {sorted(isr) or 'none'} are in sync"
    if not kept:
        return f"{said}: the last in-sync replica would be dropped"
    if len(kept) < min(len(isr), max(1, min_insync), len(after)):
        return f"{said}: fewer would be left in sync than min.insync.replicas {min_insync} asks for"
    return None


def thin_changes(cluster: Cluster, changes: Iterable[Change]) -> list[str]:
    """The changes that must not be made as long as no more replicas are in sync, each in a sentence."""
    if cluster.isr is None:
        return []
    found, named = [], []
    for change in changes:
        isr = cluster.isr[change.partition]
        least = cluster.min_insync[cluster.topic_of[change.partition]]
        why = too_thin(change.before, change.after, isr, least)
        if why is not None:
            named.append(cluster.name(change.partition))
            found.append(f"{named[-1]}: {why}; fix: get its other replicas in sync first, then plan again")
    # One sentence tells what is wrong with each of some; the names of all others stand in the last one.
    most = 10
    if len(found) > most:
        found[most:] = [f"the same holds for {len(found) - most} more partitions ({shown(named[most:])})"]
    return found


def lagging_of(cluster: Cluster, dead: AbstractSet[int]) -> dict[int, tuple[int, ...]]:
    """By partition the brokers whose replica is not in sync, C(dead) ones too unless they alone are."""
    if cluster.isr is None and not dead:
        return {}
    found = {}
    for partition, brokers in enumerate(cluster.replicas):
        isr = brokers if cluster.isr is None else cluster.isr[partition]
        if len(isr) == len(brokers) and dead.isdisjoint(brokers):
            continue
        known = [broker for broker in isr if broker not in dead] or isr
        late = tuple(broker for broker in brokers if broker not in known)
        if late:
            found[partition] = late
    return found

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""An explicit assignment: what is wrong with it, and what it changes. Racks are not judged: it says where all goes."""

from __future__ import annotations

from collections import Counter

from ansible_collections.streamops.kafka.plugins.module_utils._reassign.model import BrokerSpec, Change, Cluster, Wish
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.spec import has, shown


def assigned(cluster: Cluster, wish: Wish) -> list[Change]:
    """The changes that a sound assignment asks for, ordered by partition."""
    where = cluster.places()
    changes = []
    for topic, number, wanted in wish.assignment or ():
        partition = where[topic, number]
        if cluster.replicas[partition] != tuple(wanted):
            changes.append(Change(partition, cluster.replicas[partition], tuple(wanted), ("assigned by name",)))
    return sorted(changes, key=lambda change: change.partition)


def assignment_violations(cluster: Cluster, wish: Wish, brokers: tuple[BrokerSpec, ...]) -> list[str]:
    """All that is wrong with an explicit assignment, empty when nothing is."""
    known = {broker.id: broker for broker in brokers}
    where = cluster.places()
    found, seen = [], set()
    for topic, number, wanted in wish.assignment or ():
        name = f"assignment: {topic}-{number}"
        partition = where.get((topic, number))
        if (topic, number) in seen:
            found.append(f"{name}: given twice; every partition is given once")
        seen.add((topic, number))
        if partition is None:
            found.append(f"{name}: does not exist; leave it out, or create it first")
            continue
        had = cluster.replicas[partition]
        twice = sorted(broker for broker, times in Counter(wanted).items() if times > 1)
        if not wanted:
            found.append(f"{name}: has no replicas; name at least one broker")
        if twice:
            found.append(f"{name}: names broker {shown(twice)} more than once")
        for broker in sorted(set(wanted)):
            if broker not in known:
                found.append(f"{name}: broker {broker} is not known to the cluster{has(known)}")
            elif known[broker].state == "dead":
                found.append(f"{name}: broker {broker} is not alive, so the move would never end; start it first")
            elif known[broker].state in ("draining", "excluded") and broker not in had:
                found.append(f"{name}: broker {broker} is {known[broker].state} and takes no new replica")
        if wanted and len(wanted) != len(had) and wish.replication_factor.get(topic) != len(wanted):
            found.append(
                f"{name}: has {len(had)} replicas and would have {len(wanted)}; a change of the replication factor "
                "must be wished as such"
            )
        if wanted and len(wanted) < min(len(had), cluster.min_insync[cluster.topic_of[partition]]):
            found.append(f"{name}: {len(wanted)} replicas are fewer than its min.insync.replicas; lower that first")
    return found

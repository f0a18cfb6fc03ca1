# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What of a batch may begin now: the cluster is looked at once more before each, since plans grow old.

Not as long as a disk has no room for it beside what is still on its way, and not as long as it would take away in-sync
replicas that are needed. What may not begin waits; nothing else waits for it but the batches after its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    disk_usage,
    list_brokers,
    min_insync_of,
    replica_sizes,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.log_sizes import LogDirs
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.disk_room import Room, dir_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.in_sync import too_thin
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import Row
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import Look


def not_yet(session: Session, rows: Iterable[Row], look: Look, reserve: float) -> dict[Key, str]:
    """Which of these rows must not begin now, and why, by asking the cluster what is needed to tell."""
    listed = [row for row in rows if row.key in look.partitions]
    found = without_isr(listed, look, min_insync_of(session, {row.topic for row in listed if _shrinks(row, look)}))
    coming = [row for row in listed if row.key not in found and _added(row, look)]
    if not coming:
        return found
    brokers = {broker for row in coming for broker in _added(row, look)}
    silent: dict[int, str] = {}
    disks = _disks(session, brokers, silent)
    flying = {key for key, one in look.in_flight.items() if one.adding & brokers}
    sizes = _leader_sizes(session, {*flying, *(row.key for row in coming)}, look)
    hosts = {broker.id: broker.host for broker in list_brokers(session)}
    return {**found, **without_room(coming, look, disks, sizes, reserve, silent, hosts)}


def without_isr(rows: Iterable[Row], look: Look, least: Mapping[str, int]) -> dict[Key, str]:
    """The rows that would take away in-sync replicas that are needed; C(least) is min.insync.replicas by topic."""
    found = {}
    for row in rows:
        partition = look.partitions[row.key]
        why = too_thin(partition.replicas, row.replicas, partition.isr, least.get(row.topic, 0))
        if why is not None:
            found[row.key] = why
    return found


def without_room(
    rows: Iterable[Row],
    look: Look,
    disks: Mapping[int, LogDirs],
    sizes: Mapping[Key, int],
    reserve: float,
    silent: Mapping[int, str],
    hosts: Mapping[int, str] = MappingProxyType({}),
) -> dict[Key, str]:
    """The rows that some disk has no room for now, the first ones first.

    What is still to come of moves under way counts as there. C(sizes) are those of the leaders' logs now; C(silent) are
    brokers that could not be asked, and why. C(hosts): where brokers are, since those of one host may share a disk.
    """
    room = Room(
        {
            broker: [
                dir_of(
                    disk.total_bytes,
                    disk.total_bytes - disk.usable_bytes,
                    disk.replicas,
                    reserve,
                    hosts.get(broker, ""),
                )
                for disk in found.disks
            ]
            for broker, found in disks.items()
        }
    )
    for key, flying in sorted(look.in_flight.items()):
        for broker in sorted(flying.adding):
            _claim(room, broker, disks, key, sizes.get(key, 0))
    waiting = {}
    for row in rows:
        added = _added(row, look)
        size = max(row.bytes, sizes.get(row.key, 0))
        unknown = [broker for broker in added if broker in silent]
        if unknown:
            waiting[row.key] = f"broker {unknown[0]} does not tell how full its disks are ({silent[unknown[0]]})"
        elif room.fits(added, size):
            room.add(added, size)
        else:
            full = next(broker for broker in added if not room.fits([broker], size))
            one = room.next_dir(full)
            left = 0 if one is None else max(0, one.limit - one.used)
            waiting[row.key] = (
                f"broker {full} has room for {left} more bytes, with disk_reserve {reserve:g} left free "
                f"(kafka_resources_move_disk_reserve) and what is on its way there, and the new replica has {size}"
            )
    return waiting


def _claim(room: Room, broker: int, disks: Mapping[int, LogDirs], key: Key, size: int) -> None:
    """Count what is still to come of a replica, in the directory that has it already or will get it."""
    for place, disk in enumerate(disks[broker].disks if broker in disks else ()):
        if key in disk.held:
            room.take(room.dirs[broker][place], max(0, size - disk.held[key]))
            return
    room.add([broker], size)


def _added(row: Row, look: Look) -> list[int]:
    before = look.partitions[row.key].replicas
    return [broker for broker in row.replicas if broker not in before]


def _shrinks(row: Row, look: Look) -> bool:
    return len(row.replicas) < len(look.partitions[row.key].replicas)


def _disks(session: Session, brokers: Iterable[int], silent: dict[int, str]) -> dict[int, LogDirs]:
    """What these brokers tell of their disks; those that do not are put into C(silent) with the reason."""
    found = {}
    for broker in sorted(brokers):
        try:
            found[broker] = disk_usage(session, [broker])[broker]
        except RequestFailedError as error:
            silent[broker] = error.why
            continue
        if not found[broker].disks:
            silent[broker] = "no log directory is online, or it runs Kafka before 3.3"
    return found


def _leader_sizes(session: Session, keys: Iterable[Key], look: Look) -> dict[Key, int]:
    """Bytes of the leaders' logs now; of a leader that does not tell the planned size is all that is known."""
    by_leader: dict[int, dict[str, list[int]]] = {}
    for topic, index in sorted(keys):
        partition = look.partitions.get((topic, index))
        if partition is not None and partition.leader is not None:
            by_leader.setdefault(partition.leader, {}).setdefault(topic, []).append(index)
    found: dict[Key, int] = {}
    for leader, partitions in by_leader.items():
        try:
            found.update(replica_sizes(session, leader, partitions))
        except RequestFailedError:
            continue
    return found

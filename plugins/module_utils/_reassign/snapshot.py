# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""A snapshot, as cluster_info returns it, becomes a cluster to plan on.

Every fault of a snapshot is reported at once, each with where it is, what was found and what is allowed.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from .._cluster.file_systems import RESERVE, dir_of, limit_of
from .._core.errors import RefusedError, StreamopsError
from .model import STATES, BrokerSpec, Cluster

#: What is known of a log directory, and what versions before did not write.
_DISK_KEYS = ("total_bytes", "usable_bytes", "replica_count")
_LATER_KEY = "replica_bytes"
#: The id of a broker as one object: JSON makes a new one each time, and a broker stands in many partitions.
_shared = lru_cache(maxsize=1 << 16)(int)
#: How many faults are reported one by one: what made one partition unreadable has often made all of them so.
MOST_FAULTS = 50
#: The largest id of a broker or a partition: int32 in Kafka's protocol.
MOST_ID = 2**31 - 1


def snapshot_of_text(text: str, name: str) -> Any:
    """The data of a snapshot; raises StreamopsError, which says C(name), when the text is not JSON."""
    try:
        return json.loads(text, object_hook=compact)
    except ValueError as error:
        raise StreamopsError(
            f"snapshot {name}: cannot be read as JSON ({error}); give what cluster_info returned. Nothing was changed."
        ) from error


def compact(found: dict[str, Any]) -> Any:
    """For json.loads(object_hook=...): sound partitions become rows at once, a tenth of the memory of their dicts."""
    if "replicas" in found and "partition" in found and "partitions" not in found:
        row, faults = _row(found)
        return found if faults else row
    return found


def cluster_of(data: Any, reserve: float | None = RESERVE) -> Cluster:
    """A snapshot as a cluster; raises RefusedError with all that is wrong with it.

    C(reserve): the part of each broker's disks that stays free, where the snapshot has no limit of its own for it; None
    looks at no disk.
    """
    if not isinstance(data, Mapping) or not is_list(data.get("nodes")) or not is_list(data.get("topics")):
        raise RefusedError("Snapshot", ["is not an object with lists of nodes and topics, as cluster_info returns it"])
    faults: list[str] = []
    brokers = [broker for entry in data["nodes"] for broker in broker_of(entry, "nodes", faults, reserve)]
    faults += [
        f"nodes: broker {b} is listed more than once; every broker has one entry"
        for b in _doubles(broker.id for broker in brokers)
    ]
    columns = _Columns()
    for entry in sorted(_sound_topics(data["topics"], faults), key=lambda topic: str(topic["name"])):
        columns.add(entry, faults)
    if len(faults) > MOST_FAULTS:
        faults[MOST_FAULTS:] = [f"and {len(faults) - MOST_FAULTS} more like these"]
    if faults:
        raise RefusedError("Snapshot", faults)
    cluster_id = data.get("cluster_id") or ""
    if not isinstance(cluster_id, str):
        raise RefusedError("Snapshot", [f"cluster_id: {cluster_id!r} is not a text"])
    return replace(columns.cluster(tuple(sorted(brokers, key=lambda broker: broker.id))), id=cluster_id)


def is_whole(value: Any) -> bool:
    """Return whether a value is a whole number, 0 or more, as counts and bytes are."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_id(value: Any) -> bool:
    """Return whether a value is one that Kafka takes for a broker or a partition: int32 in its protocol."""
    return is_whole(value) and value <= MOST_ID


def is_list(value: Any) -> bool:
    """Return whether a value is what JSON calls an array."""
    return isinstance(value, (list, tuple))


def is_ids(value: Any) -> bool:
    """Return whether a value is a list of ids; the same one may be there twice."""
    return is_list(value) and all(map(is_id, value))


def _doubles(numbers: Iterable[int]) -> list[int]:
    return sorted(number for number, times in Counter(numbers).items() if times > 1)


def broker_of(entry: Any, where: str, faults: list[str], reserve: float | None = RESERVE) -> list[BrokerSpec]:
    """The broker of an entry, none where it has no id; what is wrong with it is added to C(faults)."""
    if not isinstance(entry, Mapping) or not is_id(entry.get("id")):
        faults.append(f"{where}: {entry!r} has no id that is a whole number from 0 to {MOST_ID}")
        return []
    found, fenced, state = [], entry.get("fenced"), entry.get("state")
    rack, weight = entry.get("rack"), entry.get("weight", 1)
    if fenced not in (None, True, False):
        found.append(f"fenced {fenced!r} is not true or false")
    if state is None:
        state = "dead" if fenced else "cordoned" if entry.get("cordoned") is True else "alive"
    elif state not in STATES:
        found.append(f"state {state!r} is not one of {', '.join(STATES)}")
    if not (rack is None or isinstance(rack, str)):
        found.append(f"rack {rack!r} is not a string; write it in quotes, as brokers have it in broker.rack")
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 < weight < math.inf:
        found.append(
            f"weight {weight!r} is not a number above 0; set state: excluded for a broker that must get nothing"
        )
    found += _disk_faults(entry)
    if found:
        faults += [f"{where}: broker {entry['id']}: {fault}" for fault in found]
        return [BrokerSpec(entry["id"])]
    return [BrokerSpec(entry["id"], rack or None, state, weight, **_disks(entry, reserve))]


def _disk_faults(entry: Mapping[str, Any]) -> list[str]:
    found = []
    names = ("disk_limit_bytes", "disk_used_bytes", "disk_total_bytes")
    sizes = [entry.get(name) for name in names]
    if any(size is not None and not is_whole(size) for size in sizes):
        found.append(f"{', '.join(names)} must be whole numbers of bytes, and are {sizes!r}")
    listed = entry.get("log_dirs", [])
    sound = is_list(listed) and all(
        isinstance(one, Mapping)
        and all(map(is_whole, (*(one.get(name) for name in _DISK_KEYS), one.get(_LATER_KEY, 0))))
        for one in listed
    )
    if not sound:
        found.append(f"log_dirs {listed!r} is not a list of objects with {', '.join(_DISK_KEYS)}, whole numbers")
    return found


def _disks(entry: Mapping[str, Any], reserve: float | None) -> dict[str, Any]:
    """The limit of a broker's disks and what is on them: as it is set, or by what they are less the reserve."""
    limit, used, total = (entry.get(f"disk_{name}_bytes") for name in ("limit", "used", "total"))
    if limit is not None or reserve is None or "disk_total_bytes" not in entry:
        return {"disk_limit": limit, "disk_used": used}
    # 0 is what versions before wrote for a size that they did not know.
    if not total:
        return {"disk_used": used, "disk_unknown": True}
    host = str(entry.get("host") or "")
    listed = [(*(one[name] for name in _DISK_KEYS), _held(one)) for one in entry.get("log_dirs", ())]
    if len(listed) < 2 and used is not None:
        listed = [(total, total - used, 0, listed[0][3] if listed else 0)]
    dirs = tuple(dir_of(size, size - usable, count, reserve, host, held) for size, usable, count, held in listed)
    limit = sum(one.limit for one in dirs) if dirs else limit_of(total, reserve)
    return {"disk_limit": limit, "disk_used": used, "dirs": dirs}


def _held(directory: Mapping[str, Any]) -> int | None:
    """The bytes of the replicas of a log directory, None where they are not known."""
    held: int | None = directory.get(_LATER_KEY, None if directory["replica_count"] else 0)
    return held


def _sound_topics(topics: list[Any], faults: list[str]) -> list[Mapping[str, Any]]:
    """The topics that have a name and partitions."""
    found = []
    for place, entry in enumerate(topics):
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            faults.append(f"topics[{place}]: has no name")
        elif not is_list(entry.get("partitions")):
            faults.append(f"topic {entry['name']}: has no partitions; take the snapshot with include_partitions")
        else:
            found.append(entry)
    for name, times in Counter(entry["name"] for entry in found).items():
        if times > 1:
            faults.append(f"topics: a topic is listed more than once: {name}, {times} times")
    return found


def _row(entry: Any) -> tuple[tuple[Any, ...], list[str]]:
    """A partition as a row, or what is wrong with it.

    A row: number, replicas, in-sync replicas (None = all), leader, bytes, bytes/s written, and the brokers that a move
    under way adds (None = it does not move). A partition that moves is as it will be when its move has ended: a plan
    neither undoes nor repeats it.
    """
    if not isinstance(entry, Mapping) or not is_id(entry.get("partition")):
        return (), [f"{entry!r} has no partition number"]
    replicas, isr, rate = entry.get("replicas"), entry.get("isr"), entry.get("write_rate")
    if not is_ids(replicas) or not replicas:
        return (), [f"partition {entry['partition']}: replicas {replicas!r} are not a list of broker ids"]
    leader, size, faults = entry.get("leader", replicas[0]), entry.get("size_bytes"), []
    if len(set(replicas)) < len(replicas):
        faults.append(f"replicas {replicas!r} name a broker more than once")
    if isr is not None and not (is_ids(isr) and set(isr) <= set(replicas)):
        faults.append(f"isr {isr!r} is not a part of its replicas {replicas!r}")
    if leader is not None and not (is_id(leader) and leader in replicas):
        faults.append(f"leader {leader!r} is neither null nor one of its replicas {replicas!r}")
    if size is not None and not is_whole(size):
        faults.append(f"size_bytes {size!r} is not a whole number of bytes")
    if rate is not None and (isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate < math.inf):
        faults.append(f"write_rate {rate!r} is not a number of bytes per second")
    adding, removing = (entry.get(f"{name}_replicas", ()) for name in ("adding", "removing"))
    for name, some in (("adding", adding), ("removing", removing)):
        if not is_ids(some) or not set(some) <= set(replicas):
            faults.append(f"{name}_replicas {some!r} are not a part of its replicas {replicas!r}")
    if not faults and set(replicas) <= set(removing):
        faults.append(f"removing_replicas {removing!r} are all of its replicas")
    if faults:
        return (), [f"partition {entry['partition']}: {fault}" for fault in faults]
    moves = bool(removing or adding)
    if moves:
        replicas, isr, leader = _ended(replicas, replicas if isr is None else isr, leader, adding, removing)
    synced = None if isr is None or len(isr) == len(replicas) else tuple(map(_shared, isr))
    led = None if leader is None else _shared(leader)
    added = tuple(map(_shared, adding)) if moves else None
    return (entry["partition"], tuple(map(_shared, replicas)), synced, led, size, rate, added), []


def _ended(
    replicas: Sequence[int], isr: Sequence[int], leader: int | None, adding: Collection[int], removing: Collection[int]
) -> tuple[list[int], list[int], int | None]:
    """Replicas, in-sync replicas and leader of a partition when its move has ended: Kafka waits for what it adds."""
    target = [broker for broker in replicas if broker not in removing]
    synced = [broker for broker in target if broker in isr or broker in adding]
    if leader in removing:
        leader = synced[0] if synced else target[0]
    return target, synced, leader


class _Columns:
    """Partitions as columns, topic after topic."""

    def __init__(self) -> None:
        self.topics: list[str] = []
        self.min_insync: list[int] = []
        self.topic_of: list[int] = []
        self.rows: list[tuple[Any, ...]] = []

    def add(self, topic: Mapping[str, Any], faults: list[str]) -> None:
        """A topic with its partitions."""
        rows, found = [], []
        for entry in topic["partitions"]:
            # A tuple is a row already, made while the file was read: JSON has none.
            row, wrong = (entry, []) if isinstance(entry, tuple) else _row(entry)
            found += wrong
            rows += [row] if row else []
        rows.sort(key=lambda row: int(row[0]))
        found += [f"a partition is listed more than once: {number}" for number in _doubles(row[0] for row in rows)]
        least = topic.get("min_insync_replicas", 0)
        if not is_whole(least):
            found.append(f"min_insync_replicas {least!r} is not a whole number, 0 or more")
        faults += [f"topic {topic['name']}: {fault}" for fault in found]
        self.topic_of += [len(self.topics)] * len(rows)
        self.topics.append(topic["name"])
        self.min_insync.append(least)
        self.rows += rows

    def cluster(self, brokers: tuple[BrokerSpec, ...]) -> Cluster:
        """The columns; those that no partition has are left out."""
        sized = any(row[4] is not None for row in self.rows)
        rated = any(row[5] is not None for row in self.rows)
        synced = all(row[2] is None for row in self.rows)
        return Cluster(
            brokers=brokers,
            topics=self.topics,
            min_insync=self.min_insync,
            topic_of=self.topic_of,
            numbers=[row[0] for row in self.rows],
            replicas=[row[1] for row in self.rows],
            leaders=[row[3] for row in self.rows],
            isr=None if synced else [row[1] if row[2] is None else row[2] for row in self.rows],
            sizes=[row[4] or 0 for row in self.rows] if sized else None,
            write_rates=[float(row[5] or 0) for row in self.rows] if rated else None,
            unsized=tuple(place for place, row in enumerate(self.rows) if row[4] is None) if sized else (),
            coming={place: row[6] for place, row in enumerate(self.rows) if row[6] is not None},
        )

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Log directories of brokers as a module returns them: how full, and what is in them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from .._core.errors import RefusedError
from .snapshot import Broker, ids_alive


def brokers_described(
    brokers: Iterable[Broker],
    wanted: Sequence[int] | None,
    ask: Callable[[int], list[dict[str, Any]]],
    topics: Collection[str] | None,
    replicas: bool,
) -> list[dict[str, Any]]:
    """The wanted brokers, or all that are alive; C(ask) gives the directories of one. See described for the rest.

    Raises RefusedError for wanted brokers that cannot be asked.
    """
    living = ids_alive(brokers)
    silent = [one for one in wanted or () if one not in living]
    if silent:
        raise RefusedError(
            "log_dirs", [f"broker {one}: is not registered and alive; start it, or leave it out" for one in silent]
        )
    found = []
    for broker in living if wanted is None else wanted:
        directories = described(ask(broker), topics, replicas)
        counts = ("replica_count", "future_count", "replica_bytes")
        sums = {name: sum(directory[name] for directory in directories) for name in counts}
        found.append({"id": broker, **sums, "directories": directories})
    return found


def described(
    directories: Iterable[Mapping[str, Any]], topics: Collection[str] | None, replicas: bool
) -> list[dict[str, Any]]:
    """The directories of one broker, from the answer of kafka-python.

    C(topics) limits the replicas that are listed and counted; C(replicas) says whether they are listed. Bytes of a
    file system are None where the broker does not tell (Kafka before 3.3, or a directory that has failed).
    """
    in_order = sorted(directories, key=lambda found: str(found["log_dir"]))
    return [_directory(found, topics, replicas) for found in in_order]


def _directory(found: Mapping[str, Any], topics: Collection[str] | None, replicas: bool) -> dict[str, Any]:
    held = [
        {
            "topic": topic["name"],
            "partition": partition["partition_index"],
            "bytes": partition["partition_size"],
            "lag": partition["offset_lag"],
            "future": bool(partition["is_future_key"]),
        }
        for topic in found["topics"]
        if topics is None or topic["name"] in topics
        for partition in topic["partitions"]
    ]
    held.sort(key=lambda replica: (replica["topic"], replica["partition"], replica["future"]))
    result = {
        "path": found["log_dir"],
        "online": not found["error_code"],
        "total_bytes": _known(found.get("total_bytes")),
        "usable_bytes": _known(found.get("usable_bytes")),
        "replica_bytes": sum(replica["bytes"] for replica in held),
        "replica_count": sum(not replica["future"] for replica in held),
        "future_count": sum(replica["future"] for replica in held),
    }
    return {**result, "replicas": held} if replicas else result


def _known(size: int | None) -> int | None:
    return None if size is None or size < 0 else size

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What stands on the data disks of a node, read and never changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import Any

from .._core.names import capped
from .._core.properties import READ_ENCODING, PropertiesError, parse

META_PROPERTIES = "meta.properties"
METADATA_PARTITION = "__cluster_metadata-0"

# What mkfs leaves in the root of a new file system: no data, but a broker takes each directory in a log directory for a
# partition, and does not start (LogManager.loadLogs).
_LOST_AND_FOUND = "lost+found"
# What `kafka-storage format` writes besides meta.properties, which it writes last (Formatter.doFormat): a directory
# with these alone was cut while it was formatted, and no process ever used it.
_FORMATTERS = re.compile(r"bootstrap\.checkpoint(\.tmp)?\Z|meta\.properties\.tmp\Z")
_FIRST_SNAPSHOT = re.compile(r"0{20}-0{10}\.checkpoint(\.part)?\Z")
# Names shown of a directory with foreign data.
_SHOWN = 5
# ZooKeeper's: who the server is, and the election that it last took part in (0 until its first quorum).
MYID = "myid"
CURRENT_EPOCH = os.path.join("version-2", "currentEpoch")
# Its snapshots and logs; the first snapshot is empty, and written by a server that no quorum has taken up yet too.
_ZOOKEEPER_DATA = re.compile(r"(?P<kind>snapshot|log)\.(?P<zxid>[0-9a-f]+)(\.\w+)?\Z")
# Each of these files is one number; of anything longer the beginning shows that it is none.
_NUMBER_LIMIT = 40
# A meta.properties has five lines; anything larger is something else and is not read whole.
_META_LIMIT = 65536


def disks(log_dirs: Sequence[str], metadata_dir: str) -> list[dict[str, Any]]:
    """Describe each log directory, and the metadata directory where it is none of them; missing ones too."""
    metadata = os.path.normpath(metadata_dir or log_dirs[0]) if (metadata_dir or log_dirs) else ""
    paths = list(dict.fromkeys([*log_dirs, *([metadata] if metadata else [])]))
    seen: dict[str, str] = {}
    for path in paths:
        seen.setdefault(os.path.normpath(path), path)
    logs = {os.path.normpath(path) for path in log_dirs}
    return [dict(disk(path), metadata=normal == metadata, logs=normal in logs) for normal, path in seen.items()]


def disk(path: str) -> dict[str, Any]:
    """Describe one directory: exists, empty, meta_properties, quorum_state, started, cut_format, entries, space, error.

    Of a server of ZooKeeper also myid and epoch, as their files say it, and served: whether its data counts, since it
    was part of a quorum, or served alone (then it never writes an epoch).

    started -- there is something that only a running Kafka writes (or that is not Kafka's at all). cut_format -- only
    what an interrupted format leaves behind. lost_and_found -- it is the root of a file system. error -- why it could
    not be read, else None.
    """
    found: dict[str, Any] = {
        "path": path,
        "exists": os.path.lexists(path),
        "empty": True,
        "meta_properties": None,
        "quorum_state": False,
        "started": False,
        "cut_format": False,
        "lost_and_found": False,
        "entries": [],
        "myid": None,
        "epoch": None,
        "served": False,
        "error": None,
    }
    found.update(_space(path))
    if not found["exists"]:
        return found
    try:
        found.update(_content(path))
    except OSError as problem:
        found.update(empty=False, error=f"cannot be read: {problem.strerror or problem}")
    except PropertiesError as problem:
        found.update(empty=False, error=f"{META_PROPERTIES} is damaged: {problem}")
    return found


def _content(path: str) -> dict[str, Any]:
    everything = os.listdir(path)
    names = sorted(name for name in everything if name != _LOST_AND_FOUND)
    metadata = os.path.join(path, METADATA_PARTITION)
    in_metadata = sorted(os.listdir(metadata)) if os.path.isdir(metadata) else []
    formatted = META_PROPERTIES in names
    foreign = [
        name for name in names if name not in (META_PROPERTIES, METADATA_PARTITION) and not _FORMATTERS.match(name)
    ]
    started = bool(foreign) or not all(_FIRST_SNAPSHOT.match(name) for name in in_metadata)
    epoch = _number(path, CURRENT_EPOCH)
    return {
        "empty": not names,
        "meta_properties": meta_properties(os.path.join(path, META_PROPERTIES)) if formatted else None,
        "quorum_state": "quorum-state" in in_metadata,
        "started": started,
        "cut_format": bool(names) and not formatted and not started,
        "lost_and_found": _LOST_AND_FOUND in everything,
        "entries": names[:_SHOWN],
        "myid": _number(path, MYID),
        "epoch": epoch,
        "served": _served(os.path.join(path, os.path.dirname(CURRENT_EPOCH)), epoch),
    }


def _served(path: str, epoch: str | None) -> bool:
    """Tell whether a server of ZooKeeper has served with this data.

    One that waits for its first quorum has an epoch of 0 and an empty snapshot; one that serves alone has no epoch.
    """
    if epoch not in (None, "", "0"):
        return True
    found = [_ZOOKEEPER_DATA.match(name) for name in (os.listdir(path) if os.path.isdir(path) else ())]
    data = [one for one in found if one]
    return (bool(data) and epoch is None) or any(one["kind"] == "log" or int(one["zxid"], 16) > 0 for one in data)


def _number(path: str, name: str) -> str | None:
    """The text of a small file of ZooKeeper without white space around it, None where there is none."""
    try:
        with open(os.path.join(path, name), encoding=READ_ENCODING) as file:
            return file.read(_NUMBER_LIMIT).strip()
    except FileNotFoundError:
        return None


def meta_properties(path: str) -> dict[str, str]:
    """Read a meta.properties; raises PropertiesError when it is garbage, OSError when it cannot be read."""
    with open(path, encoding=READ_ENCODING, newline="") as file:
        text = file.read(_META_LIMIT + 1)
    if len(text) > _META_LIMIT or "\0" in text:
        raise PropertiesError(path, "is no properties file")
    properties = parse(text)
    if "cluster.id" not in properties or not ("node.id" in properties or "broker.id" in properties):
        raise PropertiesError(path, f"names no cluster.id and node.id (keys found: {_keys(properties)})")
    return properties


def _keys(properties: Iterable[str]) -> str:
    # repr: garbage may hold anything, and this text reaches a terminal.
    return capped([repr(key[:40]) for key in sorted(properties)], _SHOWN) or "none"


def _space(path: str) -> dict[str, Any]:
    """Describe the file system that holds the path or would: free bytes and inodes, mount, device, read-only.

    device -- two directories with the same one are on the same file system. Inodes are None where the file system
    makes them as they are needed (Btrfs says 0 of 0).
    """
    place = os.path.abspath(path)
    while not os.path.isdir(place) and place != os.path.dirname(place):
        place = os.path.dirname(place)
    mount = os.path.realpath(place)
    while not os.path.ismount(mount):
        mount = os.path.dirname(mount)
    found: dict[str, Any] = dict.fromkeys(("free_bytes", "total_bytes", "free_inodes", "device", "read_only"))
    found["mount"] = mount
    try:
        number, held = os.stat(place).st_dev, os.statvfs(place)
    except OSError:
        return found
    return {
        **found,
        "free_bytes": held.f_bavail * held.f_frsize,
        "total_bytes": held.f_blocks * held.f_frsize,
        "free_inodes": held.f_favail if held.f_files else None,
        "device": f"{os.major(number)}:{os.minor(number)}",
        "read_only": bool(held.f_flag & os.ST_RDONLY),
    }

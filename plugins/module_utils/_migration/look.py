# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Look at one node: its start record, its process and, of a controller, the metadata log on its disk."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from .._core.properties import PropertiesError
from .._dump.segments_look import SEGMENT, bases, batches, holding
from .._node import start_record as record
from .._node.disks import META_PROPERTIES, METADATA_PARTITION, meta_properties
from .._node.process import process, read_record
from .._node.quorum import quorum
from .model import MetadataLog
from .modes import TELLING
from .records import LogReader, UnclearLogError

#: A snapshot that was written to its end: the offset behind it and its epoch (KIP-630).
_SNAPSHOT = re.compile(r"(\d{20})-(\d{10})\.checkpoint\Z")
#: Bytes of one snapshot and the segments behind it. Kafka writes a snapshot for each 20 MB of log
#: (metadata.log.max.record.bytes.between.snapshots), so this much is read in no healthy cluster.
_MOST_BYTES = 512 * 2**20
#: Kafka deletes old segments and snapshots at any time; then the names are read anew.
_TRIES = 3


def migration_info(
    state_dir: str, config_file: str, metadata_dir: str, log_dirs: Sequence[str] | None = None
) -> dict[str, Any]:
    """Return what a node tells of the migration; nothing is changed.

    state_dir, config_file -- as node_info has them; metadata_dir -- of a controller, empty of another node; log_dirs --
    of a broker, None where nobody asks for them
    """
    files = read_record(state_dir)
    own = process(files, config_file)
    log, unread, known = None, "", None
    if metadata_dir:
        known = quorum(metadata_dir)
        try:
            log = metadata_log(metadata_dir)
        except (OSError, UnclearLogError) as problem:
            unread = str(problem)
    return {
        "changed": False,
        "running": own["running"],
        "release": record.version(files.get(record.JVM)) or "",
        # A process that something else started is not the one of the record.
        "start_record": None if own["running"] and not own["recorded"] else _started(files),
        "log": None if log is None else {**asdict(log), "brokers": {str(key): log.brokers[key] for key in log.brokers}},
        "unread": unread,
        "record_unread": _denied(state_dir),
        "epoch": (known or {}).get("epoch") or 0,
        **_formatted(log_dirs),
    }


def _formatted(log_dirs: Sequence[str] | None) -> dict[str, Any]:
    """Return the directories that were formatted for KRaft alone, and why that could not be read of all.

    kafka-storage writes version 1; what a broker of ZooKeeper has made keeps version 0, in KRaft mode too
    (KAFKA-20762). A directory without a meta.properties has no data yet.
    """
    bound: list[str] = []
    for path in log_dirs or ():
        try:
            words = meta_properties(os.path.join(path, META_PROPERTIES))
        except FileNotFoundError:
            continue
        except (OSError, PropertiesError) as problem:
            return {"kraft_dirs": None, "dirs_unread": f"{path}: {problem}"}
        if words.get("version", "0").strip() != "0":
            bound.append(path)
    return {"kraft_dirs": None if log_dirs is None else bound, "dirs_unread": ""}


def _denied(state_dir: str) -> str:
    """Return why the start record cannot be read, which without that looks like none; empty where there is none."""
    directory = os.path.join(state_dir, record.DIRECTORY)
    try:
        for name in os.listdir(directory):
            with open(os.path.join(directory, name), "rb"):
                continue
    except FileNotFoundError:
        return ""
    except OSError as problem:
        return str(problem)
    return ""


def _started(files: Mapping[str, str | None]) -> dict[str, str] | None:
    """Return the properties of the last start that tell the phase; None without a record that can be read."""
    try:
        contents = record.contents(files)
    except PropertiesError:
        return None
    return None if contents is None else {key: contents["properties"].get(key, "") for key in TELLING}


def metadata_log(directory: str) -> MetadataLog | None:
    """Read the metadata log below a directory; None where nobody was elected in it yet.

    Raises OSError where it cannot be read, UnclearLogError where it is none.
    """
    path = os.path.join(directory, METADATA_PARTITION)
    for left in reversed(range(_TRIES)):
        try:
            names = os.listdir(path)
        except FileNotFoundError:
            return None
        try:
            log = _read(path, names)
        except FileNotFoundError:
            if not left:
                raise
        else:
            return log if log.end else None
    return None


def _read(path: str, names: list[str]) -> MetadataLog:
    """Read the newest snapshot, and all that the segments hold behind it."""
    reader, end, room = LogReader(), 0, _MOST_BYTES
    snapshot = max((match for match in map(_SNAPSHOT.match, names) if match), key=lambda match: match[0], default=None)
    if snapshot:
        end = int(snapshot[1])
        room = _feed(reader, os.path.join(path, snapshot[0]), room)
        reader.reach(end, int(snapshot[2]))
    for base in holding(bases(names), end, None):
        room = _feed(reader, os.path.join(path, f"{SEGMENT.format(base)}.log"), room, end)
    return reader.log()


def _feed(reader: LogReader, path: str, room: int, behind: int | None = None) -> int:
    """Have a file read, and return how many bytes may still be; behind -- the end of the snapshot, None for itself."""
    file = os.open(path, os.O_RDONLY)
    try:
        for batch in batches(file):
            if behind is not None and batch.last < behind:
                continue
            room -= batch.size
            if room < 0:
                raise UnclearLogError(f"more than {_MOST_BYTES >> 20} MiB lie behind the last snapshot")
            (reader.read if behind is None else reader.follow)(os.pread(file, batch.size, batch.position))
    finally:
        os.close(file)
    return room

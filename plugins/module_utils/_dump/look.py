# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Dump records of a node for people: find its files, copy what is asked for, have the tool decode it, and show that."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from .._core.errors import RefusedError
from .._core.names import capped
from .._node.scratch import scratch
from .._node.system import find_java
from . import printed, shown
from .asked import METADATA_TOPIC, SNAPSHOT, Asked, read
from .copy_look import Copied, Room, copy_file, copy_log
from .tool_run import DumpError, Printed, Tool

#: Characters of all records together that a result has; Ansible carries it as one text.
_MOST = 8 * 2**20
_UNTOUCHED = "The node was only read."


def log_dump(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the module's result. Raises RefusedError for options that are wrong, else DumpError."""
    asked, wrong = read(params)
    if asked is None:
        raise RefusedError("dump", wrong)
    java = find_java(params["java"])
    if not java:
        raise DumpError(f"no java was found. fix: set java. {_UNTOUCHED}")
    deadline = time.monotonic() + asked.seconds
    try:
        with scratch("dump") as place:
            tool = Tool(java, params["release_dir"], place)
            work = _snapshot if asked.what == SNAPSHOT else _partitions
            return {"changed": False, "what": asked.what, **work(asked, params, tool, place, deadline)}
    except OSError as problem:
        raise DumpError(
            f"{problem.filename or 'a file'} cannot be read or copied: {problem.strerror or problem}. fix: run as the "
            f"user that runs Kafka or as root, and have room for the copy in the directory for temporary files. "
            f"{_UNTOUCHED}"
        ) from problem


# -- partitions --------------------------------------------------------------------------------------------------


def _partitions(asked: Asked, params: Mapping[str, Any], tool: Tool, place: str, deadline: float) -> dict[str, Any]:
    room = Room(asked.bytes, asked.records, deadline=deadline)
    copies: dict[str, tuple[str, str, Copied]] = {}
    for name, directory in directories(asked, params):
        # The tool takes the number in a file's name for its first offset; the names of directories tell them apart.
        own = os.path.join(place, name)
        os.mkdir(own, 0o700)
        copied = copy_log(asked, directory, os.path.join(own, "00000000000000000000.log"), room)
        copies[copied.path] = (name, directory, copied)
        if room.reached:
            break
    notes = _start_notes(asked, copies.values())
    found: list[dict[str, Any]] = []
    files = [path for path, (_name, _directory, copied) in copies.items() if copied.bytes]
    if files:
        output = tool.dump(asked, files, deadline - time.monotonic())
        found, more = _read(asked, output, copies)
        notes += more
    if room.reached and not any(note.startswith("stopped") for note in notes):
        notes.append(_bound(asked, room.reached))
    partitions = [
        {"partition": name, "directory": directory, "start": one.start, "segments": one.segments, "bytes": one.bytes}
        for name, directory, one in copies.values()
    ]
    return {"partitions": partitions, "records": found, "tree": [], "notes": notes}


def directories(asked: Asked, params: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the partitions that are asked for and where they are, by number. Raises DumpError where none is there."""
    places = [params["metadata_dir"] or params["log_dirs"][0]] if asked.topic == METADATA_TOPIC else params["log_dirs"]
    found: dict[int, str] = {}
    others: set[str] = set()
    unread: list[str] = []
    for place in places:
        try:
            names = os.listdir(place)
        except OSError as problem:
            unread.append(f"{place}: {problem.strerror or problem}")
            continue
        for name in names:
            topic, _dash, index = name.rpartition("-")
            if topic == asked.topic and index.isdigit():
                found.setdefault(int(index), os.path.join(place, name))
            elif topic and index.isdigit():
                others.add(topic)
    wanted = {index: path for index, path in found.items() if asked.partition in (None, index)}
    if wanted:
        return [(f"{asked.topic}-{index}", path) for index, path in sorted(wanted.items())]
    raise DumpError(_absent(asked, places, sorted(found), sorted(others), unread))


def _absent(
    asked: Asked, places: Sequence[str], held: Sequence[int], others: Sequence[str], unread: Sequence[str]
) -> str:
    name = asked.topic if asked.partition is None else f"{asked.topic}-{asked.partition}"
    where = f"{name} is not on the disks of this node ({', '.join(places)})"
    if unread:
        where += f"; {'; '.join(unread)}"
    if held:
        return (
            f"{where}. It has partitions {', '.join(map(str, held))} of this topic. fix: name one of these, or a node "
            f"that has it. {_UNTOUCHED}"
        )
    if asked.topic == METADATA_TOPIC:
        return (
            f"{where}. A node of mode zookeeper has none, and a node of KRaft none before its first start. fix: choose "
            f"another node. {_UNTOUCHED}"
        )
    known = f" It has {capped(others)}." if others else ""
    return f"{where}.{known} fix: choose a broker that has a replica. {_UNTOUCHED}"


def _start_notes(asked: Asked, copies: Any) -> list[str]:
    """Say where offsets that were asked for are in the log no more."""
    return [
        f"{name} begins at offset {copied.start:,}: what was before it is deleted"
        + (", and a snapshot has its outcome (kafka_dump_what=snapshot)" if asked.topic == METADATA_TOPIC else "")
        for name, _directory, copied in copies
        if asked.offset_from is not None and 0 <= asked.offset_from < copied.start
    ]


def _read(
    asked: Asked, output: Printed, copies: Mapping[str, tuple[str, str, Copied]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the records that are asked for, and which bound ended them, or why the tool did."""
    doubts: list[tuple[int, int]] = []
    found, notes = _taken(asked, output, copies, doubts)
    unsure = [f"{first} to {last}" for first, last in doubts]
    if unsure:
        notes.append(
            f"records of offsets {capped(unsure)} cannot be told apart for sure, as when the name of a header has a "
            "line end or a bracket. One may be missing, and what is shown there may not be what was written"
        )
    return found, notes


def _taken(
    asked: Asked, output: Printed, copies: Mapping[str, tuple[str, str, Copied]], doubts: list[tuple[int, int]]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return what C(_read) does, but for what is in doubt, which goes into C(doubts)."""
    found: list[dict[str, Any]] = []
    size = 0
    files = {path: copied.bytes for path, (_name, _directory, copied) in copies.items()}
    given = printed.Given(files, lambda: output.is_over or bool(output.why))
    try:
        for record in printed.records(output.chunks(), asked.is_internal, doubts, given):
            name, _directory, copied = copies.get(record.path) or ("", "", Copied("", 0))
            if not asked.holds(record.offset, record.time, copied.first):
                continue
            if asked.key and not asked.matches(shown.texts(record, asked)):
                continue
            if len(found) >= asked.records:
                return found, [_bound(asked, "records")]
            found.append(shown.shown(record, name, asked))
            size += len(str(found[-1]))
            if size > _MOST:
                return found, [f"stopped after {len(found):,} records, which are {_MOST:,} characters of text"]
    except printed.TooLongError:
        return found, [f"stopped at a record of more than {printed.LONGEST:,} bytes"]
    return found, _ends(asked, output, len(found))


def _ends(asked: Asked, output: Printed, count: int) -> list[str]:
    if output.is_over:
        return [_bound(asked, "seconds")]
    if not output.why:
        return []
    if not count:
        raise DumpError(f"the tool of the release failed: {output.why}. fix: lower kafka_dump_bytes. {_UNTOUCHED}")
    return [f"stopped after {count:,} records, since the tool of the release failed: {output.why}"]


def _bound(asked: Asked, bound: str) -> str:
    unit = {"records": "records", "bytes": "bytes of the log", "seconds": "seconds"}[bound]
    number = {"records": asked.records, "bytes": asked.bytes, "seconds": asked.seconds}[bound]
    return f"stopped after {number:,} {unit}: there may be more. Raise kafka_dump_{bound}, or ask for a smaller range"


# -- a snapshot --------------------------------------------------------------------------------------------------


def _snapshot(asked: Asked, params: Mapping[str, Any], tool: Tool, place: str, deadline: float) -> dict[str, Any]:
    [(name, directory)] = directories(asked, params)
    path = _newest(directory)
    size = os.stat(path).st_size
    if size > asked.bytes:
        raise DumpError(
            f"the snapshot {path} has {size:,} bytes, more than the {asked.bytes:,} that may be read. "
            f"fix: raise kafka_dump_bytes. {_UNTOUCHED}"
        )
    # A directory of its own, since the shell locks the one above, as a node that runs has done.
    own = os.path.join(place, name)
    os.mkdir(own, 0o700)
    target = os.path.join(own, os.path.basename(path))
    copied = Copied(target, 0, segments=[path], bytes=copy_file(path, target))
    result: dict[str, Any] = {
        "partitions": [
            {"partition": name, "directory": directory, "start": 0, "segments": [path], "bytes": copied.bytes}
        ],
        "records": [],
        "tree": [],
        "notes": [],
    }
    left = deadline - time.monotonic()
    if tool.has_shell:
        output = tool.tree(target, left)
        lines, notes = tree(asked, output)
        return dict(result, tree=lines, notes=notes)
    found, notes = _read(asked, tool.dump(asked, [target], left), {target: (name, directory, copied)})
    told = "the release has no metadata shell, so the records of the snapshot are shown and not its tree"
    return dict(result, records=found, notes=[told, *notes])


def tree(asked: Asked, output: Printed) -> tuple[list[str], list[str]]:
    """Return the lines that are asked for of the tree that the shell prints, and what a reader must know of them."""
    text, is_cut = _at_most(output.chunks())
    lines = shown.tree_lines(text.decode("utf-8", "replace"))
    notes = _ends(asked, output, len(lines))
    if is_cut:
        notes.append(f"stopped after {_MOST:,} bytes of the tree: the rest of it is not shown")
    if not asked.key:
        return lines, notes
    notes.append(f"only the lines of the tree that have kafka_dump_key={asked.key} are shown, not those around them")
    return [line for line in lines if asked.matches(shown.words(line))], notes


def _newest(directory: str) -> str:
    names = sorted(name for name in os.listdir(directory) if name.endswith(".checkpoint"))
    if not names:
        raise DumpError(
            f"{directory} has no snapshot yet; Kafka writes one after an hour or 20 MiB of records. fix: dump the log "
            f"itself with metadata instead of snapshot. {_UNTOUCHED}"
        )
    return os.path.join(directory, names[-1])


def _at_most(chunks: Iterator[bytes]) -> tuple[bytes, bool]:
    """Return what comes, in whole lines, as far as a result has room, and whether there was more."""
    found: list[bytes] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if size > _MOST:
            return b"".join(found).rpartition(b"\n")[0], True
        found.append(chunk)
    return b"".join(found), False

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""What other nodes have left beside a node's own directories: a node that was renamed is there under its old name.

One level below the parents of its own directories is looked at, and nothing is read but small files.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from .._core.properties import PropertiesError
from .disks import META_PROPERTIES, MYID, meta_properties

# What plugin_utils/node/kinds.py writes into the note and the service file of each node.
_IDENTITY = re.compile(r"^[#;] streamops\.kafka node: product=(\S+) id=(\S+) cluster=(\S+)$", re.MULTILINE)
# The line that starts a node, of a unit of systemd and of a program of supervisord.
_COMMAND = re.compile(r"^(?:ExecStart=|command = )(/.+)/start$", re.MULTILINE)
# A folder with more entries than this is no parent of nodes, or one of far more than a machine runs.
_ENTRIES = 1000
# A unit has some three thousand characters.
_TEXT_LIMIT = 16384


def beside(data_dirs: Sequence[str], note_file: str, service_file: str) -> list[dict[str, Any]]:
    """Find the notes, services and data of other nodes; each {kind, path, name, product, node_id, cluster, cluster_id}.

    kind -- note, service or data. path -- the file or directory found. name -- the host that it was installed for, as
    its directory is called. config_dir -- of a note or a service, the configuration directory. What a file does not say
    is None. Folders that cannot be read are passed over.

    data_dirs, note_file, service_file -- the node's own: its data directories, the note in its configuration directory
    that it has had data, and the file of its unit or program.
    """
    found = [_note(path, os.path.basename(note_file)) for path in _siblings(os.path.dirname(note_file), os.path.isdir)]
    found += [_service(path) for path in _siblings(service_file, os.path.isfile)]
    for path in dict.fromkeys(one for own in data_dirs for one in _siblings(own, os.path.isdir)):
        found.append(None if _is_any(path, data_dirs) else _data(path))
    return [one for one in found if one is not None]


def identity(text: str) -> tuple[str, str, str] | None:
    """Return the product, id and cluster of the node whose note or service file this is, None where it says none."""
    written = _IDENTITY.search(text)
    return (written[1], written[2], written[3]) if written else None


def installed_as(note_file: str, service_file: str) -> dict[str, Any] | None:
    """Read who the node itself was installed as: {path, product, node_id, cluster}, None where no file says so."""
    for path in (note_file, service_file):
        written = identity(_text(path))
        if written:
            product, node_id, cluster = written
            return {"path": path, "product": product, "node_id": node_id, "cluster": cluster}
    return None


def _siblings(own: str, is_kind: Any) -> Iterator[str]:
    """Yield what is in the same folder, of the same kind, and not the thing itself by another name."""
    folder = os.path.dirname(os.path.normpath(own)) if own else ""
    try:
        with os.scandir(folder or os.devnull) as entries:
            names = sorted(entry.name for entry in islice(entries, _ENTRIES))
    except OSError:
        return
    for path in (os.path.join(folder, name) for name in names):
        if is_kind(path) and not _is_any(path, [own]):
            yield path


def _is_any(path: str, others: Sequence[str]) -> bool:
    real = os.path.realpath(path)
    return any(os.path.realpath(other) == real for other in others)


def _note(folder: str, name: str) -> dict[str, Any] | None:
    path = os.path.join(folder, name)
    return _trace("note", path, folder, _text(path), config_dir=folder) if os.path.lexists(path) else None


def _service(path: str) -> dict[str, Any] | None:
    text = _text(path) if path.endswith((".service", ".conf")) else ""
    command = _COMMAND.search(text)
    return _trace("service", path, command[1], text, config_dir=command[1]) if command else None


def _data(folder: str) -> dict[str, Any] | None:
    try:
        if os.path.lexists(os.path.join(folder, META_PROPERTIES)):
            meta = meta_properties(os.path.join(folder, META_PROPERTIES))
            node_id = meta.get("node.id", meta.get("broker.id"))
            who = {"product": "kafka", "node_id": node_id, "cluster_id": meta["cluster.id"]}
            return _trace("data", folder, folder, "", **who)
    except (OSError, PropertiesError):
        return None
    myid = _text(os.path.join(folder, MYID)).strip()
    return _trace("data", folder, folder, "", product="zookeeper", node_id=myid) if myid.isdigit() else None


def _trace(kind: str, path: str, folder: str, text: str, **more: Any) -> dict[str, Any]:
    product, node_id, cluster = identity(text) or (None, None, None)
    return {
        "kind": kind,
        "path": path,
        "name": os.path.basename(os.path.normpath(folder)),
        "product": product,
        "node_id": node_id,
        "cluster": cluster,
        "cluster_id": None,
        "config_dir": None,
        **more,
    }


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="backslashreplace") as file:
            return file.read(_TEXT_LIMIT)
    except (OSError, ValueError):
        return ""

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Files that a run is asked to leave on the control node: their paths, and why one cannot be written, before the first
host is asked."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

#: The ending of the file for machines beside a report.
_DATA = ".json"


def report_paths(path: str, made: str = "") -> tuple[str, str]:
    """Return the paths of a report and of its data; a relative one begins where ansible-playbook was started.

    A path that ends with a slash is a directory, in which each run has a file of its own; C(made) is its time as text
    (ISO 8601, UTC).
    """
    page = os.path.abspath(os.path.expanduser(path))
    if path.endswith("/"):
        page = os.path.join(page, f"{made.replace('-', '').replace(':', '')}-status.html")
    return page, os.path.splitext(page)[0] + _DATA


def unwritable(written: Mapping[str, Any]) -> list[str]:
    """Return one sentence for each file that cannot be written.

    written -- paths of reports by variable, empty for none; {alone: path} is a file without one of data beside it.
    """
    found = []
    for name, given in written.items():
        is_alone = isinstance(given, Mapping)
        path = given.get("alone") if isinstance(given, Mapping) else given
        if path is None or (isinstance(path, str) and not path.strip()):
            continue
        if not isinstance(path, str):
            example = "records.txt" if is_alone else "status.html"
            found.append(f"{name} is no path (found: {path!r}). fix: give it as text, as in {name}={example}.")
            continue
        why = _fault_alone(path.strip()) if is_alone else _fault(*report_paths(path))
        if why:
            found.append(f"{name}={path}: {why}.")
    return found


def _fault_alone(path: str) -> str:
    place = os.path.abspath(os.path.expanduser(path))
    if path.endswith("/") or os.path.isdir(place):
        return f"{place} is a directory. fix: name a file in it"
    return _fault_of_folder(os.path.dirname(place))


def _fault(page: str, data: str) -> str:
    if page == data:
        return f"a report cannot end in {_DATA}, where its data for machines goes. fix: let it end in .html"
    if os.path.isdir(page):
        return (
            f"{page} is a directory. fix: name a file, as in {page}/status.html, or end it with / for one of each run"
        )
    if os.path.isdir(data):
        return f"{data}, where the data of the report goes, is a directory. fix: choose another name for the report"
    return _fault_of_folder(os.path.dirname(page))


def _fault_of_folder(folder: str) -> str:
    if not os.path.isdir(folder):
        return f"the directory {folder} does not exist on the control node. fix: create it, or choose another one"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the directory {folder} cannot be written to by the user of this run. fix: choose another one"
    return ""

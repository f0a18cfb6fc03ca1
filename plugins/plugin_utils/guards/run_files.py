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
    """Return one sentence for each report that cannot be written; ``written`` has paths by variable, empty for none."""
    found = []
    for name, path in written.items():
        if path is None or (isinstance(path, str) and not path.strip()):
            continue
        if not isinstance(path, str):
            found.append(f"{name} is no path (found: {path!r}). fix: give it as text, as in {name}=status.html.")
            continue
        why = _fault(*report_paths(path))
        if why:
            found.append(f"{name}={path}: {why}.")
    return found


def _fault(page: str, data: str) -> str:
    folder = os.path.dirname(page)
    if page == data:
        return f"a report cannot end in {_DATA}, where its data for machines goes. fix: let it end in .html"
    if os.path.isdir(page):
        return (
            f"{page} is a directory. fix: name a file, as in {page}/status.html, or end it with / for one of each run"
        )
    if os.path.isdir(data):
        return f"{data}, where the data of the report goes, is a directory. fix: choose another name for the report"
    if not os.path.isdir(folder):
        return f"the directory {folder} does not exist on the control node. fix: create it, or choose another one"
    if not os.access(folder, os.W_OK | os.X_OK):
        return f"the directory {folder} cannot be written to by the user of this run. fix: choose another one"
    return ""

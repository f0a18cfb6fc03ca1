# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The keytab of a node on its machine: whether the service may read it, whose keys it has, and who else may read it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional

from .keytab import LIMIT, OTHERS, KeytabError, fault, newest, read_keys
from .rights import READ, may


def look_at_keytab(path: str, user: str, principals: Sequence[str], copied: Optional[int] = None) -> dict[str, Any]:
    """Return {path, problem, is_open, version, copied} of a keytab.

    user -- who runs the node; empty for whoever runs this. principals -- whose keys must be in it. copied -- the newest
    version (kvno) in the keytab that is copied there; None where something else keeps it.
    problem -- why the node lets nobody in with it; empty where it does. is_open -- whether others than owner and group
    may read it. version -- the newest of the first principal, 0 without any.
    """
    look = {"path": path, "problem": "", "is_open": False, "version": 0, "copied": copied}
    try:
        content = Path(path).read_bytes() if os.stat(path).st_size <= LIMIT else b""
        keys = read_keys(content)
        is_open, is_readable = bool(os.stat(path).st_mode & OTHERS), may(path, user, READ)
    except (OSError, KeytabError) as error:
        return {**look, "problem": getattr(error, "strerror", None) or str(error)}
    problem = "" if is_readable else f"the user {user} of the node may not read it"
    faults = (fault(keys, principal) for principal in principals)
    version = newest(keys, principals[0]) if principals else 0
    return {**look, "problem": problem or next(filter(None, faults), ""), "is_open": is_open, "version": version}

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the metadata quorum of a cluster has ever had a leader, judged from the disks of all its voters.

A quorum that lost its leader must never be taken for one that never formed: the first holds the cluster's metadata and
restarts behind a gate. So a single record on one voter, a leader that one of them knew, or one that was not asked or
has no metadata log, makes it a quorum that may have formed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def never_formed(voters: Iterable[Mapping[str, Any] | None], brokers: Iterable[Mapping[str, Any] | None] = ()) -> bool:
    """Return whether no voter ever knew a leader or held a record, and no broker that was asked followed one.

    voters, brokers -- the results of node_info on each controller, and on the brokers as far as they were asked.
    """
    states = [(one or {}).get("quorum") for one in voters]
    followed = [state for one in brokers if (state := (one or {}).get("quorum")) and not _is_blank(state)]
    return bool(states) and not followed and all(_is_blank(state) for state in states)


def _is_blank(state: Mapping[str, Any] | None) -> bool:
    return bool(state) and state["leader"] is None and state["records"] is False  # type: ignore[index]

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Whether the metadata quorum of a cluster has no stable leader, judged from what its controllers see themselves.

No broker can tell: it is the one that asks in vain. One controller alone may be cut off from the others, which keep
their leader, so only a majority of all controllers makes an unsteady quorum.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Info = Mapping[str, Any] | None


def unsteady_quorum(controllers: Mapping[str, Info]) -> dict[str, Any]:
    """Return {controllers, first_epoch, last_epoch} of a quorum without a stable leader; empty of any other.

    controllers -- by host what node_info returned with watch_quorum, of all controllers of the cluster; one that was
    not asked, does not run or was not watched says nothing.
    """
    seen = _unsteady(controllers)
    if 2 * len(seen) <= len(controllers):
        return {}
    first = [quorum["first_epoch"] for quorum in seen.values() if quorum["first_epoch"] is not None]
    last = [quorum["last_epoch"] for quorum in seen.values() if quorum["last_epoch"] is not None]
    return {
        "controllers": list(seen),
        "first_epoch": min(first, default=None),
        "last_epoch": max(last, default=None),
    }


def cut_off(controllers: Mapping[str, Info]) -> list[str]:
    """Return the hosts of controllers that find no stable leader while most of the others do."""
    return [] if unsteady_quorum(controllers) else list(_unsteady(controllers))


def _unsteady(controllers: Mapping[str, Info]) -> dict[str, Mapping[str, Any]]:
    found = {host: (info or {}).get("quorum") or {} for host, info in controllers.items()}
    return {host: quorum for host, quorum in found.items() if quorum.get("unsteady")}

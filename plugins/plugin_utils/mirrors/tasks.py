# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Into how many tasks MirrorMaker 2 may cut a flow. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: Tasks for each core: one waits for the network while another works. A task is one consumer and one producer.
TASKS_PER_CORE = 2
#: Cores of a node, of which nobody says how many it has.
CORES = 2


def tasks_max(options: Mapping[str, Any]) -> int:
    """tasks.max for each flow: `options.tasks_max` when it is above 0, else four for each of `options.nodes`.

    It is an upper bound: MirrorSourceConnector makes no more tasks than there are partitions, so partitions, which
    the inventory does not know of, need no place in it. All nodes of a target must come to the same number, since the
    configuration is one for all of them.
    """
    wanted = int(options.get("tasks_max") or 0)
    if wanted > 0:
        return wanted
    return int(options.get("nodes") or 1) * CORES * TASKS_PER_CORE

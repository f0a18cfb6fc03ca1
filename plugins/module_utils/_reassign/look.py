# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Where the planner's snapshot comes from: a cluster, or a file that cluster_info filled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import PartitionAdmin
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import named
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import ids_alive
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RefusedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.snapshot import snapshot_of_text
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.spec import shown


def refuse_moving(admin: PartitionAdmin) -> None:
    """Raise RefusedError while partitions are being moved.

    Replicas read in the middle of a move are those of before and after together; a plan made from them would raise the
    replication factor (KAFKA-10510).
    """
    moving = named(admin.in_flight())
    if moving:
        raise RefusedError(
            "Reassignment",
            [f"{len(moving)} partitions are being moved now ({shown(moving)}); plan when that has ended"],
        )


def snapshot_now(admin: PartitionAdmin) -> dict[str, Any]:
    """The cluster now, with sizes; whoever calls knows that nothing is being moved."""
    snapshot = admin.snapshot()
    return describe(snapshot, log_dirs=admin.log_dirs(ids_alive(snapshot.brokers)))


def snapshot_of_file(path: str) -> Any:
    """The data that a file holds; raises StreamopsError when it cannot be read or is not JSON."""
    try:
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        raise StreamopsError(f"snapshot {path}: cannot be read ({error}). Nothing was changed.") from error
    return snapshot_of_text(text, path)

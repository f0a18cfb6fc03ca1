# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at the cluster: what moves, what a planner must know, who does not answer."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._client.session import Session
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import (
    disk_usage,
    list_brokers,
    list_reassignments,
    list_topics,
    live_brokers,
    replica_sizes,
    take_snapshot,
    topics_at,
)
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.info import describe
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key, named
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker, ids_alive
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import (
    RefusedError,
    RequestFailedError,
    StreamopsError,
)
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.api import read_record
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import Look, Standing, ours
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.snapshot import snapshot_of_text
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.spec import shown

if TYPE_CHECKING:
    from collections.abc import Mapping


#: Seconds for a connection to a broker that may be down.
_CONNECT = 3.0


def look_at(session: Session) -> Look:
    """The cluster now. Moves before partitions: one that ends in between shows as both ended and under way, which
    costs another look; the other order could show neither."""
    flying = list_reassignments(session)
    partitions = {(p.topic, p.index): p for found in list_topics(session).values() for p in found}
    return Look(partitions, flying, frozenset(live_brokers(session)))


def copied_bytes(session: Session, standing: Standing, look: Look) -> dict[int, Mapping[Key, int]]:
    """By broker the bytes of the new replicas of what is moving; a broker that does not tell costs the figure only."""
    wanted: dict[int, dict[str, list[int]]] = {}
    for row in standing.moving:
        for broker in look.in_flight[row.key].adding & look.alive:
            wanted.setdefault(broker, {}).setdefault(row.topic, []).append(row.index)
    found: dict[int, Mapping[Key, int]] = {}
    for broker, partitions in wanted.items():
        try:
            found[broker] = replica_sizes(session, broker, partitions)
        except RequestFailedError:
            continue
    return found


def not_answering(session: Session) -> dict[str, str]:
    """The brokers that the cluster still takes for alive and that do not answer, and why; none where it cannot tell.

    It notices some seconds later (broker.session.timeout.ms), and then moves go on without them.
    """
    found: dict[str, str] = {}
    with contextlib.suppress(StreamopsError):
        for broker in list_brokers(session):
            if not broker.fenced:
                why = _silence(session, broker)
                if why is not None:
                    found[f"{broker.id} ({broker.host}:{broker.port})"] = why
    return found


def _silence(session: Session, broker: Broker) -> str | None:
    try:
        socket.create_connection((broker.host, broker.port), _CONNECT).close()
        topics_at(session, broker.id, ())
    except OSError as error:
        return str(error)
    except RequestFailedError as error:
        return error.why
    return None


def what_stands(session: Session) -> dict[str, Any] | None:
    """What an earlier run has under way, and on which brokers throttles stand; None where nobody tells."""
    try:
        record = read_record(session)
        if record is None:
            return {"in_flight_total": 0, "throttled": []}
        return {"in_flight_total": len(ours(record, look_at(session))), "throttled": sorted(map(int, record.brokers))}
    except StreamopsError:
        return None


# -- where the snapshot of the planner comes from: a cluster, or a file that cluster_info filled ---------------------


def refuse_moving(session: Session) -> None:
    """Raise RefusedError while partitions are being moved.

    Replicas read in the middle of a move are those of before and after together; a plan made from them would raise the
    replication factor (KAFKA-10510).
    """
    moving = named(list_reassignments(session))
    if moving:
        raise RefusedError(
            "Reassignment",
            [f"{len(moving)} partitions are being moved now ({shown(moving)}); plan when that has ended"],
        )


def snapshot_now(session: Session) -> dict[str, Any]:
    """The cluster now, with sizes; whoever calls knows that nothing is being moved."""
    snapshot = take_snapshot(session)
    return describe(snapshot, log_dirs=disk_usage(session, ids_alive(snapshot.brokers)))


def snapshot_of_file(path: str) -> Any:
    """The data that a file holds; raises StreamopsError when it cannot be read or is not JSON."""
    try:
        text = Path(path).read_text()
    except (OSError, ValueError) as error:
        raise StreamopsError(f"snapshot {path}: cannot be read ({error}). Nothing was changed.") from error
    return snapshot_of_text(text, path)

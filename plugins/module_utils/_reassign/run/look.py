# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Looks at moves on the cluster."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.moving import Key
from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import Broker, ids_alive
from ansible_collections.streamops.kafka.plugins.module_utils._core.errors import RequestFailedError, StreamopsError
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.record import KEY, record_of
from ansible_collections.streamops.kafka.plugins.module_utils._reassign.run.step import Look, Standing, ours

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ansible_collections.streamops.kafka.plugins.module_utils._cluster.api import PartitionAdmin

#: Seconds for a connection to a broker that may be down.
_CONNECT = 3.0


def look_at(admin: PartitionAdmin) -> Look:
    """The cluster now. Moves before partitions: one that ends in between shows as both ended and under way, which
    costs another look; the other order could show neither."""
    flying = admin.in_flight()
    partitions = {(p.topic, p.index): p for found in admin.topics().values() for p in found}
    return Look(partitions, flying, frozenset(ids_alive(admin.brokers())))


def copied_bytes(admin: PartitionAdmin, standing: Standing, look: Look) -> dict[int, Mapping[Key, int]]:
    """By broker the bytes of the new replicas of what is moving; a broker that does not tell costs the figure only."""
    wanted: dict[int, dict[str, list[int]]] = {}
    for row in standing.moving:
        for broker in look.in_flight[row.key].adding & look.alive:
            wanted.setdefault(broker, {}).setdefault(row.topic, []).append(row.index)
    found: dict[int, Mapping[Key, int]] = {}
    for broker, partitions in wanted.items():
        try:
            found[broker] = admin.replica_sizes(broker, partitions)
        except RequestFailedError:
            continue
    return found


def not_answering(admin: PartitionAdmin) -> dict[str, str]:
    """The brokers that the cluster still takes for alive and that do not answer, and why; none where it cannot tell.

    It notices some seconds later (broker.session.timeout.ms), and then moves go on without them.
    """
    found: dict[str, str] = {}
    with contextlib.suppress(StreamopsError):
        for broker in admin.brokers():
            if not broker.fenced:
                why = _silence(admin, broker)
                if why is not None:
                    found[f"{broker.id} ({broker.host}:{broker.port})"] = why
    return found


def _silence(admin: PartitionAdmin, broker: Broker) -> str | None:
    try:
        socket.create_connection((broker.host, broker.port), _CONNECT).close()
        admin.topics_at(broker.id, ())
    except OSError as error:
        return str(error)
    except RequestFailedError as error:
        return error.why
    return None


def what_stands(admin: PartitionAdmin) -> dict[str, Any] | None:
    """What an earlier run has under way, and on which brokers throttles stand; None where nobody tells."""
    try:
        record = record_of(admin.read_state(KEY)[0])
        if record is None:
            return {"in_flight_total": 0, "throttled": []}
        return {"in_flight_total": len(ours(record, look_at(admin))), "throttled": sorted(map(int, record.brokers))}
    except StreamopsError:
        return None

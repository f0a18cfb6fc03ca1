"""Figures for result.json, from which alone the report is drawn. Pure."""
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

from typing import Any

from spark_validation.smoke import latency
from spark_validation.smoke.config import Arguments
from spark_validation.smoke.ledger import Ledger
from spark_validation.smoke.observed import Observation
from spark_validation.smoke.topic import Partition


def cluster(topic: str, partitions: list[Partition], arguments: Arguments) -> dict[str, Any]:
    """Brokers and partitions as the report shows them.

    Brokers come from the layout that was handed in (it also knows those that lead nothing) and from the replicas. One
    that the layout calls fenced, or does not name (ZooKeeper forgets who is down), is not alive; without a layout one
    that is in sync with nothing.
    """
    layout = arguments.layout or {}
    leaders = {partition.leader.id: partition.leader for partition in partitions if partition.leader}
    known = {int(broker["id"]): broker for broker in layout.get("brokers", [])}
    ids = sorted({*known, *(replica for partition in partitions for replica in partition.replicas)})
    in_sync = {replica for partition in partitions for replica in partition.isr}
    brokers = []
    for broker in ids:
        seen, listed = leaders.get(broker), known.get(broker, {})
        brokers.append(
            {
                "id": broker,
                "host": seen.host if seen else listed.get("host"),
                "port": seen.port if seen else listed.get("port"),
                "rack": seen.rack if seen else listed.get("rack"),
                "alive": broker in known and not listed.get("fenced") if known else broker in in_sync,
                "leads": sum(1 for partition in partitions if partition.leader and partition.leader.id == broker),
            }
        )
    return {
        "id": layout.get("cluster_id"),
        "bootstrap_servers": arguments.bootstrap_servers,
        "topic": topic,
        "brokers": brokers,
        "partitions": [
            {
                "index": partition.index,
                "leader": partition.leader.id if partition.leader else None,
                "replicas": list(partition.replicas),
                "isr": list(partition.isr),
            }
            for partition in partitions
        ],
    }


def of_observation(seen: Observation, ledger: Ledger, width_ms: int) -> dict[str, Any]:
    """The distributions of one audit: by partition, latency, and along the timeline (width in milliseconds)."""
    return {
        "partitions": [
            {
                "partition": index,
                "expected": ledger.shape.partition_size(index),
                "records": seen.partitions[index].records if index in seen.partitions else 0,
                "bytes": seen.partitions[index].bytes if index in seen.partitions else 0,
            }
            for index in range(ledger.shape.partitions)
        ],
        "latency": latency.summary(seen.latency, seen.latency_total_ms, seen.latency_least_ms, seen.latency_most_ms),
        "timeline": {
            "began_ms": ledger.began_ms,
            "width_ms": width_ms,
            "slots": [{"index": slot.index, "records": slot.records, "bytes": slot.bytes} for slot in seen.timeline],
        },
        "total": {"records": seen.records, "bytes": seen.bytes},
    }


def covered(seen: Observation, ledger: Ledger, gone: int) -> list[str]:
    """Return what an audit compared and what it left out, in sentences; `gone`: offsets that are no longer there."""
    shape = ledger.shape
    lines = [
        f"compared topic {ledger.topic}: {seen.records:,} records read of {shape.records:,} acknowledged, in "
        f"{len(seen.partitions):,} of {shape.partitions:,} partitions"
    ]
    return [*lines, *([f"left out: {gone:,} offsets that the topic no longer holds"] if gone else [])]

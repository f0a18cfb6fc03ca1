# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Which broker properties Kafka takes without a restart.

The list is what every release that we support names itself, less the keys of _ONLY_BY_RESTART. tools/KafkaRelease.java
prints what the jars of one name; tools/add_release says which of ours a new release does not.
"""

from __future__ import annotations

#: Properties of the whole cluster, never of one broker. With eligible leader replicas (KIP-966) the controller keeps
#: min.insync.replicas as the cluster-wide default and ignores server.properties: set it there, never restart for it.
CLUSTER_LEVEL = frozenset({"min.insync.replicas"})

#: Kafka could take these live too, but only for a named listener, or by loading classes and secrets: a restart applies
#: them as a whole, and no half-applied security is ever in force.
_ONLY_BY_RESTART = (
    "advertised.listeners",
    "config.providers",
    "listener.",
    "listeners",
    "metric.reporters",
    "principal.builder.class",
    "sasl.",
    "ssl.",
)

# Pure data, one key a line.
_DYNAMIC = frozenset(
    {
        "background.threads",
        "compression.gzip.level",
        "compression.lz4.level",
        "compression.type",
        "compression.zstd.level",
        "log.cleaner.backoff.ms",
        "log.cleaner.dedupe.buffer.size",
        "log.cleaner.delete.retention.ms",
        "log.cleaner.io.buffer.load.factor",
        "log.cleaner.io.buffer.size",
        "log.cleaner.io.max.bytes.per.second",
        "log.cleaner.max.compaction.lag.ms",
        "log.cleaner.min.cleanable.ratio",
        "log.cleaner.min.compaction.lag.ms",
        "log.cleaner.threads",
        "log.cleanup.policy",
        "log.flush.interval.messages",
        "log.flush.interval.ms",
        "log.index.interval.bytes",
        "log.index.size.max.bytes",
        "log.local.retention.bytes",
        "log.local.retention.ms",
        "log.message.timestamp.after.max.ms",
        "log.message.timestamp.before.max.ms",
        "log.message.timestamp.type",
        "log.preallocate",
        "log.retention.bytes",
        "log.retention.ms",
        "log.roll.jitter.ms",
        "log.roll.ms",
        "log.segment.bytes",
        "log.segment.delete.delay.ms",
        "max.connection.creation.rate",
        "max.connections",
        "max.connections.per.ip",
        "max.connections.per.ip.overrides",
        "message.max.bytes",
        "min.insync.replicas",
        "num.io.threads",
        "num.network.threads",
        "num.recovery.threads.per.data.dir",
        "num.replica.fetchers",
        "producer.id.expiration.ms",
        "remote.fetch.max.wait.ms",
        "remote.log.index.file.cache.total.size.bytes",
        "remote.log.manager.copy.max.bytes.per.second",
        "remote.log.manager.fetch.max.bytes.per.second",
        "transaction.partition.verification.enable",
        "unclean.leader.election.enable",
    }
)


def is_dynamic(key: str) -> bool:
    """Return whether a running broker takes a new value of this property; if not, only a restart applies it."""
    return key in _DYNAMIC and not key.startswith(_ONLY_BY_RESTART)

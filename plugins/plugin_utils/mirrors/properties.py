# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The file mm2.properties of the mirrors next to one cluster, for MirrorMaker 2 in dedicated mode. Pure.

How keys are read is MirrorMakerConfig's way, the same in Kafka 3.9 and 4.3:
- workerConfig: what the Connect workers of a pair get is `target.KEY`; `target.producer.KEY` reaches the producer of
  the data. Bare worker keys are not looked at, except those of the storage topics, which would win over `target.KEY`.
- connectorBaseConfig: bare keys of the three connectors hold for all pairs, `source->target.KEY` wins over them, for
  the replication policy too. `source.consumer.KEY` wins over `source->target.consumer.KEY`, so ours is the latter and
  any form that a user chooses wins.
- clusterPairs: see mirrors/heartbeats.py.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...module_utils._mirror.flows import GROUPS_EXCLUDED, IDENTITY, OFFSETS_SEGMENT_BYTES, TOPICS_EXCLUDED, Flow
from ...module_utils._release.releases import release
from .heartbeats import emits, heartbeat_workers, mirror_maker_flows, reverse_herders
from .tuning import CONSUMER, PRODUCER

#: Copies of every topic that a mirror makes, where the cluster has as many brokers.
COPIES = 3
#: Leaves the number of copies to the cluster's default.replication.factor (KIP-464).
OWN_COPIES = -1
#: How often positions of groups are translated and written down; Kafka's own is 60.
CHECKPOINT_SECONDS = 30
#: How properties of clients begin behind the cluster or the flow that they are of.
CLIENTS = ("consumer.", "producer.", "admin.")
_POLICIES = "org.apache.kafka.connect.mirror."
#: Keys that not all releases know (KIP-1089, and names of metrics that 3.9 has too).
_HEARTBEATS_REPLICATION = "heartbeats.replication.enabled"
_METRIC_NAMES = "metric.names.formats"
#: Tasks for each core: one waits for the network while another works. A task is one consumer and one producer.
TASKS_PER_CORE = 2
#: Cores of a node, of which nobody says how many it has.
CORES = 2


def mirror_properties(
    flows: Sequence[Flow],
    target: str,
    clusters: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    version: str,
) -> dict[str, Any]:
    """All properties of the mirrors next to `target`, the same on each of their nodes but for `options.rest_url`.

    flows -- all of the inventory: heartbeats depend on the flows the other way too.
    clusters -- alias to {bootstrap_servers: list of host:port, properties: native client properties with secrets as
    ${file:path:key}, brokers: how many, or None where that is not known}.
    options -- tasks_max and nodes (see tasks_max), refresh_seconds, offset_flush_seconds, rebalance_delay_seconds,
    rest_url (where this mirror listens for the others, empty for nowhere), secrets_dir, config (native; wins over
    everything, a bare key over ours of each flow too, but not over a flow's own config).
    version -- Kafka's, of the mirrors themselves.
    Raises ValueError for a target without flows, a cluster that is not described, several nodes without rest_url.
    """
    carried = mirror_maker_flows(flows, target)
    if not carried:
        raise ValueError(
            f"no flow of MirrorMaker 2 into {target} is enabled, so there is nothing for its mirrors to do"
        )
    reverse = reverse_herders(flows, target)
    found = {
        **_common(options, _copies(clusters, target), version),
        **_rest(options, target),
        "clusters": [target, *sorted({flow.source for flow in carried})],
        **_target(target, carried, options),
    }
    for alias in found["clusters"]:
        found.update(_cluster(alias, clusters))
    for alias in [target, *reverse]:
        found.update(_worker(alias, _copies(clusters, alias), options))
    for flow in carried:
        found.update(_prefixed(flow.pair, _flow(flow, flows, clusters, version)))
    for source in reverse:
        found.update(_prefixed(f"{target}->{source}", _heartbeats_only(_copies(clusters, source))))
        found.update(_prefixed(source, _own_workers(heartbeat_workers(target))))
    return _with_users(found, carried, options.get("config") or {})


def tasks_max(options: Mapping[str, Any]) -> int:
    """tasks.max for each flow: `options.tasks_max` when it is above 0, else four for each of `options.nodes`.

    It is an upper bound: MirrorSourceConnector makes no more tasks than there are partitions, so partitions, which
    the inventory does not know of, need no place in it. All nodes of a target must come to the same number, since the
    configuration is one for all of them.
    """
    wanted = int(options.get("tasks_max") or 0)
    return wanted if wanted > 0 else int(options.get("nodes") or 1) * CORES * TASKS_PER_CORE


def config_providers(options: Mapping[str, Any]) -> dict[str, Any]:
    """Kafka reads ${file:path:key} itself; connectors' configurations keep the reference, also in their topic."""
    provider = {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
    }
    # KIP-993: no configuration can make Kafka read any other file.
    allowed = options.get("secrets_dir")
    return {**provider, **({"config.providers.file.param.allowed.paths": allowed} if allowed else {})}


def _prefixed(prefix: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    return {f"{prefix}.{key}": value for key, value in properties.items()}


def _described(clusters: Mapping[str, Mapping[str, Any]], alias: str) -> Mapping[str, Any]:
    if alias not in clusters:
        raise ValueError(f"cluster {alias} of mirror_flows is not described; known are {', '.join(sorted(clusters))}")
    return clusters[alias]


def _copies(clusters: Mapping[str, Mapping[str, Any]], alias: str) -> int:
    brokers = _described(clusters, alias)["brokers"]
    return OWN_COPIES if brokers is None else max(1, min(COPIES, int(brokers)))


def _common(options: Mapping[str, Any], copies: int, version: str) -> dict[str, Any]:
    """Return what holds for every flow: bare keys, which a user's bare key replaces."""
    refresh = options["refresh_seconds"]
    return {
        **config_providers(options),
        # Said for each pair that has it; without this a herder would run for any two clusters of the list.
        "emit.heartbeats.enabled": False,
        # Kafka's 1 is one pipeline for everything.
        "tasks.max": tasks_max(options),
        # Kafka's 2 lets one failing broker stop what is written with acks=all and min.insync.replicas 2. The latter
        # stays the target's own: it is in Kafka's config.properties.exclude (DefaultConfigPropertyFilter).
        "replication.factor": copies,
        "checkpoints.topic.replication.factor": copies,
        # Kafka's 600: a new topic would wait ten minutes.
        "refresh.topics.interval.seconds": refresh,
        "refresh.groups.interval.seconds": refresh,
        "emit.checkpoints.interval.seconds": CHECKPOINT_SECONDS,
        "sync.group.offsets.interval.seconds": CHECKPOINT_SECONDS,
        # The names that 3.9 has too, so that dashboards live through the upgrade; gone in 5.0.
        **({_METRIC_NAMES: "legacy"} if _METRIC_NAMES in release(version).options else {}),
    }


def _rest(options: Mapping[str, Any], target: str) -> dict[str, Any]:
    """The internal REST server (KIP-710), by which followers hand the leader what they found."""
    if not options.get("rest_url"):
        if int(options.get("nodes") or 1) > 1:
            raise ValueError(
                f"{target} has {options['nodes']} mirrors and options has no rest_url: without it new topics "
                "would never be mirrored by them (KAFKA-9981)"
            )
        return {}
    return {
        "dedicated.mode.enable.internal.rest": True,
        "listeners": options["rest_url"],
    }


def _target(target: str, carried: Sequence[Flow], options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what belongs to the target's workers and to the producers that write into it."""
    worker = {
        # KIP-618; the same for all flows into one target.
        "exactly.once.source.support": carried[0].exactly_once,
        # Without exactly once, what was mirrored since the last flush comes twice after a hard end; Kafka's is 60 s.
        "offset.flush.interval.ms": int(options["offset_flush_seconds"]) * 1000,
        **_prefixed("producer", PRODUCER),
    }
    return _prefixed(target, worker)


def _cluster(alias: str, clusters: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    described = _described(clusters, alias)
    client = {"bootstrap.servers": list(described["bootstrap_servers"]), **(described.get("properties") or {})}
    return _prefixed(alias, client)


def _worker(alias: str, copies: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the herders need that keep their state in this cluster."""
    storage: dict[str, Any] = {f"{name}.storage.replication.factor": copies for name in ("config", "offset", "status")}
    storage["offset.storage.segment.bytes"] = OFFSETS_SEGMENT_BYTES
    # Kafka's 300 s leave the tasks of a dead node idle for so long.
    delay = int(options["rebalance_delay_seconds"]) * 1000
    return _prefixed(alias, {**storage, "scheduled.rebalance.max.delay.ms": delay})


def _flow(flow: Flow, flows: Sequence[Flow], clusters: Mapping[str, Mapping[str, Any]], version: str) -> dict[str, Any]:
    syncs_in = flow.target if flow.untouched_source else flow.source
    policy = "IdentityReplicationPolicy" if flow.policy == IDENTITY else "DefaultReplicationPolicy"
    return {
        "enabled": True,
        "topics": _list(flow.topics),
        # Written out, since Kafka's own differ by version and a list of ours replaces them.
        "topics.exclude": _list(TOPICS_EXCLUDED, flow.topics_exclude),
        "groups": _list(flow.groups),
        "groups.exclude": _list(GROUPS_EXCLUDED, flow.groups_exclude),
        "replication.policy.class": _POLICIES + policy,
        "sync.topic.configs.enabled": flow.sync_topic_configs,
        # Kafka's is true; ACLs belong to the inventory.
        "sync.topic.acls.enabled": flow.sync_topic_acls,
        "sync.group.offsets.enabled": flow.sync_group_offsets,
        "offset-syncs.topic.location": "target" if flow.untouched_source else "source",
        "offset-syncs.topic.replication.factor": _copies(clusters, syncs_in),
        "emit.heartbeats.enabled": emits(flows, flow.source, flow.target),
        "heartbeats.topic.replication.factor": _copies(clusters, flow.target),
        **({_HEARTBEATS_REPLICATION: flow.heartbeats} if _HEARTBEATS_REPLICATION in release(version).options else {}),
        **_prefixed("consumer", CONSUMER),
    }


def _heartbeats_only(copies: int) -> dict[str, Any]:
    """A pair that only writes heartbeats into its target, the source of a flow."""
    return {
        "enabled": False,
        "emit.heartbeats.enabled": True,
        "heartbeats.topic.replication.factor": copies,
    }


def _own_workers(alias: str) -> dict[str, Any]:
    """Workers that share neither their group nor their topics with those of a flow (MirrorMakerConfig.workerConfig)."""
    topics = {"offset": "offsets", "config": "configs", "status": "status"}
    return {
        "group.id": f"{alias}-mm2",
        **{f"{kind}.storage.topic": f"mm2-{name}.{alias}.internal" for kind, name in topics.items()},
    }


def _list(*parts: Sequence[str]) -> list[str]:
    """Each once: Kafka 4.3 complains of duplicates in these lists (KIP-1161)."""
    return list(dict.fromkeys(str(item) for part in parts for item in part))


def _with_users(ours: dict[str, Any], carried: Sequence[Flow], config: Mapping[str, Any]) -> dict[str, Any]:
    """Ours, under what flows say of themselves, under what is said of all.

    A bare key ranks below that of a pair in MirrorMaker, so ours make way for a bare key of a user. At bare keys of
    clients it does not look, and preflight refuses them: ours stay.
    """
    heard = {key for key in config if not key.startswith(CLIENTS)}
    hidden = {key for key in ours if "->" in key and key.split(".", 1)[1] in heard}
    found = {key: value for key, value in ours.items() if key not in hidden}
    for flow in carried:
        found.update(_prefixed(flow.pair, flow.config or {}))
    return {**found, **config}

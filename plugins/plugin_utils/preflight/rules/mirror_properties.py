# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on native properties of mirrors that a variable of ours sets already, or that nothing reads."""

from __future__ import annotations

from collections.abc import Iterator

from ...inventory.model import Inventory, Node
from ...inventory.properties import Property
from ..mirror_flows import VARIABLE, flows, where
from ..rule import Problem, rule
from .properties import managed

# Native properties of a pair (MirrorConnectorConfig, MirrorSourceConfig ...), with the key of the flow that says them.
OF_FLOWS = {
    "enabled": "enabled",
    "topics": "topics",
    "topics.exclude": "topics_exclude",
    "groups": "groups",
    "groups.exclude": "groups_exclude",
    "replication.policy.class": "policy",
    "sync.group.offsets.enabled": "sync_group_offsets",
    "sync.topic.configs.enabled": "sync_topic_configs",
    "sync.topic.acls.enabled": "sync_topic_acls",
    "emit.heartbeats.enabled": "heartbeats",
    "offset-syncs.topic.location": "untouched_source",
    "exactly.once.source.support": "exactly_once",
}
# Those of a target's workers, with the variable that says them. A single flow may still have its own tasks.max.
OF_MIRRORS = {
    "clusters": f"source and target of {VARIABLE}",
    "bootstrap.servers": "kafka_listeners and mirror_listener of the cluster",
    "tasks.max": "mirror_maker_tasks_max",
    "refresh.topics.interval.seconds": "mirror_maker_refresh_seconds",
    "refresh.groups.interval.seconds": "mirror_maker_refresh_seconds",
    "offset.flush.interval.ms": "mirror_maker_offset_flush_seconds",
    "scheduled.rebalance.max.delay.ms": "mirror_maker_rebalance_delay_seconds",
    "listeners": "mirror_maker_rest_port",
    "dedicated.mode.enable.internal.rest": "mirror_maker_rest_port",
}
# Properties of clients: where MirrorMaker 2 looks for them (MirrorMakerConfig, MirrorConnectorConfig). Without a prefix
# it takes none of them, but for the one that is of a connector itself.
OF_NO_CLUSTER = {
    "consumer.": "config of the flow, or SOURCE->TARGET.{key}",
    "producer.": "TARGET.{key}",
    "admin.": "CLUSTER.{key}",
}
OF_CONNECTORS = "consumer.poll.timeout.ms"
# Those of the two clients of the legacy engine.
OF_CLIENTS = {
    "bootstrap.servers": "kafka_listeners and mirror_listener of the cluster",
    "group.id": "source and target of the flow, which name the group",
}


_FIX = "remove the property and set the key or variable"


@rule(fix=_FIX)
def managed_flow_property(inventory: Inventory) -> Iterator[Problem]:
    """`config`, `consumer_config` or `producer_config` of a flow has a property that a key of the flow or a variable
    sets; or the prefix of the flow, which the collection writes."""
    for flow in flows(inventory):
        hosts, place = where(inventory, flow.target), f"{VARIABLE}, config of {flow.pair}"
        for key in map(str, flow.config or ()):
            instead = OF_FLOWS.get(key.removeprefix(f"{flow.pair}."))
            if instead is not None:
                yield managed(hosts, place, key, f"the key {instead} of the flow")
            elif key.startswith(f"{flow.pair}."):
                allowed = key.removeprefix(f"{flow.pair}.")
                fix = "remove the prefix, the collection writes it"
                yield Problem(hosts, "the property would have the prefix of the flow twice", key, allowed, fix, place)
        for name in ("consumer_config", "producer_config"):
            for key in map(str, getattr(flow, name) or ()):
                if key in OF_CLIENTS:
                    yield managed(hosts, f"{VARIABLE}, {name} of {flow.pair}", key, OF_CLIENTS[key])


@rule(fix=_FIX)
def managed_mirror_property(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_maker_config` has a property, whatever its prefix, that a key of the flows or a variable sets."""
    listed = flows(inventory)
    prefixes = [f"{flow.pair}." for flow in listed]
    prefixes += [f"{name}." for flow in listed for name in (flow.source, flow.target)]
    for mirror, one in _written(inventory):
        key = one.key
        plain, of_pair = without_prefix(key, prefixes), "->" in key
        instead = OF_FLOWS.get(plain) and f"{OF_FLOWS[plain]} of each flow"
        instead = instead or (None if of_pair else OF_MIRRORS.get(plain))
        if instead:
            yield managed(mirror, one.variable, key, instead)


@rule(fix="name the cluster or the flow in the key, or remove it")
def ignored_client_property(inventory: Inventory) -> Iterator[Problem]:
    """`mirror_maker_config` has a property of a client that names neither cluster nor flow: MirrorMaker ignores it."""
    for mirror, one in _written(inventory):
        key = one.key
        place = next((place for start, place in OF_NO_CLUSTER.items() if key.startswith(start)), "")
        if place and key != OF_CONNECTORS:
            what = "MirrorMaker ignores a property of a client that names neither a cluster nor a flow"
            yield Problem(mirror, what, key, place.format(key=key), variable=one.variable)


def _written(inventory: Inventory) -> Iterator[tuple[Node, Property]]:
    for mirror in inventory.mirrors:
        for one in mirror.written():
            yield mirror, one


def without_prefix(key: str, prefixes: list[str]) -> str:
    """A native property without the pair or the cluster that it is about."""
    return next((key.removeprefix(prefix) for prefix in prefixes if key.startswith(prefix)), key)

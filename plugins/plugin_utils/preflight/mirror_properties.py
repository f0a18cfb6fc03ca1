# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on native properties of mirrors: what a variable of ours says is not said a second time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ansible_collections.streamops.kafka.plugins.module_utils._mirror.flows import Flow
from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.mirror_flows import (
    VARIABLE,
    flows,
    violation,
)
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.violation import ERROR, Violation

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


def flow_properties(inventory: Inventory) -> Iterator[Violation]:
    """C10: a key of a flow and a raw property for the same thing is an error, not a race."""
    for flow in flows(inventory):
        for key in map(str, flow.config or ()):
            said = OF_FLOWS.get(key.removeprefix(f"{flow.pair}."))
            if said is not None:
                yield _twice(inventory, flow, "config", key, f"the key {said} of the flow")
            elif key.startswith(f"{flow.pair}."):
                yield violation(
                    inventory, "C10", [flow.target], "the prefix of the flow would stand there twice", key,
                    key.removeprefix(f"{flow.pair}."), "leave the prefix out, the collection writes it",
                    variable=f"{VARIABLE}, config of {flow.pair}",
                )  # fmt: skip


def client_properties(inventory: Inventory) -> Iterator[Violation]:
    """C10: the same of the consumer and the producer of a legacy flow."""
    for flow in flows(inventory):
        for name in ("consumer_config", "producer_config"):
            for key in map(str, getattr(flow, name) or ()):
                if key in OF_CLIENTS:
                    yield _twice(inventory, flow, name, key, OF_CLIENTS[key])


def mirror_properties(inventory: Inventory) -> Iterator[Violation]:
    """C10: the same of mirror_maker_config, whatever prefix the property has there."""
    listed = flows(inventory)
    prefixes = [f"{flow.pair}." for flow in listed]
    prefixes += [f"{name}." for flow in listed for name in (flow.source, flow.target)]
    for mirror in inventory.mirrors:
        given = mirror.get("mirror_maker_config", {})
        for key in map(str, given if isinstance(given, Mapping) else ()):
            plain, of_pair = without_prefix(key, prefixes), "->" in key
            said = OF_FLOWS.get(plain) and f"{OF_FLOWS[plain]} of each flow"
            said = said or (None if of_pair else OF_MIRRORS.get(plain))
            if said:
                yield Violation(
                    "C10", ERROR, (mirror.name,), f"mirror_maker_config['{key}']",
                    "the collection writes this property itself from a variable of its own", key,
                    "properties that have no variable of their own", f"take it out and say it through {said}",
                )  # fmt: skip


def client_prefixes(inventory: Inventory) -> Iterator[Violation]:
    """C24: a property of a client says whose client it is; MirrorMaker ignores one that does not, without a word."""
    for mirror in inventory.mirrors:
        given = mirror.get("mirror_maker_config", {})
        for key in map(str, given if isinstance(given, Mapping) else ()):
            place = next((place for start, place in OF_NO_CLUSTER.items() if key.startswith(start)), "")
            if place and key != OF_CONNECTORS:
                yield Violation(
                    "C24", ERROR, (mirror.name,), f"mirror_maker_config['{key}']",
                    "MirrorMaker takes no property of a client that names neither a cluster nor a flow", key,
                    place.format(key=key), "put it there, or take it out",
                )  # fmt: skip


def without_prefix(key: str, prefixes: list[str]) -> str:
    """A native property without the pair or the cluster that it is about."""
    return next((key.removeprefix(prefix) for prefix in prefixes if key.startswith(prefix)), key)


def _twice(inventory: Inventory, flow: Flow, where: str, key: str, said: str) -> Violation:
    return violation(
        inventory, "C10", [flow.target], "the collection writes this property itself from a key of its own", key,
        "properties that have no key of their own", f"take it out and say it through {said}",
        variable=f"{VARIABLE}, {where} of {flow.pair}",
    )  # fmt: skip


RULES = (flow_properties, client_properties, mirror_properties, client_prefixes)

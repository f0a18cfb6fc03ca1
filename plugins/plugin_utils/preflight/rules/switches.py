# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Preflight rules on single properties that switch off what a cluster lives by; Kafka takes each of them."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.plugin_utils.inventory.model import Inventory
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.in_force import brokers, written
from ansible_collections.streamops.kafka.plugins.plugin_utils.preflight.rule import BY_PROFILE, Problem, rule

#: What ends with these switched off.
SWITCHES = {
    "log.cleaner.enable": "compacted topics, those of groups and transactions too, grow until the disk is full",
    "controlled.shutdown.enable": "each restart leaves partitions without a leader until the broker is missed",
}
#: Numbers below which nothing goes on; releases that know this themselves refuse them.
LEAST = {
    "num.replica.fetchers": (1, "no follower copies anything"),
    "num.replica.alter.log.dirs.threads": (1, "no partition moves between the disks of a broker"),
    "broker.heartbeat.interval.ms": (1, "the broker sends heartbeats without a pause"),
    "replica.fetch.wait.max.ms": (1, "followers ask their leaders without a pause"),
    "replica.fetch.min.bytes": (1, "followers ask their leaders without a pause"),
}


@rule(fix="remove it", allowed="true", level=BY_PROFILE, acceptable=True)
def switched_off(inventory: Inventory) -> Iterator[Problem]:
    """`log.cleaner.enable` or `controlled.shutdown.enable` is false: compacted topics (those of groups and transactions
    too) fill the disk, or each restart leaves partitions without a leader."""
    for node in brokers(inventory):
        own = node.properties()
        for key, what in SWITCHES.items():
            if key in own and str(own[key].value).strip().lower() == "false":
                yield Problem(node, what, f"{key} false", variable=own[key].variable)


@rule(fix="raise it, or remove it to get the default")
def number_that_stops(inventory: Inventory) -> Iterator[Problem]:
    """A number that Kafka takes stops what it counts, or lets it never rest: `num.replica.fetchers` 0 (3.9),
    `num.replica.alter.log.dirs.threads` 0, `broker.heartbeat.interval.ms` 0, `replica.fetch.wait.max.ms` 0,
    `replica.fetch.min.bytes` 0, or less."""
    for node in brokers(inventory):
        for key, (least, what) in LEAST.items():
            one = written(node, key)
            if one is not None and one.value < least:
                yield Problem(node, what, str(one), f"at least {least}", variable=one.variable)

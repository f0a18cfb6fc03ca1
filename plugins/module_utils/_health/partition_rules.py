# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on partitions: whether they have leaders, replicas in sync, and leaders where these belong."""

from __future__ import annotations

from collections.abc import Iterator

from ansible_collections.streamops.kafka.plugins.module_utils._health.model import (
    FATAL,
    SERIOUS,
    Finding,
    Limits,
    State,
)


def partitions(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find partitions without a leader (partitions_offline), below min.insync.replicas (under_min_isr) and with
    replicas that are not in sync (under_replicated): Kafka's metrics of these names."""
    counts = state.seen["counts"]
    for key, kind, severity, words, fix in (
        ("offline", "partitions_offline", FATAL, "without a leader", "start the brokers that hold their replicas"),
        (
            "under_min_isr",
            "under_min_isr",
            SERIOUS,
            "below min.insync.replicas",
            "see broker_cut_off: until then acks=all is refused"
            if state.cut_off
            else "start the brokers that are missing: until then acks=all is refused",
        ),
        ("under_replicated", "under_replicated", SERIOUS, "under-replicated", "see the findings on brokers and disks"),
    ):
        if counts.get(key):
            what = f"{counts[key]} of {counts['partitions']} partitions {words}"
            yield Finding(kind, severity, what, str(counts[key]), "0", fix)


def at_min_isr(state: State, _limits: Limits) -> Iterator[Finding]:
    """Find partitions that would refuse acks=all if one more replica were lost, unless they were made so: a topic whose
    replication factor is its min.insync.replicas is so at its best, which the preflight judges."""
    info = state.seen
    close = [one for one in info.get("at_min_isr", ()) if len(one["isr"]) < len(one["replicas"])]
    if close:
        yield Finding(
            "at_min_isr",
            SERIOUS,
            f"{len(close)} of {info['counts']['partitions']} partitions at min.insync.replicas",
            found=str(len(close)),
            allowed="0",
            next_step="restart no other broker before the replicas are in sync (module isr_wait)",
        )


def leaders_skewed(state: State, limits: Limits) -> Iterator[Finding]:
    """Find brokers whose preferred partitions other brokers lead."""
    for broker in state.seen["nodes"]:
        share = broker.get("imbalance_percent") or 0
        if share > limits.max_imbalance_percent and not broker["fenced"]:
            name = state.name(broker["id"])
            yield Finding(
                "leaders_skewed",
                SERIOUS,
                f"leaders are skewed: other brokers lead {share:.0f} % of the preferred partitions of {name}",
                found=f"{share:.0f} %",
                allowed=f"at most {limits.max_imbalance_percent:g} %",
                next_step="the module leader_election, once its replicas are in sync",
            )

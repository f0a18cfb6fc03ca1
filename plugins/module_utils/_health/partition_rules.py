# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""The rules on partitions: whether they have leaders, replicas in sync, and leaders where these belong."""

from __future__ import annotations

from collections.abc import Iterator

from .._core.names import capped
from .consequences import awaited
from .model import BALANCE, FATAL, SERIOUS, SHOWN, HealthFinding, Limits, State


def partitions(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find partitions without a leader (partitions_offline), below min.insync.replicas (under_min_isr) and with
    replicas that are not in sync (under_replicated): Kafka's metrics of these names.

    Those that follow from a broker that is down or cut off are in its finding, and those without a leader in their own.
    """
    info = state.seen
    offline = info["counts"].get("offline")
    if offline:
        names = [state.name(broker) for broker in awaited(info.get("offline") or ())]
        waits = f": they wait for {capped(names, SHOWN)}" if names else ""
        yield HealthFinding(
            "partitions_offline",
            FATAL,
            f"{offline} of {info['counts']['partitions']} partitions without a leader{waits}",
            found=str(offline),
            allowed="0",
            next_step="start the brokers that hold their replicas",
        )
    for kind, words, fix in (
        (
            "under_min_isr",
            "below min.insync.replicas",
            "see who does not copy: until then acks=all is refused"
            if state.attributions
            else "start the brokers that are missing: until then acks=all is refused",
        ),
        ("under_replicated", "under-replicated", "see the findings on brokers and disks"),
    ):
        rows = info.get(kind) or ()
        unexplained = state.consequences.left(rows)
        left = (info["counts"].get(kind) or 0) - len(rows) + len(unexplained)
        if left:
            yield HealthFinding(kind, SERIOUS, _counted(state, left, words), str(left), "0", fix)


def at_min_isr(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find partitions that would refuse acks=all if one more replica were lost, unless they were made so: a topic whose
    replication factor is its min.insync.replicas is so at its best, which the preflight judges."""
    rows = state.consequences.left(state.seen.get("at_min_isr") or ())
    close = [one for one in rows if len(one["isr"]) < len(one["replicas"])]
    if close:
        yield HealthFinding(
            "at_min_isr",
            SERIOUS,
            _counted(state, len(close), "at min.insync.replicas"),
            found=str(len(close)),
            allowed="0",
            next_step="restart no other broker before the replicas are in sync (module isr_wait)",
        )


def uneven_replicas(state: State, _limits: Limits) -> Iterator[HealthFinding]:
    """Find topics whose partitions have different numbers of replicas: the replication factor is one number.

    kafka-reassign-partitions gives each partition what its file says. While a move runs, or its record is there,
    partitions differ because of it.
    """
    if state.recorded is not None:
        return
    moving = {topic for topic, _partition in state.in_flight or ()}
    by_topic: dict[str, list[int]] = {}
    for partition in state.partitions:
        by_topic.setdefault(partition.topic, []).append(len(partition.replicas))
    uneven = {name: held for name, held in by_topic.items() if name not in moving and len(set(held)) > 1}
    if uneven:
        named = [
            f"{name} ({sum(count < max(held) for count in held)} of {len(held)} partitions have fewer than "
            f"{max(held)}, down to {min(held)})"
            for name, held in sorted(uneven.items())
        ]
        yield HealthFinding(
            "uneven_replicas",
            SERIOUS,
            f"{len(uneven)} topic(s) have partitions with fewer replicas than others: {capped(named, SHOWN)}",
            found=str(len(uneven)),
            allowed="0",
            next_step="give all partitions the same number of replicas: ansible-playbook "
            "streamops.kafka.change_replication_factor -i INVENTORY",
        )


def _counted(state: State, left: int, words: str) -> str:
    """Return how many partitions are so; "more" where findings on brokers tell of others."""
    has_others = state.consequences.of or state.consequences.attributed
    return f"{left}{' more' if has_others else ''} of {state.seen['counts']['partitions']} partitions {words}"


def leaders_skewed(state: State, limits: Limits) -> Iterator[HealthFinding]:
    """Find brokers whose preferred partitions other brokers lead."""
    for broker in state.seen["nodes"]:
        share = broker.get("imbalance_percent") or 0
        if share > limits.max_imbalance_percent and not broker["fenced"]:
            name = state.name(broker["id"])
            yield HealthFinding(
                "leaders_skewed",
                SERIOUS,
                f"leaders are skewed: other brokers lead {share:.0f} % of the preferred partitions of {name}",
                found=f"{share:.0f} %",
                allowed=f"at most {limits.max_imbalance_percent:g} %",
                next_step=f"wait five minutes, in which Kafka moves leaders back by itself; then: {BALANCE}",
            )

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics, what is refused: every reason against a list of specs, a sentence each, with what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .._cluster.snapshot import STATE_TOPIC
from .._configs.values import items_of
from .._core.names import KAFKAS_OWN, allowed_instead
from .desired import CLEANUP_POLICY, DesiredTopic, TopicState, grows

#: Partitions that are placed by name come in one request, with room for the topic and its keys.
_MAX_PLACED = 9_000


def list_violations(state: Mapping[str, TopicState], specs: Sequence[DesiredTopic]) -> Iterator[str]:
    """Yield what speaks against the whole list: a name twice, or two that Kafka's metrics could not tell apart."""
    for name, count in Counter(spec.name for spec in specs).items():
        if count > 1:
            yield f"topic {name}: named {count} times in the list; one entry each is allowed. Merge them."
    # Kafka's metrics write . as _, so it refuses to create a topic whose name then equals another one's.
    metric_names: dict[str, str] = {}
    for name in [*state, *(spec.name for spec in specs if not spec.absent)]:
        first = metric_names.setdefault(name.replace(".", "_"), name)
        if first != name and name not in state:
            yield f"topic {name}: collides with {first}, because Kafka's metrics write . as _. Choose another name."


def name_violations(name: str) -> Iterator[str]:
    """Yield what speaks against a name: it is not the user's, or Kafka refuses it."""
    if name in KAFKAS_OWN:
        yield f"topic {name}: belongs to Kafka itself and is never touched. Take it out."
    elif name == STATE_TOPIC:
        yield (
            f"topic {name}: holds this collection's record of moves under way and of the throttles before them; "
            "without it a run that was cut cannot be resumed or cancelled. It is never touched. Take it out."
        )
    elif allowed := allowed_instead(name):
        yield f"topic {name!r}: illegal name (allowed: {allowed})."


def spec_violations(
    spec: DesiredTopic, now: TopicState | None, live: Sequence[int], away: str, allow_delete: bool
) -> Iterator[str]:
    """Yield what speaks against state and numbers of one spec, on these brokers; C(away) names others, and why."""
    if spec.absent:
        if now is not None and not allow_delete:
            yield (
                f"topic {spec.name}: state is absent and it exists with {now.partitions} partitions; deleting it "
                "destroys its records for good. Set allow_delete: true to consent."
            )
        return
    for what, value in (("partitions", spec.partitions), ("replication_factor", spec.replication_factor)):
        if value is not None and value < 1:
            yield f"topic {spec.name}: {what} is {value}; at least 1 is needed."
    if spec.every_broker_leads and now is None and spec.replication_factor is None:
        yield (
            f"topic {spec.name}: replication_factor is not given; every_broker_leads places each replica, so it needs "
            "to know how many. Set replication_factor."
        )
    if spec.every_broker_leads and (spec.partitions or 0) > _MAX_PLACED:
        yield (
            f"topic {spec.name}: partitions is {spec.partitions}; with every_broker_leads at most {_MAX_PLACED} can "
            "be placed. Ask for fewer, or leave every_broker_leads out."
        )
    if now is not None and spec.partitions is not None and 1 <= spec.partitions < now.partitions:
        yield (
            f"topic {spec.name}: has {now.partitions} partitions, {spec.partitions} wanted; Kafka cannot take "
            f"partitions away. Ask for {now.partitions} or more, or copy the records to a new topic."
        )
    if now is None and spec.replication_factor is not None and spec.replication_factor > len(live):
        yield (
            f"topic {spec.name}: replication_factor is {spec.replication_factor}, but only {len(live)} "
            f"brokers may get replicas ({_ids(live)}){away}. At most {len(live)} can be had now."
        )


def too_many(
    state: Mapping[str, TopicState], specs: Sequence[DesiredTopic], live: Sequence[int], most: int | None
) -> Iterator[str]:
    """Yield what speaks against a number with some zeros too many, which no request takes back."""
    added = {spec.name: _added_replicas(spec, state.get(spec.name)) for spec in specs}
    each = -(-sum(added.values()) // max(1, len(live)))
    if most is not None and each > most:
        name = max(added, key=lambda one: added[one])
        yield (
            f"topic {name}: the list adds {sum(added.values())} replicas, {each} to each of {len(live)} brokers "
            f"that may get some, most of them ({added[name]}) by this topic; at most {most} are allowed, and Kafka "
            f"cannot take partitions away. Correct the number of partitions, or set max_new_replicas_per_broker to "
            f"{each} to mean it."
        )


def _added_replicas(spec: DesiredTopic, now: TopicState | None) -> int:
    """Return how many replicas come by one spec; an unknown replication factor counts as one."""
    if spec.absent or spec.partitions is None:
        return 0
    if now is None:
        return spec.partitions * max(1, spec.replication_factor or 1)
    return max(0, spec.partitions - now.partitions) * now.replication_factor


def compaction_violations(spec: DesiredTopic, now: TopicState) -> Iterator[str]:
    """Yield what speaks against growing a compacted topic: its keys go to other partitions from then on."""
    held = now.config.get(CLEANUP_POLICY)
    policies = [*items_of(held.value if held else None), *items_of(spec.config.get(CLEANUP_POLICY))]
    if grows(spec, now.partitions) and "compact" in policies:
        yield (
            f"topic {spec.name}: is compacted, and would grow from {now.partitions} to {spec.partitions} partitions. "
            "New records of a key would go to another partition than its old ones, which compaction keeps for ever. "
            "Set allow_compacted_growth: true to consent, or copy the records to a new topic."
        )


def _ids(brokers: Iterable[int]) -> str:
    return ", ".join(str(broker) for broker in brokers) or "none"

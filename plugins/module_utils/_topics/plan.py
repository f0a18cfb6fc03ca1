# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics, the deciding half: what is there and what is wanted become a plan, or a list of all reasons against it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ansible_collections.streamops.kafka.plugins.module_utils._cluster.snapshot import STATE_TOPIC, is_internal
from ansible_collections.streamops.kafka.plugins.module_utils._configs.values import (
    ConfigValue,
    config_text,
    same_value,
)
from ansible_collections.streamops.kafka.plugins.module_utils._core.bulk import MAX_RECORDS
from ansible_collections.streamops.kafka.plugins.module_utils._core.diff import Change
from ansible_collections.streamops.kafka.plugins.module_utils._core.names import near
from ansible_collections.streamops.kafka.plugins.module_utils._core.topic_names import allowed_instead
from ansible_collections.streamops.kafka.plugins.module_utils._topics.placement import Replicas, placement

#: Partitions that are placed by name come in one request, with room for the topic and its keys.
_MAX_PLACED = 9_000
#: The key that says whether a topic keeps the last record of each key for ever.
CLEANUP_POLICY = "cleanup.policy"


@dataclass(frozen=True)
class DesiredTopic:
    """A topic as wanted. C(partitions) and C(replication_factor) None: the cluster's default at creation, then as is.

    C(config) holds the keys to set at the topic; None takes a key back to the cluster's default. Others are let be.
    C(every_broker_leads): new partitions are placed so that each live broker is the preferred leader of at least one,
    and C(partitions) is the least number of them.
    """

    name: str
    partitions: int | None = None
    replication_factor: int | None = None
    config: Mapping[str, str | None] = field(default_factory=dict)
    absent: bool = False
    every_broker_leads: bool = False


@dataclass(frozen=True)
class TopicState:
    """A topic as it is. C(replication_factor) is the largest of its partitions; C(config) has the keys asked for.

    C(replicas) are those of each partition, the preferred leader first; only a placement needs them.
    """

    partitions: int
    replication_factor: int
    config: Mapping[str, ConfigValue] = field(default_factory=dict)
    replicas: tuple[Replicas, ...] = ()


@dataclass(frozen=True)
class TopicPlan:
    """What has to be done for one topic, in this order: delete, create, grow, configure.

    C(create_with) is the number of partitions to create it with (-1 = the cluster's default), C(growth) the numbers
    (from, to) when more come after that. C(placed) are the replicas of the new partitions, empty where Kafka places
    them.
    """

    spec: DesiredTopic
    change: Change
    delete: bool = False
    create_with: int | None = None
    growth: tuple[int, int] | None = None
    config: Mapping[str, str | None] = field(default_factory=dict)
    placed: tuple[Replicas, ...] = ()

    @property
    def creates(self) -> bool:
        """Whether the topic does not exist yet; its C(config) then goes into the request that creates it."""
        return self.create_with is not None


@dataclass(frozen=True)
class Plan:
    """What has to be done, or C(violations), in which case nothing may be.

    C(replication_differs) lists (topic, found, wanted) of replication factors, which are only reported.
    """

    topics: tuple[TopicPlan, ...]
    violations: tuple[str, ...] = ()
    replication_differs: tuple[tuple[str, int, int], ...] = ()


def parse_specs(items: Sequence[Mapping[str, Any]]) -> tuple[list[DesiredTopic], list[str]]:
    """The specs of a list of {name, partitions, replication_factor, config, state}, and what cannot be understood."""
    specs, violations = [], []
    for item in items:
        config: dict[str, str | None] = {}
        for key, value in (item.get("config") or {}).items():
            try:
                config[str(key)] = config_text(value)
            except ValueError as error:
                violations.append(f"topic {item['name']}: config {key}: {error}.")
        specs.append(
            DesiredTopic(
                name=str(item["name"]),
                partitions=item.get("partitions"),
                replication_factor=item.get("replication_factor"),
                config=config,
                absent=item.get("state") == "absent",
                every_broker_leads=bool(item.get("every_broker_leads")),
            )
        )
    return specs, violations


def plan_topics(
    state: Mapping[str, TopicState],
    specs: Sequence[DesiredTopic],
    live_brokers: Sequence[int],
    allow_delete: bool,
    fenced_brokers: Sequence[int] = (),
    allow_compacted_growth: bool = False,
    racks: Mapping[int, str | None] | None = None,
    allow_create: bool = True,
    most_new_replicas: int | None = None,
) -> Plan:
    """Compare topics as they are with the specs. C(state) must name every topic of the cluster.

    A topic that grows must have C(cleanup.policy) in its state. C(racks) are those of the live brokers.
    C(most_new_replicas) is how many the specs together may add to a live broker on average, None for any number.
    """
    violations = list(_list_violations(state, specs))
    too_many = list(_too_many(state, specs, live_brokers, most_new_replicas))
    violations += too_many
    differs: list[tuple[str, int, int]] = []
    plans: dict[str, TopicPlan] = {}
    racks = {**dict.fromkeys(live_brokers), **(racks or {})}
    for asked in specs:
        now = state.get(asked.name)
        spec, placed = _placed(asked, now, racks)
        illegal = list(_name_violations(spec.name))
        found = illegal or list(_spec_violations(spec, now, live_brokers, fenced_brokers, allow_delete))
        if now is None and not spec.absent and not allow_create and not illegal:
            found.append(
                f"topic {spec.name}: does not exist{near(spec.name, state)}, and allow_create is false. Name a topic "
                "of the cluster."
            )
        if now is not None and not allow_compacted_growth:
            found += _compaction_violations(spec, now)
        violations.extend(found)
        numbers_break = bool(found or too_many)
        if illegal or spec.name in plans:
            continue
        factor = spec.replication_factor
        if now is not None and not spec.absent and factor is not None and factor != now.replication_factor:
            differs.append((spec.name, now.replication_factor, factor))
        # A spec that breaks a rule is planned without its numbers, so that Kafka can judge its keys all the same.
        plan = plan_topic(replace(spec, partitions=None, replication_factor=None) if numbers_break else spec, now)
        if plan is not None and placed and not numbers_break:
            plan = replace(plan, placed=placed)
        if plan is not None and not (found and spec.absent):
            plans[spec.name] = plan
    return Plan(tuple(plans.values()), tuple(violations), tuple(differs))


def _placed(
    spec: DesiredTopic, now: TopicState | None, racks: Mapping[int, str | None]
) -> tuple[DesiredTopic, tuple[Replicas, ...]]:
    """The spec with the number of partitions that it takes for every broker to lead one, and where new ones go."""
    if not spec.every_broker_leads or spec.absent or (spec.partitions is not None and spec.partitions < 1):
        return spec, ()
    held = now.replicas if now is not None else ()
    factor = now.replication_factor if now is not None else spec.replication_factor
    least = max(spec.partitions or 0, len(held))
    added = placement(held, racks, factor or 0, least)
    return replace(spec, partitions=max(least, len(held) + len(added)) or None), added


def plan_topic(spec: DesiredTopic, now: TopicState | None) -> TopicPlan | None:
    """The plan for one lawful spec, None when there is nothing to do."""
    if spec.absent:
        return None if now is None else TopicPlan(spec, _deletion(spec.name, now), delete=True)
    if now is None:
        return _creation(spec)
    growth = None
    if spec.partitions is not None and spec.partitions > now.partitions:
        growth = (now.partitions, spec.partitions)
    config = {key: value for key, value in spec.config.items() if not _is_set(now.config.get(key), value)}
    if growth is None and not config:
        return None
    return TopicPlan(spec, _difference(spec.name, now, growth, config), growth=growth, config=config)


def _creation(spec: DesiredTopic) -> TopicPlan:
    config = {key: value for key, value in spec.config.items() if value is not None}
    after: dict[str, Any] = {
        "partitions": spec.partitions or "(default)",
        "replication_factor": spec.replication_factor or "(default)",
    }
    if config:
        after["config"] = config
    change = Change(spec.name, None, after)
    if spec.partitions is None:
        return TopicPlan(spec, change, create_with=-1, config=config)
    first = min(spec.partitions, MAX_RECORDS - 1 - len(config))
    growth = (first, spec.partitions) if first < spec.partitions else None
    return TopicPlan(spec, change, create_with=first, growth=growth, config=config)


def _deletion(name: str, now: TopicState) -> Change:
    return Change(name, {"partitions": now.partitions, "replication_factor": now.replication_factor}, None)


def _is_set(now: ConfigValue | None, wanted: str | None) -> bool:
    """Whether a key has the wanted value at the topic itself: a default that happens to be equal could still move."""
    at_topic = now is not None and now.source == "DYNAMIC_TOPIC"
    if wanted is None:
        return now is not None and not at_topic
    return now is not None and at_topic and same_value(now.kind, now.value, wanted)


def _difference(name: str, now: TopicState, growth: tuple[int, int] | None, config: Mapping[str, str | None]) -> Change:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    if growth is not None:
        before["partitions"], after["partitions"] = growth
    if config:
        before["config"] = {key: _shown(now.config.get(key)) for key in config}
        after["config"] = {key: "(default)" if value is None else value for key, value in config.items()}
    return Change(name, before, after)


def _shown(now: ConfigValue | None) -> str:
    if now is None:
        return "(unknown)"
    return f"{now.value}" if now.source == "DYNAMIC_TOPIC" else f"{now.value} (default)"


# -- what was done of it -----------------------------------------------------------------------------------------

#: A step of a plan: what was done to which topic, and for growth the total that was reached.
Step = tuple[str, ...]
DELETED, CREATED, GROWN, CONFIGURED = "deleted", "created", "grown", "configured"


def changes_of(plans: Iterable[TopicPlan], done: Iterable[Step]) -> list[Change]:
    """From and to of what was done, of plans that were done in part: a topic shows only the steps that were."""
    steps: dict[str, dict[str, Step]] = {}
    for step in done:
        steps.setdefault(step[1], {})[step[0]] = step
    return [_partly(plan, steps[plan.spec.name]) for plan in plans if plan.spec.name in steps]


def _partly(plan: TopicPlan, steps: Mapping[str, Step]) -> Change:
    change = plan.change
    if plan.delete:
        return change
    before, after = dict(change.before or {}), dict(change.after or {})
    if plan.growth is not None:
        reached = int(steps[GROWN][2]) if GROWN in steps else plan.growth[0]
        after["partitions"] = reached
        if not plan.creates and GROWN not in steps:
            del before["partitions"], after["partitions"]
    if not plan.creates and CONFIGURED not in steps:
        before.pop("config", None)
        after.pop("config", None)
    return Change(change.name, None if plan.creates else before, after)


# -- what is refused ---------------------------------------------------------------------------------------------


def _list_violations(state: Mapping[str, TopicState], specs: Sequence[DesiredTopic]) -> Iterator[str]:
    for name, count in Counter(spec.name for spec in specs).items():
        if count > 1:
            yield f"topic {name}: named {count} times in the list; one entry each is allowed. Merge them."
    # Kafka's metrics write . as _, so it refuses to create a topic whose name then equals another one's.
    metric_names: dict[str, str] = {}
    for name in [*state, *(spec.name for spec in specs if not spec.absent)]:
        first = metric_names.setdefault(name.replace(".", "_"), name)
        if first != name and name not in state:
            yield f"topic {name}: collides with {first}, because Kafka's metrics write . as _. Choose another name."


def _name_violations(name: str) -> Iterator[str]:
    if is_internal(name):
        yield f"topic {name}: belongs to Kafka itself (two leading underscores) and is never touched. Take it out."
    elif name == STATE_TOPIC:
        yield (
            f"topic {name}: holds this collection's record of moves under way and of the throttles before them; "
            "without it a run that was cut cannot be resumed or cancelled. It is never touched. Take it out."
        )
    elif allowed := allowed_instead(name):
        yield f"topic {name!r}: illegal name (allowed: {allowed})."


def _spec_violations(
    spec: DesiredTopic, now: TopicState | None, live: Sequence[int], fenced: Sequence[int], allow_delete: bool
) -> Iterator[str]:
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
        down = f"; registered but down: {_ids(fenced)}, start them first" if fenced else ""
        yield (
            f"topic {spec.name}: replication_factor is {spec.replication_factor}, but only {len(live)} "
            f"brokers are live ({_ids(live)}){down}. At most {len(live)} can be had now."
        )


def _too_many(
    state: Mapping[str, TopicState], specs: Sequence[DesiredTopic], live: Sequence[int], most: int | None
) -> Iterator[str]:
    """What speaks against a number with some zeros too many, which no request takes back."""
    added = {spec.name: _added_replicas(spec, state.get(spec.name)) for spec in specs}
    each = -(-sum(added.values()) // max(1, len(live)))
    if most is not None and each > most:
        name = max(added, key=lambda one: added[one])
        yield (
            f"topic {name}: the list adds {sum(added.values())} replicas, {each} to each of {len(live)} live brokers, "
            f"most of them ({added[name]}) by this topic; at most {most} are allowed, and Kafka cannot take partitions "
            f"away. Correct the number of partitions, or set max_new_replicas_per_broker to {each} to mean it."
        )


def _added_replicas(spec: DesiredTopic, now: TopicState | None) -> int:
    """How many replicas come by one spec; an unknown replication factor counts as one."""
    if spec.absent or spec.partitions is None:
        return 0
    if now is None:
        return spec.partitions * max(1, spec.replication_factor or 1)
    return max(0, spec.partitions - now.partitions) * now.replication_factor


def _compaction_violations(spec: DesiredTopic, now: TopicState) -> Iterator[str]:
    """What speaks against the growth of a compacted topic: what has a key goes to another partition from then on."""
    held = now.config.get(CLEANUP_POLICY)
    policies = f"{held.value if held else ''},{spec.config.get(CLEANUP_POLICY)}"
    if grows(spec, now.partitions) and "compact" in policies.split(","):
        yield (
            f"topic {spec.name}: is compacted, and would grow from {now.partitions} to {spec.partitions} partitions. "
            "New records of a key would go to another partition than its old ones, which compaction keeps for ever. "
            "Set allow_compacted_growth: true to consent, or copy the records to a new topic."
        )


def grows(spec: DesiredTopic, partitions: int) -> bool:
    """Whether a spec asks for more partitions than there are."""
    return not spec.absent and spec.partitions is not None and spec.partitions > partitions


def _ids(brokers: Iterable[int]) -> str:
    return ", ".join(str(broker) for broker in brokers) or "none"


# -- how it is cut into requests ---------------------------------------------------------------------------------


def records(plan: TopicPlan) -> int:
    """Metadata records that creating a topic takes: itself, its partitions (a default counted as 100), its keys."""
    partitions = plan.create_with or 0
    return 1 + (partitions if partitions > 0 else 100) + len(plan.config)


def growth_requests(plans: Iterable[TopicPlan]) -> Iterator[dict[str, int]]:
    """The totals of partitions to ask for, request by request, each adding at most MAX_RECORDS partitions."""
    request: dict[str, int] = {}
    added = 0
    for plan in plans:
        now, goal = plan.growth or (0, 0)
        while now < goal:
            step = min(goal - now, MAX_RECORDS)
            if plan.spec.name in request or added + step > MAX_RECORDS:
                yield request
                request, added = {}, 0
            now += step
            added += step
            request[plan.spec.name] = now
    if request:
        yield request

# SPDX-License-Identifier: GPL-3.0-or-later
# Private to this collection.
"""Topics, the deciding half: what is there and what is wanted become a plan, or a list of all reasons against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from .._configs.values import ConfigValue, is_set
from .._core.bulk import MAX_RECORDS
from .._core.diff import Change
from .._core.names import near
from .desired import DesiredTopic, TopicState
from .placement import Replicas, placement
from .refusals import compaction_violations, list_violations, name_violations, spec_violations, too_many


@dataclass(frozen=True)
class Asked:
    """What a task asks of the topics of a cluster: the specs, and what it allows.

    C(most_new_replicas) is how many the specs together may add to a live broker on average, None for any number.
    """

    specs: Sequence[DesiredTopic]
    allow_delete: bool = False
    allow_create: bool = True
    allow_compacted_growth: bool = False
    most_new_replicas: int | None = None


@dataclass(frozen=True)
class Brokers:
    """The brokers: of each live one its rack, None where it has none; the fenced; and those of the live ones that are
    cordoned, to which Kafka gives no new replicas."""

    racks: Mapping[int, str | None]
    fenced: Sequence[int] = ()
    cordoned: Collection[int] = ()

    @property
    def takers(self) -> dict[int, str | None]:
        """The brokers that new partitions may go to, by id, with their racks."""
        return {broker: rack for broker, rack in sorted(self.racks.items()) if broker not in self.cordoned}

    @property
    def away(self) -> str:
        """Return which brokers get no new partitions and why, for the end of a sentence; empty where all do."""
        fenced = ", ".join(map(str, self.fenced))
        cordoned = ", ".join(map(str, sorted(self.cordoned)))
        return (f"; registered but down: {fenced}, start them first" if fenced else "") + (
            f"; cordoned: {cordoned}, uncordon them first (module broker_registration)" if cordoned else ""
        )


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
        """Return whether the topic does not exist yet; its C(config) then goes into the request that creates it."""
        return self.create_with is not None


class OtherFactor(NamedTuple):
    """A topic that has another replication factor than wanted, which is only reported.

    C(found) is the fewest replicas of a partition. C(partitions) are those that differ; empty where all partitions have
    the same number of replicas.
    """

    name: str
    found: int
    wanted: int
    partitions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What has to be done, or C(violations), in which case nothing may be.

    C(all_in_sync) lists (topic, min.insync.replicas, replication factor) where every replica must be in sync for writes
    with acks=all.
    """

    topics: tuple[TopicPlan, ...]
    violations: tuple[str, ...] = ()
    replication_differs: tuple[OtherFactor, ...] = ()
    all_in_sync: tuple[tuple[str, int, int], ...] = ()


def plan_topics(state: Mapping[str, TopicState], asked: Asked, brokers: Brokers) -> Plan:
    """Compare topics as they are with what is asked. C(state) must name every topic of the cluster.

    A topic that grows must have C(cleanup.policy) in its state.
    """
    violations = list(list_violations(state, asked.specs))
    crowded = list(too_many(state, asked.specs, list(brokers.takers), asked.most_new_replicas))
    violations += crowded
    differs: list[OtherFactor] = []
    plans: dict[str, TopicPlan] = {}
    for wanted in asked.specs:
        now = state.get(wanted.name)
        spec, placed = _placed(wanted, now, brokers.takers)
        illegal = list(name_violations(spec.name))
        found = illegal or list(spec_violations(spec, now, list(brokers.takers), brokers.away, asked.allow_delete))
        if now is None and not spec.absent and not asked.allow_create and not illegal:
            found.append(
                f"topic {spec.name}: does not exist{near(spec.name, state)}, and allow_create is false. Name a topic "
                "of the cluster."
            )
        if now is not None and not asked.allow_compacted_growth:
            found += compaction_violations(spec, now)
        violations.extend(found)
        numbers_break = bool(found or crowded)
        if illegal or spec.name in plans:
            continue
        factor = spec.replication_factor
        if now is not None and not spec.absent and factor is not None and {factor} != now.factors:
            differs.append(OtherFactor(spec.name, now.least_replicas, factor, now.not_with(factor)))
        # A spec that breaks a rule is planned without its numbers, so that Kafka can judge its keys all the same.
        plan = plan_topic(replace(spec, partitions=None, replication_factor=None) if numbers_break else spec, now)
        if plan is not None and placed and not numbers_break:
            plan = replace(plan, placed=placed)
        if plan is not None and not (found and spec.absent):
            plans[spec.name] = plan
    return Plan(tuple(plans.values()), tuple(violations), tuple(differs), tuple(_all_in_sync(state, asked.specs)))


def _all_in_sync(state: Mapping[str, TopicState], specs: Iterable[DesiredTopic]) -> Iterator[tuple[str, int, int]]:
    """The topics whose min.insync.replicas, as wanted, leaves no replica to lose; one of a single replica may be so."""
    for spec in specs:
        now, least = state.get(spec.name), spec.config.get(_MIN_INSYNC)
        factor = now.least_replicas if now is not None else spec.replication_factor
        if least is None or factor is None or spec.absent or not least.strip().isdecimal():
            continue
        if int(least) >= max(factor, 2):
            yield spec.name, int(least), factor


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
    config = {key: value for key, value in spec.config.items() if not is_set(now.config.get(key), value)}
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

_MIN_INSYNC = "min.insync.replicas"
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
